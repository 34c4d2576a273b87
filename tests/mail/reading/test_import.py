"""Folders of an IMAP server are imported, and nothing in them is changed."""

import time
from collections import Counter

import pytest

from sealdesk.mail.servers import MailFailed
from sealdesk.state import AppState
from sealdesk_mail_import import running
from sealdesk_mail_import.imap_folder import ImapFolder
from sealdesk_mail_import.types import Failure, NotAMailbox, Totals
from tests.mail.reading.support import Desk, Folders
from tests.mail.support import message

_DAY_S = 24 * 3600


def import_folders(desk: Desk, *folders: str) -> tuple[Totals, list[Failure]]:
    failures: list[Failure] = []
    mailbox = desk.stored()

    async def work(state: AppState) -> Totals:
        sources = [ImapFolder(state, mailbox, each) for each in folders]
        try:
            now_s = state.clock.now_us() // 1_000_000
            order = await running.read_sources(sources, now_s, lambda size_bytes: None)
            wanted = running.Wanted(mailbox, "resolved")
            progress = running.Progress(lambda count: None, failures.append)
            return await running.Import(state, wanted, progress).run(order)
        finally:
            for source in sources:
                source.close()

    return desk.service.in_serving(work), failures


def test_folders_of_the_server_are_imported_in_order(folders: Folders) -> None:
    desk = folders.desk(is_paused=True)
    ids = {"Message_ID": "<question@example.test>", "In_Reply_To": "<question@example.test>"}
    question = message("Broken", Message_ID=ids["Message_ID"], Date="1 Jan 2024 10:00:00 +0000")
    answer = message(
        "Here is another",
        sender=desk.address,
        to="ann@example.test",
        In_Reply_To=ids["In_Reply_To"],
        Date="2 Jan 2024 10:00:00 +0000",
    )
    file = desk.put(answer, "Sent")
    desk.put(question)
    desk.put(message(subject="No date"), arrived_at=int(time.time()) - 400 * _DAY_S)
    totals, failures = import_folders(desk, "Sent", "INBOX")
    assert (totals.outcomes, failures) == (Counter(ticket=2, reply=1), [])
    assert [each["outcome"] for each in desk.messages()] == ["ticket", "reply", "ticket"]
    sql = "SELECT subject, created_at FROM tickets WHERE tenant_id = :t ORDER BY id LIMIT 9"
    first, second = desk.service.rows(sql, t=desk.tenant.id)
    assert first["created_at"] == 1_704_103_200_000_000
    assert (second["subject"], second["created_at"] < (time.time() - 399 * _DAY_S) * 1e6) == (
        "No date", True,
    )  # fmt: skip
    assert file.read_bytes().endswith(answer[-20:]) and ":2," not in file.name
    again, _ = import_folders(desk, "INBOX")
    assert (again.known, again.outcomes) == (2, Counter())


def test_what_is_wrong_with_a_folder_is_said(folders: Folders) -> None:
    desk = folders.desk(is_paused=True)
    with pytest.raises(MailFailed) as missing:
        import_folders(desk, "Elsewhere")
    assert missing.value.code == "folder_missing"
    desk.change(imap_password="wrong")
    with pytest.raises(MailFailed) as refused:
        import_folders(desk, "INBOX")
    assert refused.value.code == "login_refused"
    desk.change(receives="no", imap_host=None)
    with pytest.raises(NotAMailbox, match="has no IMAP server"):
        import_folders(desk, "INBOX")
