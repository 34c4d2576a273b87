"""A desk holds public replies for ten seconds, in which their authors can undo them."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.state import AppState
from sealdesk.tickets.held_replies import actions, releasing, store
from sealdesk.tickets.held_replies.types import DueReply
from sealdesk.web.pages.preferences import HOLDS
from sealdesk.worker import loop
from tests.support.client import Key
from tests.support.databases import Begin
from tests.support.feed import EVENTS, wait_until_placed
from tests.support.pages import Page, logged_in
from tests.support.service import Service, Tenant, wait_until
from tests.tickets.test_notifications import Agent, write
from tests.tickets.test_uploads_of_pages import upload, uploaded_id

API = "/api/v1/external/tickets"
SETTING = "/settings/replies"
CHANGED = "This ticket has changed."
HELD = "SELECT id, failed_at FROM held_replies WHERE tenant_id = :id ORDER BY id LIMIT 99"


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose clock these tests advance; each has its own tenant."""
    with begin(tmp_path_factory.mktemp("held")) as service:
        yield service


@pytest.fixture
def tenant(tenant: Tenant) -> Tenant:
    """A desk that holds public replies."""
    admin = logged_in(tenant)
    saved = admin.submit(admin.get(SETTING).form(SETTING), is_held="yes")
    assert "Saved." in saved.text and ("input", "checked", "") in saved.attributes
    return tenant


@pytest.fixture
def ada(tenant: Tenant) -> Agent:
    return Agent(tenant, "Ada")


@pytest.fixture
def ticket(tenant: Tenant, key: Key) -> dict[str, Any]:
    return key.ticket(subject="Cracked bowls", customer={"email": "m@example.test"})


def send(by: Agent, ticket: dict[str, Any], body: str, **fields: str | list[str]) -> Page:
    at = f"/tickets/{ticket['id']}"
    return by.visitor.submit(by.visitor.get(at).form(f"{at}/reply"), body=body, **fields)


def undo(by: Agent, page: Page, **fields: str) -> Page:
    (form,) = [each for each in page.forms if "/held/" in each.action]
    return by.visitor.submit(form, **fields)


def news_of(page: Page) -> str:
    """Where an open page of a ticket asks what is new."""
    (address,) = [value for _, name, value in page.attributes if name == "data-news"]
    return address


def held(tenant: Tenant) -> list[bool]:
    """Of each held reply whether it could not leave."""
    return [row["failed_at"] is not None for row in tenant.service.rows(HELD, id=tenant.id)]


def replies(key: Key, ticket: dict[str, Any]) -> list[str]:
    listed = key.get(f"{API}/{ticket['id']}/replies").json()["data"]
    return [each["body"] for each in reversed(listed)]  # the oldest first


def let_leave(tenant: Tenant, *, failed: int = 0) -> None:
    tenant.service.clock.advance(11)
    wait_until(lambda: held(tenant) == [True] * failed)


def release(service: Service) -> None:
    """Whatever is due, by this worker or by the one that runs already."""
    service.in_background(loop.release_replies)


def test_nothing_of_a_held_reply_is_seen_until_it_leaves_whole(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    def seen() -> tuple[Any, ...]:
        wait_until_placed(tenant.service)
        shown = key.get(f"{API}/{ticket['id']}")
        return shown.text, shown.headers["etag"], key.get(EVENTS).json()["data"]

    before = seen()
    page = send(ada, ticket, "Here are **new** ones", then="resolve")
    assert f"Your reply to #{ticket['number']} leaves in 10 s." in page.text
    assert f"Your reply to #{ticket['number']} leaves" in ada.visitor.get("/tickets").text
    assert seen() == before and held(tenant) == [False]
    assert ada.visitor.get(f"/tickets/{ticket['id']}/history").text.count("Ada") == 1  # herself
    let_leave(tenant)
    (reply,) = key.get(f"{API}/{ticket['id']}/replies").json()["data"]
    assert (reply["body"], reply["author"]["name"]) == ("Here are **new** ones", "Ada")
    assert key.get(f"{API}/{ticket['id']}").json()["data"]["status"] == "resolved"
    wait_until_placed(tenant.service)
    added = key.get(EVENTS).json()["data"][len(before[2]) :]
    assert sorted(each["type"] for each in added) == [
        *("reply.created", "ticket.status_changed", "ticket.updated")
    ]
    assert "leaves in" not in ada.visitor.get("/tickets").text


def test_an_undo_fills_the_composer_as_it_was(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    at = f"/tickets/{ticket['id']}"
    file = uploaded_id(upload(ada.visitor, at, "a.txt", b"text"))
    chosen = {
        "was_set_priority": ticket["priority"],
        "set_priority": "urgent",
        "attachment_ids": [file],
    }
    page = send(ada, ticket, "Line 1\nLine 2", status="pending", **chosen)
    before = ada.visitor.get(at).form(f"{at}/reply")
    assert before.value("body") == ""
    page = undo(ada, page)
    form = page.form(f"{at}/reply")
    assert (form.value("body"), form.value("status")) == ("Line 1\nLine 2", "pending")
    assert (form.value("attachment_ids"), form.value("set_priority")) == (file, "urgent")
    assert held(tenant) == [] and "leaves in" not in page.text
    tenant.service.clock.advance(11)
    release(tenant.service)
    assert replies(key, ticket) == []
    assert ada.visitor.submit(form).status == 200
    let_leave(tenant)
    sent = key.get(f"{API}/{ticket['id']}").json()["data"]
    assert (sent["status"], sent["priority"]) == ("pending", "urgent")
    (reply,) = key.get(f"{API}/{ticket['id']}/replies").json()["data"]
    assert [each["id"] for each in reply["attachments"]] == [file]


def test_a_reply_is_undone_in_another_browser_of_its_author(
    tenant: Tenant, ada: Agent, ticket: dict[str, Any]
) -> None:
    send(ada, ticket, "Sent from the telephone")
    ada.visitor.cookies.pop(HOLDS)
    page = ada.visitor.get(f"/tickets/{ticket['id']}")
    assert f"Your reply to #{ticket['number']} leaves in" in page.text
    assert "Sent from the telephone" in undo(ada, page).text and held(tenant) == []


def test_an_undo_that_comes_too_late_says_so(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    page = send(ada, ticket, "Gone")
    let_leave(tenant)
    assert "This reply can no longer be undone: it has left" in undo(ada, page).text
    assert replies(key, ticket) == ["Gone"]


def test_colleagues_see_that_a_reply_leaves_and_cannot_undo_it(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    eve, at = Agent(tenant, "Eve"), f"/tickets/{ticket['id']}"
    page = send(ada, ticket, "Soon")
    for path in (at, f"{at}/answering?state=x"):
        shown = eve.visitor.get(path)
        assert "A reply of \u2068Ada\u2069 leaves in a moment." in shown.text
        assert "Soon" not in shown.text and "leaves in a moment" not in ada.visitor.get(path).text
    (form,) = [each for each in page.forms if "/held/" in each.action]
    token = eve.visitor.get(at).form(f"{at}/reply").value("form_token")
    taken = eve.visitor.post(form.action, [("form_token", token)])
    assert "can no longer be undone" in taken.text and held(tenant) == [False]
    let_leave(tenant)
    assert replies(key, ticket) == ["Soon"]


def test_notes_and_replies_of_programs_do_not_wait(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    write(ada, ticket, "A note", is_internal="yes")
    key.post(f"{API}/{ticket['id']}/replies", {"body": "By a key"})
    assert replies(key, ticket) == ["A note", "By a key"] and held(tenant) == []


def test_without_the_setting_nothing_waits(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    admin = logged_in(tenant)
    admin.submit(admin.get(SETTING).form(SETTING), is_held=[])
    assert "leaves in" not in send(ada, ticket, "At once").text
    assert replies(key, ticket) == ["At once"]
    assert admin.get("/settings/audit").text.count("Undo of public replies changed") > 2
    assert ada.visitor.get(SETTING).status == 403


@pytest.mark.parametrize("then", ["leaves", "is undone"])
def test_a_reply_that_waits_when_the_setting_is_switched_off_still_leaves_or_is_undone(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any], then: str
) -> None:
    page = send(ada, ticket, "Held before")
    admin = logged_in(tenant)
    admin.submit(admin.get(SETTING).form(SETTING), is_held=[])
    assert f"Your reply to #{ticket['number']} leaves" in ada.visitor.get("/tickets").text
    if then == "is undone":
        assert "Held before" in undo(ada, page).text
        assert held(tenant) == []
    let_leave(tenant)
    assert replies(key, ticket) == (["Held before"] if then == "leaves" else [])


@pytest.mark.parametrize("twice", ["while it waits", "when it has left"])
def test_a_form_that_is_sent_twice_is_sent_once(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any], twice: str
) -> None:
    at = f"/tickets/{ticket['id']}"
    form = ada.visitor.get(at).form(f"{at}/reply")
    ada.visitor.submit(form, body="Once")
    if twice == "when it has left":
        let_leave(tenant)
    assert ada.visitor.submit(form, body="Once").status == 200
    assert len(held(tenant)) <= 1
    let_leave(tenant)
    assert replies(key, ticket) == ["Once"]


def test_what_the_author_writes_meanwhile_does_not_stop_a_reply(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    send(ada, ticket, "First")
    send(ada, ticket, "Second")
    write(ada, ticket, "A note", is_internal="yes")
    let_leave(tenant)
    assert replies(key, ticket) == ["A note", "First", "Second"]


def test_what_cannot_be_sent_now_is_not_held(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    at = f"/tickets/{ticket['id']}"
    form = ada.visitor.get(at).form(f"{at}/reply")
    key.post(f"{API}/{ticket['id']}/replies", {"body": "Meanwhile"})
    page = ada.visitor.submit(form, body="Mine")
    assert page.status == 412 and page.form(f"{at}/reply").value("body") == "Mine"
    assert ada.visitor.submit(page.form(f"{at}/reply"), status="unknown").status == 422
    key.patch(f"{API}/{ticket['id']}", {"status": "closed"})
    assert ada.visitor.submit(page.form(f"{at}/reply")).status == 409
    assert held(tenant) == []


def close(key: Key, ticket: dict[str, Any]) -> None:
    key.patch(f"{API}/{ticket['id']}", {"status": "closed"})


def answer(key: Key, ticket: dict[str, Any]) -> None:
    key.post(f"{API}/{ticket['id']}/replies", {"body": "Meanwhile"})


@pytest.mark.parametrize(
    ("meanwhile", "reason"),
    [(close, "The ticket was closed meanwhile."), (answer, "changed meanwhile.")],
)
def test_a_reply_that_cannot_leave_is_kept_and_its_author_is_told(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any], meanwhile: Any, reason: str
) -> None:
    at = f"/tickets/{ticket['id']}"
    send(ada, ticket, "My <b>long</b> text")
    meanwhile(key, ticket)
    shown = news_of(ada.visitor.get(at))
    assert CHANGED not in ada.visitor.get(shown).text
    let_leave(tenant, failed=1)
    assert CHANGED in ada.visitor.get(shown).text
    assert CHANGED not in ada.visitor.get(news_of(ada.visitor.get(at))).text
    assert "My <b>long</b> text" not in replies(key, ticket)
    assert f"The reply of Ada was not sent: #{ticket['number']}" in ada.notifications()
    page = Agent(tenant, "Eve").visitor.get(at)
    assert f"The reply of Ada was not sent. {reason}" in re.sub(r" The conv.* it ", " ", page.text)
    page = undo(ada, ada.visitor.get(at))
    assert page.form(f"{at}/reply").value("body") == "My <b>long</b> text"
    assert held(tenant) == []


def test_a_reply_that_could_not_leave_is_discarded(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    send(ada, ticket, "Not needed")
    answer(key, ticket)
    let_leave(tenant, failed=1)
    at = f"/tickets/{ticket['id']}"
    page = undo(ada, ada.visitor.get(at), discard="yes")
    assert "Not needed" not in page.text and held(tenant) == []


def test_a_reply_of_a_deactivated_author_is_left_to_the_assignee(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    eve = Agent(tenant, "Eve")
    key.patch(f"{API}/{ticket['id']}", {"assignee_id": eve.id})
    send(ada, ticket, "From nobody")
    tenant.deactivate(ada.id)
    let_leave(tenant, failed=1)
    assert replies(key, ticket) == []
    assert "The reply of Ada was not sent" in eve.notifications()
    assert "Its author was deactivated" in eve.visitor.get(f"/tickets/{ticket['id']}").text


def test_a_reply_follows_its_ticket_into_the_one_it_is_merged_into(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    target = key.ticket(customer={"email": "m@example.test"})
    answer(key, target)
    send(ada, ticket, "To the old one")
    merged = key.post(f"{API}/{ticket['id']}/merge", {"into": target["id"]})
    assert merged.status_code == 200, merged.text
    let_leave(tenant, failed=1)
    assert "To the old one" in ada.visitor.get(f"/tickets/{target['id']}").text
    assert "To the old one" not in replies(key, target)


def test_a_reply_that_could_not_leave_follows_its_ticket_when_that_is_merged(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    target = key.ticket(customer={"email": "m@example.test"})
    send(ada, ticket, "Kept")
    answer(key, ticket)
    let_leave(tenant, failed=1)
    key.post(f"{API}/{ticket['id']}/merge", {"into": target["id"]})
    at = f"/tickets/{target['id']}"
    assert undo(ada, ada.visitor.get(at)).form(f"{at}/reply").value("body") == "Kept"


def test_a_failure_of_the_service_keeps_the_reply(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ValueError

    send(ada, ticket, "Kept")
    monkeypatch.setattr(store, "delete", broken)
    let_leave(tenant, failed=1)
    assert replies(key, ticket) == []  # what was sent in the same transaction is undone
    monkeypatch.undo()
    assert undo(ada, ada.visitor.get(f"/tickets/{ticket['id']}")).status == 200


def test_two_workers_send_each_reply_once_and_in_order(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    bodies = [f"Part {number}" for number in range(4)]
    for body in bodies:
        send(ada, ticket, body)

    async def twice(state: AppState) -> int:
        state.clock.advance(11)  # type: ignore[attr-defined]
        due = [each for each in await releasing.list_due(state) if each.tenant_id == tenant.id]
        both = [releasing.release_due(each, state) for each in due for _ in range(2)]
        return sum(await asyncio.gather(*both))

    assert tenant.service.in_background(twice) <= len(bodies)
    let_leave(tenant)
    assert replies(key, ticket) == bodies


def test_an_undo_beside_the_worker_takes_back_or_comes_too_late(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    for turn in range(5):
        page = send(ada, ticket, f"Turn {turn}")
        tenant.service.clock.advance(9.5 if turn % 2 else 10.1)
        is_undone = "can no longer be undone" not in undo(ada, page).text
        let_leave(tenant)
        assert (f"Turn {turn}" in replies(key, ticket)) is not is_undone


def test_a_reply_that_waited_for_a_stopped_service_leaves_after_its_start(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    send(ada, ticket, "Hours later")
    tenant.service.clock.advance(3600 * 5)
    wait_until(lambda: held(tenant) == [])
    assert replies(key, ticket) == ["Hours later"]


def test_a_person_has_a_bounded_number_of_held_replies(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_OF_USER", 1)
    send(ada, ticket, "One")
    page = send(ada, ticket, "Two")
    assert page.status == 422 and "Not sent: 1 of your replies have not left." in page.text
    assert page.form(f"/tickets/{ticket['id']}/reply").value("body") == "Two"
    send(Agent(tenant, "Eve"), ticket, "Of Eve")
    assert held(tenant) == [False, False]


def test_a_reply_that_is_gone_is_neither_sent_nor_failed(
    tenant: Tenant, ada: Agent, ticket: dict[str, Any]
) -> None:
    async def late(state: AppState) -> int:
        due = DueReply(tenant.id, ticket["id"])
        await state.database.write(
            lambda tx: actions.fail(tx, due, "unexpected", now_us=1, real_now_us=1), tenant.id
        )
        return await releasing.release_due(due, state)

    assert tenant.service.in_background(late) == 0
    assert ada.bell() == "0"


def test_erasing_the_customer_deletes_what_could_not_leave(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    send(ada, ticket, "To m@example.test")
    close(key, ticket)
    let_leave(tenant, failed=1)
    path = f"/api/v1/external/customers/{ticket['customer']['id']}/erase"
    assert key.post(path, None).status_code in (200, 202)
    tenant.service.clock.advance(11)
    wait_until(lambda: held(tenant) == [])
