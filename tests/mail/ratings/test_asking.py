"""The e-mail that asks for a rating: once for each ticket, if somebody can get it."""

from typing import Any
from urllib.parse import urlsplit

from sealdesk.event_log.consumers import LogEvent
from sealdesk.mail.ratings import asking, rules
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.state import AppState
from tests.mail.contact_form.support import ANN, FormDesk, Stranger
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import logged_in
from tests.support.service import wait_until

HOME = "/settings/email/ratings"
HOUR_S = 3600
_BEHIND = """
SELECT 1 FROM events
WHERE log_position > coalesce((SELECT position FROM log_positions WHERE name = 'mail'), 0) LIMIT 1
"""


def switch_on(desk: FormDesk, hours: str = "0") -> None:
    visitor = logged_in(desk.tenant)
    form = visitor.get(HOME).form(HOME)
    page = visitor.submit(
        form, is_on="yes", delay_hours=hours, base_url="https://help.example/"
    )  # fmt: skip
    assert page.status == 200 and "Saved." in page.text


def answered(desk: FormDesk, *people: str, **new: Any) -> dict[str, Any]:
    ticket = desk.ticket(*people, customer={"email": ANN, "name": "Ann"}, **new)
    desk.reply(ticket)
    return ticket


def settle(desk: FormDesk) -> None:
    """Wait until the e-mail has all events too."""
    wait_until(lambda: desk.service.has_settled() and not desk.service.rows(_BEHIND))


def questions(desk: FormDesk) -> list[tuple[str, str]]:
    """(ticket, state) of the messages that ask, once all events are handled."""
    settle(desk)
    sql = """
    SELECT ticket_id, state FROM outgoing_messages
    WHERE tenant_id = :id AND kind = 'rating' ORDER BY id LIMIT 99"""
    return [tuple(row) for row in desk.service.rows(sql, id=desk.tenant.id)]


def test_a_solved_ticket_is_asked_about_once_after_the_delay(desk: FormDesk) -> None:
    switch_on(desk, "24")
    ticket = answered(desk, ANN, subject="Bowl")
    assert len(desk.mails(1)) == 1
    desk.change(ticket, status="resolved")
    wait_until(lambda: questions(desk) == [(ticket["id"], "queued")])
    desk.service.clock.advance(25 * HOUR_S)
    desk.key = desk.tenant.key()
    text = desk.mails(2)[1]
    (message,) = [each.message for each in desk.server.received if "/r/" in str(each.message)]
    assert message["Subject"] == "Re: Bowl" and message["Auto-Submitted"] == "auto-replied"
    html = message.get_body(("html",)).get_content()  # type: ignore[union-attr]
    link = desk.link(1)
    assert text.count(link) == 1 and "How satisfied are you" in text
    assert [f"{link}?rating={mark}" in html for mark in range(1, 6)] == [True] * 5
    ann = Stranger(desk)
    done = ann.submit(ann.get(f"{urlsplit(link).path}?rating=5").form(link))
    assert done.status == 200
    assert desk.reread(ticket)["satisfaction"]["rating"] == 5
    for status in ("open", "resolved", "closed"):
        desk.change(ticket, status=status)
    assert questions(desk) == [(ticket["id"], "sent")]


def test_nobody_is_asked_who_cannot_answer(desk: FormDesk) -> None:
    before = answered(desk, ANN)
    desk.change(before, status="resolved")
    settle(desk)
    switch_on(desk)
    without_mail, no_reply = answered(desk), desk.ticket(ANN, customer={"email": ANN})
    elsewhere = answered(desk, "bo@customer.example")
    old = answered(desk, ANN, status="resolved")
    for each in (without_mail, no_reply, elsewhere, before, old):
        desk.change(each, status="closed")
    assert questions(desk) == []
    desk.key.ticket(customer={"email": ANN}, status="resolved")
    assert questions(desk) == []


def test_who_has_called_a_message_spam_is_not_asked(desk: FormDesk) -> None:
    switch_on(desk)
    ticket = answered(desk, ANN)
    desk.service.write(
        lambda tx: tx.execute(
            "INSERT INTO received_messages (tenant_id, id, mailbox_id, message_key, from_identity,"
            " subject, raw_sha256, outcome, size_bytes, received_at, reason_code)"
            " SELECT tenant_id, :id, id, 'x', :ann, 'x', '', 'note', 1, 1, 'complaint'"
            " FROM mailboxes WHERE tenant_id = :tenant",
            {"tenant": desk.tenant.id, "id": ticket["id"], "ann": ANN},
        )
    )
    desk.change(ticket, status="resolved")
    assert questions(desk) == []


def test_what_has_changed_before_the_e_mail_is_not_asked(desk: FormDesk) -> None:
    switch_on(desk, "1")
    reopened, merged, rated, target = (answered(desk, ANN) for _ in range(4))
    for each in (reopened, merged, rated):
        desk.change(each, status="resolved")
    wait_until(lambda: len(questions(desk)) == 3)
    desk.change(reopened, status="open")
    path = f"/api/v1/external/tickets/{merged['id']}/merge"
    assert desk.key.post(path, {"into": target["id"]}).status_code == 200
    made = desk.key.post(f"/api/v1/external/tickets/{rated['id']}/rating-link", None)
    link = urlsplit(made.json()["data"]["url"]).path
    assert Stranger(desk).post(link, [("rating", "1")]).status == 200
    desk.service.clock.advance(2 * HOUR_S)
    wait_until(lambda: [state for _, state in questions(desk)] == ["failed"] * 3)
    desk.key = desk.tenant.key()
    assert [each for each in desk.mails(4) if "/r/" in each] == []
    assert not any(each["is_internal"] for each in desk.replies(reopened))


def test_two_workers_ask_once(desk: FormDesk) -> None:
    switch_on(desk, "72")
    ticket = answered(desk, ANN)
    desk.change(ticket, status="resolved")
    wait_until(lambda: len(questions(desk)) == 1)
    sql = """
    SELECT position, position, id, type, created_at FROM events
    WHERE tenant_id = :id AND type = 'ticket.status_changed' LIMIT 9"""
    ((position, _, event_id, kind, at),) = desk.service.rows(sql, id=desk.tenant.id)
    event = LogEvent(position, desk.tenant.id, position, event_id, kind, at)

    async def again(state: AppState) -> list[OutgoingMessage]:
        async def work(tx: Any) -> list[OutgoingMessage]:
            mailboxes = {
                each.id: each for each in await sending.list_sending_of(tx, event.tenant_id)
            }
            return await asking.list_questions(tx, [event, event], mailboxes, at)

        return await state.database.write(work, desk.tenant.id)

    assert desk.service.in_background(again) == []
    assert questions(desk) == [(ticket["id"], "queued")]
    assert rules.question_id(ticket["id"]) == rules.question_id(ticket["id"].upper())


def test_wrong_settings_are_named(desk: FormDesk) -> None:
    visitor = logged_in(desk.tenant)
    page = visitor.get(HOME)
    assert_page_is_secure(page)
    for field, value in (
        ("delay_hours", "73"), ("delay_hours", "soon"), ("delay_hours", ""),
        ("base_url", "ftp://x.example"),
    ):  # fmt: skip
        page = visitor.submit(visitor.get(HOME).form(HOME), **{field: value})
        assert page.status == 422, value
        assert ("p", "id", f"{field}-fault") in page.attributes, value
    assert (
        desk.service.rows(
            "SELECT tenant_id FROM rating_settings WHERE tenant_id = :id LIMIT 1", id=desk.tenant.id
        )
        == []
    )
    form = visitor.get(HOME).form(HOME)
    switch_on(desk)
    stale = visitor.submit(form, delay_hours="5")
    assert stale.status == 412 and stale.form(HOME).value("delay_hours") == "5"
    assert "Saved." in visitor.submit(stale.form(HOME)).text
