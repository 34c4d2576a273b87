"""Messages that wait: who sees them, and what a release does, by API and on their page."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk import clock
from sealdesk.caller import SYSTEM, Caller
from sealdesk.errors import Conflict
from sealdesk.mail.received_messages import actions
from sealdesk.mail.receiving import arrivals, raw_messages
from sealdesk.state import AppState
from tests.mail.receiving.test_keeping import DAY_S
from tests.mail.receiving.test_taking import report
from tests.mail.support import Desk, Receiver, message, receiving, with_files
from tests.support.client import Person
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service

API = "/api/v1/received-messages"
PATH = "/held-messages"
SPAM = {"X_Spam_Flag": "YES"}


@pytest.fixture
def agent(desk: Desk) -> Person:
    email = f"agent.of.{desk.tenant.id}@example.test"
    desk.tenant.user("agent", email)
    return desk.tenant.service.log_in(email)


def listed(person: Person, query: str = "") -> list[Any]:
    answer = person.get(f"{API}{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["data"])


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_agents_list_what_waits_by_outcome_and_mailbox(desk: Desk, agent: Person) -> None:
    other = desk.add_mailbox()
    desk.block("eve@evil.test")
    desk.get_mail(message(subject="Real"))
    desk.get_mail(message(subject="Spam", **SPAM))
    desk.get_mail(message(subject="Evil", sender="eve@evil.test"), to=other.address)
    assert [each["subject"] for each in listed(agent)] == ["Evil", "Spam", "Real"]
    waiting = listed(agent, "?outcome=held,spam,blocked")
    assert [(m["subject"], m["outcome"], m["reason"]) for m in waiting] == [
        ("Evil", "blocked", "eve@evil.test"),
        ("Spam", "spam", "marked by the mail server"),
    ]
    assert [m["subject"] for m in listed(agent, f"?mailbox_id={other.id}")] == ["Evil"]
    assert listed(agent, f"?mailbox_id={other.id}&outcome=spam") == []


def test_a_list_of_several_outcomes_has_pages(desk: Desk, agent: Person) -> None:
    desk.block("eve@evil.test")
    for number in range(5):
        evil = {"sender": "eve@evil.test"} if number % 2 else SPAM
        desk.get_mail(message(subject=f"{number}", **evil))
    query, pages = "?outcome=spam,blocked&per_page=2", list[list[str]]()
    for _ in range(3):
        answer = agent.get(f"{API}{query}").json()
        pages.append([each["subject"] for each in answer["data"]])
        query = f"?outcome=spam,blocked&per_page=2&cursor={answer['meta']['next_cursor']}"
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert answer["meta"]["next_cursor"] is None


def test_a_released_message_becomes_a_ticket_once(desk: Desk, agent: Person) -> None:
    files = (("list.txt", b"a list"),)
    raw = with_files(files, **SPAM)
    desk.get_mail(raw)
    (held,) = listed(agent)
    answer = agent.post(f"{API}/{held['id']}/release")
    released = answer.json()["data"]
    assert (answer.status_code, released["outcome"]) == (200, "ticket")
    ticket = desk.ticket()
    assert (released["ticket_id"], ticket["subject"]) == (ticket["id"], "A broken bowl")
    assert [each["name"] for each in ticket["attachments"]] == ["list.txt"]
    assert released["reason"] == "released by a person"  # so it gets no acknowledgement
    assert refusal(agent.post(f"{API}/{held['id']}/release")) == (409, "message_not_held")
    assert len(desk.tickets()) == 1
    (entry,) = desk.audit("received_message.released")
    assert (entry["object_id"], entry["actor_kind"]) == (held["id"], "user")


def test_a_message_to_a_reply_address_is_a_reply_after_its_release(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    # As for a blind copy: the reply address is in the envelope alone.
    desk.get_mail(message("Another one.", **SPAM), to=desk.reply_address(ticket))
    desk.release()
    assert [reply["body"] for reply in desk.replies(ticket)] == ["Another one."]
    assert len(desk.tickets()) == 1


def test_a_released_report_is_still_a_report(desk: Desk, agent: Person) -> None:
    desk.get_mail(report("<never-sent@acme.test>"), sender="")
    assert desk.outcomes() == ["held"]
    desk.release()
    assert [each["reason"] for each in listed(agent)] == ["empty sender"]


def test_an_administrator_deletes_a_message_for_good(desk: Desk, agent: Person) -> None:
    for subject in ("One", "Two"):
        desk.get_mail(message(subject=subject, **SPAM))
    two, one = listed(agent)
    assert agent.delete(f"{API}/{one['id']}").status_code == 403
    administrator = desk.tenant.admin()
    assert administrator.delete(f"{API}/{one['id']}").status_code == 204
    assert refusal(administrator.delete(f"{API}/{one['id']}")) == (409, "message_not_held")
    assert refusal(agent.get(f"{API}/{one['id']}/raw")) == (410, "message_expired")
    assert refusal(agent.post(f"{API}/{one['id']}/release")) == (409, "message_not_held")
    visitor = logged_in(desk.tenant)
    page = visitor.get(f"{PATH}/{two['id']}")
    assert visitor.submit(page.form(f"{PATH}/{two['id']}/delete")).status == 200
    assert listed(agent, "?outcome=held,spam,blocked") == []
    assert {each["reason"] for each in listed(agent)} == {"deleted by a person"}
    assert [each["raw_until"] for each in listed(agent)] == [None, None]
    entries = desk.audit("received_message.deleted")
    assert [each["object_id"] for each in entries] == [one["id"], two["id"]]
    assert desk.tickets() == []


def test_another_tenant_finds_no_message(desk: Desk, receiver: Receiver) -> None:
    desk.get_mail(message(**SPAM))
    held, stranger = desk.messages()[0], receiver.service.tenant().admin()
    for suffix in ("", "/raw"):
        assert refusal(stranger.get(f"{API}/{held['id']}{suffix}")) == (404, "not_found")
    assert refusal(stranger.post(f"{API}/{held['id']}/release")) == (404, "not_found")
    assert desk.outcomes() == ["spam"]


def test_the_raw_message_is_downloaded_as_it_came(desk: Desk, agent: Person) -> None:
    raw = message("<script>alert(1)</script>", **SPAM)
    desk.get_mail(raw)
    answer = agent.get(f"{API}/{desk.messages()[0]['id']}/raw")
    assert (answer.status_code, answer.content) == (200, raw)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="message.eml"'
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_sealed_message_is_read_downloaded_and_released(receiver: Receiver) -> None:
    with receiving(receiver.service, seals_messages=True) as sealing:
        desk = Desk(sealing)
        raw = message("Sealed. " * 200_000, **SPAM)
        desk.get_mail(raw)
    path, admin = f"{API}/{desk.messages()[0]['id']}", desk.tenant.admin()
    assert admin.get(f"{path}/raw").content == raw
    assert "Sealed. Sealed." in logged_in(desk.tenant).get(path.replace(API, PATH)).text
    assert admin.post(f"{path}/release").json()["data"]["outcome"] == "ticket"


def test_a_ticket_of_a_released_message_has_the_time_at_which_it_came(
    own_service: Service,
) -> None:
    with receiving(own_service) as receiver:
        desk = Desk(receiver)
        desk.get_mail(message(**SPAM))
        (held,) = desk.messages()
        own_service.clock.advance(DAY_S)
        desk.release()
        assert desk.ticket()["created_at"] == clock.iso(held["received_at"])


def test_an_expired_message_is_neither_released_nor_read(own_service: Service) -> None:
    with receiving(own_service) as receiver:
        desk = Desk(receiver)
        desk.get_mail(message(**SPAM))
        held = desk.messages()[0]
        own_service.clock.advance(31 * DAY_S)
        admin = desk.tenant.admin()
        path = f"{API}/{held['id']}"
        assert refusal(admin.post(f"{path}/release")) == (410, "message_expired")
        own_service.in_background(raw_messages.prune)
        assert refusal(admin.post(f"{path}/release")) == (410, "message_expired")
        assert refusal(admin.get(f"{path}/raw")) == (410, "message_expired")
        assert admin.get(path).json()["data"]["raw_until"] is None
        visitor = logged_in(desk.tenant)
        assert "Nothing waits" in visitor.get(PATH).text
        assert "The message is deleted." in visitor.get(f"{PATH}/{held['id']}").text


def test_a_message_of_a_deleted_mailbox_can_be_released(desk: Desk, agent: Person) -> None:
    desk.get_mail(message(**SPAM))
    admin = desk.tenant.admin()
    assert admin.delete(f"/api/v1/mailboxes/{desk.mailbox.id}").status_code == 204
    (held,) = listed(agent)
    assert agent.post(f"{API}/{held['id']}/release").status_code == 200
    assert len(desk.tickets()) == 1


def agent_visitor(desk: Desk) -> Visitor:
    email = f"page.of.{desk.tenant.id}@example.test"
    desk.tenant.user("agent", email)
    visitor = Visitor(desk.tenant.service)
    visitor.log_in(email)
    return visitor


def test_an_agent_reads_and_opens_a_held_message_without_scripts(desk: Desk) -> None:
    desk.get_mail(message())
    desk.get_mail(message("Buy <b>now</b>!", subject="<i>Offer</i>", **SPAM))
    visitor = agent_visitor(desk)
    assert PATH in visitor.get("/tickets").links
    page = visitor.get(PATH)
    assert_page_is_secure(page)
    assert "<i>Offer</i>" in page.text and "Marked as spam" in page.text
    path = f"{PATH}/{desk.messages()[1]['id']}"
    page = visitor.get(path)
    assert_page_is_secure(page)
    assert "Buy <b>now</b>!" in page.text
    assert "Block the sender" not in page.text  # administrators do
    page = visitor.submit(page.form(f"{path}/release"))
    assert visitor.at == f"/tickets/{desk.tickets()[0]['id']}"
    assert PATH not in visitor.get("/tickets").links


def test_a_desk_without_tickets_shows_what_waits(desk: Desk) -> None:
    visitor = agent_visitor(desk)
    assert PATH not in visitor.get("/tickets").links
    desk.get_mail(message(**SPAM))
    page = visitor.get("/tickets")
    assert PATH in page.links and "Your desk is ready" in page.text


def test_two_agents_who_release_a_message_make_one_ticket(desk: Desk) -> None:
    desk.get_mail(message(**SPAM))
    visitor = agent_visitor(desk)
    path = f"{PATH}/{desk.messages()[0]['id']}"
    form = visitor.get(path).form(f"{path}/release")
    desk.release()
    page = visitor.submit(form)
    assert page.status == 409 and "somebody has released it" in page.text
    assert len(desk.tickets()) == 1


def test_releases_at_once_have_one_effect(desk: Desk, agent: Person) -> None:
    desk.get_mail(message(**SPAM))
    path = f"{API}/{desk.messages()[0]['id']}/release"
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda _: agent.post(path), range(8))]
    found = sorted((each.status_code, each.json().get("code")) for each in answers)
    assert found[0] == (200, None)
    assert found[1:] == [(409, "message_not_held")] * 7
    assert len(desk.tickets()) == len(desk.audit("received_message.released")) == 1


def test_two_transactions_that_release_a_message_have_one_effect(desk: Desk) -> None:
    """Both have seen that it waits before one of them commits."""
    desk.get_mail(message(**SPAM))
    message_id, tenant_id = desk.messages()[0]["id"], desk.tenant.id
    caller = Caller(tenant_id, SYSTEM, frozenset(), "", has_custom_fields=False)
    seen = list[str]()

    async def work(state: AppState) -> list[Any]:
        both = asyncio.Barrier(2)

        async def release() -> Any:
            now_us = state.clock.now_us()
            found = await state.database.read(
                lambda tx: actions.get_waiting(tx, tenant_id, message_id, now_us), tenant_id
            )
            seen.append(found.message.outcome)
            incoming = await arrivals.read_again(state, found.mailbox, found.message)
            await both.wait()
            return await state.database.write(
                lambda tx: actions.release(tx, caller, incoming, message_id, now_us=now_us),
                tenant_id,
            )

        return [*await asyncio.gather(release(), release(), return_exceptions=True)]

    results = desk.receiver.service.in_serving(work)
    assert seen == ["spam", "spam"]
    assert [isinstance(each, Conflict) for each in results].count(True) == 1, results
    assert len(desk.tickets()) == len(desk.audit("received_message.released")) == 1


@pytest.mark.parametrize(("what", "sender"), [("address", "eve"), ("domain", "anybody")])
def test_an_administrator_blocks_the_sender_of_a_message(
    desk: Desk, what: str, sender: str
) -> None:
    desk.get_mail(message(sender="eve@evil.test", **SPAM))
    visitor = logged_in(desk.tenant)
    path = f"{PATH}/{desk.messages()[0]['id']}"
    page = visitor.submit(visitor.get(path).form(f"{path}/block"), what=what)
    assert page.status == 200 and "is blocked from now on" in page.text
    desk.get_mail(message(sender=f"{sender}@evil.test"))
    assert desk.outcomes() == ["spam", "blocked"]
    agent = agent_visitor(desk)
    form = visitor.get(path).form(f"{path}/block")
    assert agent.submit(form, what=what).status == 403


def test_a_long_message_is_shown_in_part(desk: Desk) -> None:
    desk.get_mail(message("word " * 10_000 + "the end", **SPAM))
    page = logged_in(desk.tenant).get(f"{PATH}/{desk.messages()[0]['id']}")
    assert "This is not all of it." in page.text and "the end" not in page.text
