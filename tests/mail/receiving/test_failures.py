"""A mistake of ours loses no message: it waits for a person, or is asked for again."""

import smtplib
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.parsing import sandboxed
from sealdesk.mail.receiving import arrivals, contents, effects, raw_messages, reparsing
from sealdesk.mail.receiving.types import Incoming
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.state import AppState
from sealdesk.tickets.attachments.files import folder_of
from tests.mail.support import Desk, message, receiving
from tests.support.client import Person
from tests.support.pages import logged_in
from tests.support.service import Service

LOST = "could not be processed"


def fail(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Opening a ticket of a message has a mistake."""
    monkeypatch.setattr(effects, "open_ticket", fail)
    return monkeypatch


def reasons(desk: Desk) -> list[tuple[str, str | None]]:
    return [(row["outcome"], row["reason"]) for row in desk.messages()]


def test_a_message_that_cannot_be_processed_waits_for_a_person(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    raw = message()
    for _ in range(2):  # its server sends it again if it does not hear the answer
        desk.get_mail(raw)
    assert reasons(desk) == [("held", LOST)]
    assert desk.tickets() == []
    broken.undo()
    desk.release()
    assert desk.ticket()["description"] == "The bowl is broken."


def test_a_message_that_takes_too_long_to_read_waits_with_its_raw_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = message("long " * 2_000, subject="Slow")
    monkeypatch.setattr(sandboxed, "FUNCTION", "builtins:exit")  # the process ends as at a limit
    desk.get_mail(raw)
    (row,) = desk.messages()
    assert (row["outcome"], row["reason"]) == ("held", "could not be read in time")
    assert row["subject"] == "Slow"
    monkeypatch.undo()
    desk.release()
    assert desk.ticket()["description"].startswith("long long")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM no_such_table LIMIT 1",
        "SELECT no_such_column FROM tickets LIMIT 1",
        "SELEC 1",
        "SELECT no_such_function(1)",
    ],
)
def test_a_mistake_in_sql_makes_a_message_wait_for_a_person(
    desk: Desk, broken: pytest.MonkeyPatch, sql: str
) -> None:
    async def fail_in_sql(tx: Tx, *_: Any, **__: Any) -> None:
        await tx.fetch_one(sql, {})

    broken.setattr(effects, "open_ticket", fail_in_sql)
    raw = message()
    for _ in range(2):
        desk.get_mail(raw)
    assert reasons(desk) == [("held", LOST)]
    broken.undo()
    desk.release()
    assert desk.ticket()["description"] == "The bowl is broken."


def test_a_row_that_refers_to_none_makes_a_message_wait_for_a_person(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    async def add_reply_of_no_ticket(tx: Tx, incoming: Incoming, *_: Any, **__: Any) -> None:
        nobody = Participant(
            incoming.mailbox.tenant_id, ids.NONE, "a@b.test", "a@b.test", "", "", None, 0
        )
        await threads.add_participant(tx, nobody)

    broken.setattr(effects, "open_ticket", add_reply_of_no_ticket)
    desk.get_mail(message())
    assert reasons(desk) == [("held", LOST)]


@pytest.mark.parametrize("fails", ["database", "storage"])
def test_a_message_is_asked_for_again_while_nothing_can_be_stored(
    desk: Desk, broken: pytest.MonkeyPatch, fails: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ServiceUnavailable

    raw = message()
    broken.setattr(
        *((effects, "open_ticket") if fails == "database" else (raw_messages, "keep")), refuse
    )
    with pytest.raises(smtplib.SMTPResponseException) as refused:
        desk.get_mail(raw)
    assert refused.value.smtp_code == 451
    assert desk.messages() == []
    broken.undo()
    desk.get_mail(raw)
    assert reasons(desk) == [("ticket", None)]


def test_a_message_that_cannot_be_parsed_waits_too(desk: Desk, broken: pytest.MonkeyPatch) -> None:
    broken.setattr(arrivals, "parse", fail)
    desk.get_mail(message())
    assert [(row["outcome"], row["subject"]) for row in desk.messages()] == [
        ("held", "(no subject)")
    ]
    broken.undo()
    desk.release()
    assert desk.ticket()["description"] == "The bowl is broken."


def test_a_message_that_still_cannot_be_processed_is_downloaded_and_waits(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    raw = message()
    broken.setattr(arrivals, "parse", fail)
    desk.get_mail(raw)
    admin = desk.tenant.admin()
    at = f"/api/v1/received-messages/{desk.messages()[0]['id']}"
    answer = admin.post(f"{at}/release")
    assert (answer.status_code, answer.json()["code"]) == (409, "message_not_processed")
    assert admin.get(f"{at}/raw").content == raw
    assert reasons(desk) == [("held", LOST)]
    broken.undo()
    assert admin.post(f"{at}/release").json()["data"]["outcome"] == "ticket"


def test_the_page_of_a_message_that_cannot_be_parsed_offers_it_as_a_file(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    broken.setattr(arrivals, "parse", fail)
    desk.get_mail(message())
    visitor = logged_in(desk.tenant)
    path = f"/held-messages/{desk.messages()[0]['id']}"
    page = visitor.get(path)
    assert f"{path}/raw" in page.links and "cannot be shown now" in page.text
    page = visitor.submit(page.form(f"{path}/release"))
    assert page.status == 409 and "made a mistake with this message" in page.text


def test_a_message_whose_fields_cannot_be_read_waits_too(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    def fails_for_text(parsed: Any) -> str:
        assert not parsed.subject
        return "(no subject)"

    broken.setattr(contents, "subject_of", fails_for_text)
    desk.get_mail(message())
    assert reasons(desk) == [("held", LOST)]


def test_a_message_that_cannot_even_be_held_is_asked_for_again(
    desk: Desk, broken: pytest.MonkeyPatch
) -> None:
    raw = message()
    broken.setattr(contents, "new_row", fail)
    with pytest.raises(smtplib.SMTPResponseException) as refused:
        desk.get_mail(raw)
    assert refused.value.smtp_code == 451
    broken.undo()
    desk.get_mail(raw)
    assert len(desk.tickets()) == 1


@pytest.mark.parametrize("mistake", [(effects, "open_ticket"), (arrivals, "parse")])
def test_a_corrected_mistake_is_repaired_by_reparse(
    desk: Desk, broken: pytest.MonkeyPatch, mistake: tuple[Any, str]
) -> None:
    broken.undo()
    broken.setattr(*mistake, fail)
    desk.get_mail(message())

    async def repair(state: AppState) -> list[bool]:
        found = await reparsing.list_kept(state, desk.tenant.id, "")
        return [await reparsing.repair(state, each) for each in found]

    assert desk.receiver.service.in_serving(repair) == [False]
    assert reasons(desk) == [("held", LOST)]
    broken.undo()
    assert desk.receiver.service.in_serving(repair) == [True]
    assert reasons(desk) == [("ticket", "processed later")]
    assert len(desk.tickets()) == 1


def test_a_server_that_cannot_store_messages_is_not_ready(
    start: Callable[..., Service],
) -> None:
    service = start()
    with receiving(service) as receiver:
        desk, anybody = Desk(receiver), Person(service, "")
        assert anybody.get("/readyz").status_code == 200
        files = folder_of(service.settings)
        files.mkdir(parents=True, exist_ok=True)
        away = files.rename(files.with_name("away"))
        files.touch()  # no directory: nothing can be stored in it
        with pytest.raises(smtplib.SMTPResponseException) as refused:
            desk.get_mail(message())
        assert refused.value.smtp_code == 451
        problem = anybody.get("/readyz").json()
        assert (problem["code"], problem["writes"]) == ("not_ready", "failed")
        files.unlink()
        away.rename(files)
        desk.get_mail(message())
        assert desk.ticket()["description"] == "The bowl is broken."
