"""Mailboxes, threads and raw messages are in backups, and move to the other database."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sealdesk.mail.mailboxes import passwords
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.receiving import reparsing
from sealdesk.state import AppState
from tests.cli.backups import empty_target, serving_restored, terminal_of
from tests.mail.support import Desk, message, receiving, with_files
from tests.support.databases import SQLITE_FIRST, SQLITE_ONLY, Begin, Template
from tests.support.service import Service

pytestmark = pytest.mark.timeout(240)
NOTES = (("notes.txt", b"The notes"),)
PASSWORDS = {"imap": "imap secret", "smtp": "smtp secret"}


@pytest.fixture
def source(begin: Begin, tmp_path: Path) -> Iterator[Service]:
    with begin(tmp_path / "data") as service:
        yield service


def fill(service: Service) -> Desk:
    """A desk with a ticket of an e-mail with a file, and a mailbox with passwords."""
    with receiving(service) as receiver:
        desk = Desk(
            receiver,
            imap_host="imap.acme.test",
            imap_username="desk",
            imap_password=PASSWORDS["imap"],
            smtp_host="smtp.acme.test",
            smtp_username="desk",
            smtp_password=PASSWORDS["smtp"],
        )
        desk.get_mail(with_files(NOTES, Message_ID="<one@example.test>"))
        assert desk.outcomes() == ["ticket"]
        return desk


def check(service: Service, desk: Desk, answered: str) -> None:
    """Whether passwords open, raw messages are there, and answers find their ticket."""

    async def open_all(state: AppState) -> dict[str, str | None]:
        found = await state.database.read(
            partial(mailboxes.find, tenant_id=desk.tenant.id, mailbox_id=desk.mailbox.id),
            desk.tenant.id,
        )
        assert isinstance(found, Mailbox)
        return {
            "imap": passwords.open_password(state.key_ring, found, "imap"),
            "smtp": passwords.open_password(state.key_ring, found, "smtp"),
        }

    async def repair(state: AppState) -> list[bool]:
        kept = await reparsing.list_kept(state, desk.tenant.id, "")
        return [await reparsing.repair(state, each) for each in kept]

    assert service.in_serving(open_all) == PASSWORDS
    sql = "UPDATE tickets SET description = 'Mojibake' WHERE tenant_id = :t"
    service.write(lambda tx: tx.execute(sql, {"t": desk.tenant.id}))
    assert service.in_serving(repair) == [True]
    with receiving(service) as receiver:
        receiver.send(message("To the address of the thread"), answered)
        receiver.send(message("Known", In_Reply_To="<one@example.test>"), desk.address)
        receiver.send(with_files(NOTES, Message_ID="<one@example.test>"), desk.address)
    rows = "SELECT outcome FROM received_messages WHERE tenant_id = :t ORDER BY id LIMIT 9"
    outcomes = [row["outcome"] for row in service.rows(rows, t=desk.tenant.id)]
    assert outcomes == ["ticket", "reply", "reply"]  # the last one is known


@SQLITE_FIRST
def test_a_backup_has_mailboxes_threads_and_raw_messages(source: Service, tmp_path: Path) -> None:
    desk, file = fill(source), tmp_path / "backup"
    answered = desk.reply_address(desk.ticket())
    written = terminal_of(source).json("backup", str(file))
    assert written["attachments"] == 2  # the file, and the raw message
    with empty_target(source, tmp_path / "restored") as terminal:
        terminal.out("restore", str(file))
        with serving_restored(terminal) as restored:
            check(restored, desk, answered)


@SQLITE_ONLY
@pytest.mark.prove
def test_a_move_to_postgresql_has_them_too(
    source: Service, postgres_template: Template, tmp_path: Path
) -> None:
    desk = fill(source)
    answered, terminal = desk.reply_address(desk.ticket()), terminal_of(source)
    source.stop()
    with postgres_template.copied() as env:
        urls = {name: url for name, url in env.items() if name.endswith("_URL")}
        path, target = source.settings.database_path, urls["SEALDESK_OWNER_DATABASE_URL"]
        terminal.out("move", "--to", target, "--from", f"sqlite:///{path}")
        with serving_restored(terminal.with_env(**urls)) as moved:
            check(moved, desk, answered)
