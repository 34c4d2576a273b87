"""Old messages become the tickets and replies that they would have been, and tell nobody."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk import clock
from sealdesk_mail_import import actions
from tests.mail.support import Desk, message
from tests.sealdesk_mail_import.imports import import_into, write_mbox
from tests.support.receiver import Receiver as WebhookReceiver
from tests.support.receiver import receiving as receiving_webhooks
from tests.support.service import wait_until
from tests.webhooks.factories import made

_NOT_QUEUED = """
SELECT 1 FROM events WHERE log_position >
    coalesce((SELECT position FROM log_positions WHERE name = 'mail'), 0) LIMIT 1
"""
TOLD = ("ticket.created", "reply.created")
DAY = {number: f"{number:02d} Jan 2024 10:00:00 +0000" for number in range(1, 29)}


def old(number: int, day: int, text: str = "Hello", *, answers: int = 0, **headers: str) -> bytes:
    """A message of Ann. answers: the number of the message that it answers."""
    headers.setdefault("to", "Ann <ann@example.test>")
    if answers:
        headers["In_Reply_To"] = f"<old{answers}@example.test>"
    return message(text, Message_ID=f"<old{number}@example.test>", Date=DAY[day], **headers)


def test_a_thread_has_the_times_and_the_order_of_its_messages(desk: Desk, tmp_path: Path) -> None:
    inbox = write_mbox(tmp_path / "in", old(3, 5, "Thanks", answers=2), old(1, 1, "It broke"))
    answer = old(2, 3, "Another", answers=1, sender=desk.address, to="ann@example.test")
    sent = write_mbox(tmp_path / "sent", answer)
    totals, _ = import_into(desk, inbox, sent)
    assert totals.outcomes == Counter(ticket=1, reply=2)
    ticket = desk.ticket()
    assert (ticket["description"], ticket["status"], ticket["source"]) == (
        "It broke", "resolved", "email",
    )  # fmt: skip
    assert ticket["created_at"].startswith("2024-01-01T10:00:00")
    replies = [(each["body"], each["author"]["type"]) for each in desk.replies(ticket)]
    assert replies == [("Another", "agent"), ("Thanks", "customer")]
    times = [each["created_at"][:10] for each in desk.replies(ticket)]
    assert times == ["2024-01-03", "2024-01-05"]
    assert ticket["waiting_since"] is None
    assert sorted(desk.tokens(ticket)) == ["ann@example.test"]


def test_open_tickets_wait_for_an_answer_as_long_as_they_did(desk: Desk, tmp_path: Path) -> None:
    path = write_mbox(tmp_path / "in", old(1, 1), old(2, 2, "Hello?", answers=1))
    import_into(desk, path, status="open")
    ticket = desk.ticket()
    assert (ticket["status"], ticket["waiting_since"][:10]) == ("open", "2024-01-01")


def test_messages_are_imported_once(desk: Desk, tmp_path: Path) -> None:
    nameless = old(4, 4).replace(b"Message-ID: <old4@example.test>\r\n", b"")
    desk.get_mail(old(1, 1))
    path = write_mbox(tmp_path / "in", old(1, 1), old(2, 2), old(2, 2), nameless)
    totals, failures = import_into(desk, path)
    assert (totals.outcomes, totals.known, failures) == (Counter(ticket=2), 2, [])
    for each in (path, write_mbox(tmp_path / "again", nameless, old(2, 2))):
        totals, _ = import_into(desk, each)
        assert not totals.outcomes and totals.known
    assert len(desk.tickets()) == 3


def test_many_old_messages_of_one_sender_are_not_held_nor_count_later(
    desk: Desk, tmp_path: Path
) -> None:
    path = write_mbox(tmp_path / "in", *(old(number, number) for number in range(1, 16)))
    totals, _ = import_into(desk, path)
    assert totals.outcomes == Counter(ticket=15)
    desk.get_mail(message())
    assert desk.outcomes()[-1] == "ticket"


def test_who_writes_to_an_imported_ticket_reopens_it(desk: Desk, tmp_path: Path) -> None:
    import_into(desk, write_mbox(tmp_path / "in", old(1, 1)))
    desk.get_mail(message("Again", In_Reply_To="<old1@example.test>"))
    ticket = desk.ticket()
    assert (ticket["status"], ticket["reply_count"]) == ("open", 1)


def test_an_old_message_to_a_closed_ticket_joins_it_without_opening_it(
    desk: Desk, tmp_path: Path
) -> None:
    desk.get_mail(message(Message_ID="<old1@example.test>"))
    desk.change(desk.ticket(), status="closed")
    totals, _ = import_into(desk, write_mbox(tmp_path / "in", old(2, 2, "Late", answers=1)))
    ticket = desk.ticket()
    assert totals.outcomes == Counter(reply=1)
    assert (ticket["status"], ticket["reply_count"], ticket["waiting_since"]) == ("closed", 1, None)
    # It cannot stand before what came earlier: replies of a ticket are in order.
    assert desk.replies(ticket)[0]["created_at"] >= ticket["created_at"]


def test_what_the_desk_wrote_is_known_by_its_sender(desk: Desk, tmp_path: Path) -> None:
    dana, bo = "dana@acme.test", "bo@example.test"
    desk.tenant.user("agent", dana, "Dana")
    path = write_mbox(
        tmp_path / "in",
        old(1, 1, "News", sender=desk.address, to=f"Bo <{bo}>, Cy <cy@example.test>"),
        old(2, 2, "Great", answers=1, sender=bo, to=desk.address),
        old(3, 3, "Fine", answers=1, sender=dana, to=bo),
        old(4, 4, "Watch him", answers=1, sender=dana, to=desk.address),
        old(5, 5, sender=desk.address, to=desk.address),
        old(6, 6, sender=desk.address, to=bo, Auto_Submitted="auto-replied"),
        old(7, 7, "My chair", sender=dana, to=desk.address),
    )
    totals, _ = import_into(desk, path)
    assert totals.outcomes == Counter(ticket=2, reply=2, note=1, ignored=2)
    chair, ticket = desk.tickets()
    assert (chair["description"], chair["customer"]["email"]) == ("My chair", dana)
    assert ticket["description"] == f"[{desk.address} wrote this to the customer.]\n\nNews"
    assert ticket["customer"]["email"] == bo
    assert sorted(desk.tokens(ticket)) == [bo, "cy@example.test"]
    replies = [
        (each["body"], each["author"]["name"], each["is_internal"]) for each in desk.replies(ticket)
    ]
    assert replies == [
        ("Great", "Bo", False),
        ("Fine", "Dana", False),
        ("Watch him", "Dana", True),
    ]


def test_strangers_spam_blocks_and_reports_are_no_replies(desk: Desk, tmp_path: Path) -> None:
    desk.block("@spam.test")
    path = write_mbox(
        tmp_path / "in",
        old(1, 1),
        old(2, 2, answers=1, sender="eve@example.test"),
        old(3, 3, X_Spam_Flag="YES"),
        old(4, 4, sender="x@spam.test"),
        old(5, 5, answers=1, Auto_Submitted="auto-replied"),
    )
    totals, _ = import_into(desk, path)
    assert totals.outcomes == Counter(ticket=1, note=2, spam=1, blocked=1)
    notes = desk.replies(desk.ticket())
    assert all(each["is_internal"] for each in notes)
    assert "who is no participant" in notes[0]["body"]


@pytest.fixture
def webhooks() -> Iterator[WebhookReceiver]:
    with receiving_webhooks() as receiver:
        yield receiver


def test_an_import_is_in_the_feed_and_tells_nobody(
    desk: Desk, tmp_path: Path, webhooks: WebhookReceiver
) -> None:
    desk.tenant.user("agent", "eli@acme.test")
    desk.mailbox = desk.add_mailbox(smtp_host="mail.example.test", acknowledgement="Thank you")
    # A mailbox that is newer than a reply does not send it anyway.
    desk.execute("UPDATE mailboxes SET created_at = 0 WHERE tenant_id = :tenant")
    admin = desk.tenant.admin()
    hook = made(admin, webhooks, events=["ticket.created", "reply.created"])
    ann = "ann@example.test"
    file = write_mbox(
        tmp_path / "in",
        old(1, 1),
        old(2, 2, answers=1, sender=desk.mailbox.address, to=ann),
        old(3, 3, answers=1, sender="eli@acme.test", to=ann),
    )
    totals, _ = import_into(desk, file)
    assert totals.outcomes == Counter(ticket=1, reply=2)
    service, tenant_id = desk.receiver.service, desk.tenant.id
    desk.key.ticket()
    service.settle()
    # The delivery of the new ticket comes last.
    deliveries = "SELECT event_type FROM deliveries WHERE tenant_id = :t ORDER BY id LIMIT 99"
    wait_until(lambda: bool(service.rows(deliveries, t=tenant_id)))
    assert [row["event_type"] for row in service.rows(deliveries, t=tenant_id)] == [
        "ticket.created"
    ]
    wait_until(lambda: not service.rows(_NOT_QUEUED))
    for table in ("outgoing_messages", "notifications"):
        sql = f"SELECT 1 FROM {table} WHERE tenant_id = :t LIMIT 1"
        assert service.rows(sql, t=tenant_id) == [], table
    path = f"/api/v1/webhooks/{hook['id']}"
    now_us = service.clock.now_us()
    asked = {"since": clock.iso(now_us - 600_000_000), "until": clock.iso(now_us)}
    answer = admin.post(f"{path}/replay", asked)
    assert answer.status_code == 202, answer.text
    wait_until(lambda: bool(admin.get(f"{path}/replays").json()["data"][0]["finished_at"]))
    assert len(service.rows(deliveries, t=tenant_id)) == 2  # of the new ticket, twice
    events = desk.key.get("/api/v1/external/events?per_page=100").json()["data"]
    told = [each["timestamp"][:10] for each in events if each["type"] in TOLD]
    assert told[:3] == ["2024-01-01", "2024-01-02", "2024-01-03"]


def test_a_message_that_fails_is_named_and_stops_nothing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = actions._apply

    async def fail_for_the_second(tx, case, now_us):  # type: ignore[no-untyped-def]
        if case.incoming.message.message_id == "old2@example.test":
            raise ZeroDivisionError("broken")
        return await whole(tx, case, now_us)

    monkeypatch.setattr(actions, "_apply", fail_for_the_second)
    path = write_mbox(tmp_path / "in", old(1, 1), b"\n", old(2, 2), old(3, 3))
    totals, failures = import_into(desk, path)
    assert (totals.outcomes, totals.failed) == (Counter(ticket=2), 2)
    empty, broken = failures
    assert "it is empty" in empty.reason and str(path) in empty.place
    assert broken.reason == "ZeroDivisionError: broken"
    monkeypatch.undo()
    totals, failures = import_into(desk, path)
    assert (totals.outcomes, totals.known, totals.failed) == (Counter(ticket=1), 2, 1)


def test_a_mistake_in_sql_names_its_message_and_stops_nothing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = actions._apply

    async def fail_for_the_second(tx, case, now_us):  # type: ignore[no-untyped-def]
        if case.incoming.message.message_id == "old2@example.test":
            await tx.fetch_one("SELECT 1 FROM no_such_table LIMIT 1", {})
        return await whole(tx, case, now_us)

    monkeypatch.setattr(actions, "_apply", fail_for_the_second)
    path = write_mbox(tmp_path / "in", old(1, 1), old(2, 2), old(3, 3))
    totals, (failure,) = import_into(desk, path)
    assert (totals.outcomes, totals.failed) == (Counter(ticket=2), 1)
    assert "no_such_table" in failure.reason
