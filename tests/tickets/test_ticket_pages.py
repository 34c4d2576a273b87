"""The page of a ticket, without scripts."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.ticket.store import replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import NewReply, TicketChange
from sealdesk.web import request
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

API = "/api/v1/external/tickets"
NOWHERE = "/tickets/0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"


def colleague(tenant: Tenant, name: str) -> tuple[Visitor, str]:
    """A browser with the log-in of an agent, and the id of the agent."""
    email = f"{name.lower()}.of.{tenant.id}@example.test"
    user_id = tenant.user("agent", email, name)
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    return visitor, user_id


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    return colleague(tenant, "Ada")[0]


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(subject="Cracked bowls", customer={"email": "maria@example.test"})


@pytest.fixture
def at(ticket: dict[str, Any]) -> str:
    return f"/tickets/{ticket['id']}"


def add_replies(tenant: Tenant, at: str, count: int) -> None:
    """Creates this number of replies, numbered in their bodies."""
    caller = Caller(tenant.id, Actor("api_key", "k", "Shop"), frozenset(), "")
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for number in range(count):
            new = NewReply(f"Reply-{number}.")
            await actions.reply(tx, caller, at.rpartition("/")[2], new, now_us=now_us + number)

    tenant.service.write(work)


def _now(key: Key, at: str) -> dict[str, Any]:
    return dict(key.get(f"/api/v1/external{at}").json()["data"])


def _replies(key: Key, at: str) -> list[dict[str, Any]]:
    return list(key.get(f"/api/v1/external{at}/replies?sort=asc&per_page=100").json()["data"])


def _send_reply(visitor: Visitor, at: str, **fields: Any) -> Page:
    return visitor.submit(visitor.get(at).form(f"{at}/reply"), **fields)


def _order(page: Page, *texts: str) -> list[int]:
    return [page.text.index(text) for text in texts]


def test_a_conversation_is_shown_in_reading_order(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket(description="Two of the six have cracks.")
    for number in range(3):
        new = {"body": f"Reply {number} stands here", "is_internal": number == 1}
        key.post(f"{API}/{ticket['id']}/replies", new)
    page = visitor.get(f"/tickets/{ticket['id']}")
    assert (page.status, page.answer.headers["content-type"][:9]) == (200, "text/html")
    places = _order(page, "Two of the six", *(f"Reply {n} stands" for n in range(3)))
    assert places == sorted(places)
    assert page.text.count("Internal note ") == 1 + 0 * len(places)
    policy = page.answer.headers["content-security-policy"]
    assert "connect-src 'self'" in policy


def test_a_long_conversation_has_pages(visitor: Visitor, tenant: Tenant, at: str) -> None:
    add_replies(tenant, at, 103)
    seen, path = [], at
    while path:
        page = visitor.get(path)
        seen.append([int(n) for n in re.findall(r"Reply-(\d+)\.", page.text)])
        assert "A description" in page.text
        found = re.search(r'<a href="([^"]+)" rel="prev">', page.answer.text)
        assert (found is None) or page.status == 200
        path = found[1] if found else ""
    assert [number for numbers in reversed(seen) for number in numbers] == [*range(103)]
    assert [len(numbers) for numbers in seen] == [50, 50, 3]
    assert f"{at}/reply" not in [form.action for form in page.forms]
    assert at in page.links
    assert len(re.findall(r"Reply-\d+\.", visitor.get(f"{at}?before=nonsense").text)) == 50


def test_a_reply_is_sent_with_a_change_of_status(visitor: Visitor, key: Key, at: str) -> None:
    page = _send_reply(visitor, at, body="Two new ones\nare on their way.", status="pending")
    assert page.status == 200
    assert "are on their way." in page.text
    (reply,) = _replies(key, at)
    assert (reply["body"], reply["is_internal"]) == ("Two new ones\nare on their way.", False)
    assert (reply["author"]["type"], reply["author"]["name"]) == ("agent", "Ada")
    now = _now(key, at)
    assert (now["status"], now["reply_count"]) == ("pending", 1)
    assert visitor.at.startswith(f"{at}?")
    assert visitor.at.endswith(f"sent={reply['id']}#reply-{reply['id']}")
    assert any(name == "data-done" for _, name, _ in page.attributes)
    assert not any(name == "data-done" for _, name, _ in visitor.get(at).attributes)


def test_who_answers_a_ticket_of_nobody_follows_or_takes_it(
    tenant: Tenant, visitor: Visitor, key: Key, at: str
) -> None:
    def of_me() -> tuple[bool, int]:
        followers = key.get(f"/api/v1/external{at}/followers").json()["data"]
        return _now(key, at)["assignee_id"] is not None, len(followers)

    _send_reply(visitor, at, body="For us", is_internal="yes", takes="yes")
    assert of_me() == (False, 0)
    _send_reply(visitor, at, body="Hello")
    assert of_me() == (False, 1)
    page = _send_reply(visitor, at, body="I see to it.", takes="yes", remember="yes")
    assert of_me() == (True, 1) and "Assign this ticket to me" not in page.text
    mine = _now(key, at)["assignee_id"]
    eve, _ = colleague(tenant, "Eve")
    _send_reply(eve, at, body="And me", takes="yes")
    assert (_now(key, at)["assignee_id"], of_me()) == (mine, (True, 1))
    other = f"/tickets/{key.ticket()['id']}"
    form = visitor.get(other).form(f"{other}/reply")
    assert (form.value("takes"), form.value("remember")) == ("yes", "yes")


def test_an_internal_note_is_marked_and_leaves_the_status(
    visitor: Visitor, key: Key, at: str
) -> None:
    page = _send_reply(visitor, at, body="He called twice.", is_internal="yes")
    assert "Internal note" in page.text
    (reply,) = _replies(key, at)
    assert reply["is_internal"] is True
    assert (_now(key, at)["status"], _now(key, at)["reply_count"]) == ("open", 0)


@for_each(
    ("typed", "field"),
    [
        ({"body": "  \n "}, "body"),
        ({"body": "b" * 65_537}, "body"),
        ({"body": "Kept", "status": "gone"}, "status"),
    ],
)
def test_a_rejected_reply_keeps_its_text_and_shows_the_error(
    visitor: Visitor, key: Key, at: str, typed: dict[str, str], field: str
) -> None:
    page = _send_reply(visitor, at, is_internal="yes", **typed)
    assert page.status == 422
    assert ("p", "id", f"{field}-fault") in page.attributes
    form = page.form(f"{at}/reply")
    assert form.value("body").strip() == typed["body"].strip()
    assert form.value("is_internal") == "yes"
    assert (_replies(key, at), _now(key, at)["status"]) == ([], "open")


def test_a_page_with_a_refused_form_has_no_megabyte_of_its_text(
    visitor: Visitor, key: Key, at: str
) -> None:
    page = _send_reply(visitor, at, body="b" * 900_000)
    assert page.status == 422 and ("p", "id", "body-fault") in page.attributes
    assert len(page.answer.content) < 200_000


def test_a_reply_is_refused_when_a_newer_reply_was_not_seen(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    key.post(f"/api/v1/external{at}/replies", {"body": "I have found it myself"})
    page = visitor.submit(form, body="We look for it", status="resolved")
    assert page.status == 412
    assert "was not sent" in page.text and "I have found it myself" in page.text
    again = page.form(f"{at}/reply")
    assert (again.value("body").strip(), again.value("status")) == ("We look for it", "resolved")
    assert len(_replies(key, at)) == 1
    assert visitor.submit(again).status == 200
    assert [reply["body"] for reply in _replies(key, at)][1:] == ["We look for it"]
    assert _now(key, at)["status"] == "resolved"


def test_a_reply_that_is_sent_twice_is_stored_once(visitor: Visitor, key: Key, at: str) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    assert [visitor.submit(form, body="Once").status for _ in range(2)] == [200, 200]
    assert len(_replies(key, at)) == 1


def test_the_second_of_two_concurrent_replies_is_refused(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    people = [visitor, colleague(tenant, "Eve")[0]]
    for turn in range(1, 4):
        forms = [each.get(at).form(f"{at}/reply") for each in people]
        with ThreadPoolExecutor(2) as pool:
            sent = [
                pool.submit(each.submit, form, body="Mine", status="pending")
                for each, form in zip(people, forms, strict=True)
            ]
        assert sorted(each.result().status for each in sent) == [200, 412]
        assert len(_replies(key, at)) == turn


@POSTGRESQL_ONLY
def test_a_reply_is_refused_when_another_is_committed_during_its_transaction(
    visitor: Visitor, key: Key, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, list_replies = visitor.get(at).form(f"{at}/reply"), replies.list_replies
    theirs = f"{API}/{at.rpartition('/')[2]}/replies"

    async def overtaken(*wanted: Any, **how: Any) -> Any:
        found = await list_replies(*wanted, **how)
        monkeypatch.undo()
        await asyncio.to_thread(key.post, theirs, {"body": "Theirs"})
        return found

    monkeypatch.setattr(replies, "list_replies", overtaken)
    assert visitor.submit(form, body="Mine").status == 412
    assert [reply["body"] for reply in _replies(key, at)] == ["Theirs"]


def test_a_reply_parses_its_form_once_and_loads_its_ticket_once(
    visitor: Visitor, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, calls = visitor.get(at).form(f"{at}/reply"), []

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def counted(*args: Any, **named: Any) -> Any:
            calls.append(name)
            return original(*args, **named)

        monkeypatch.setattr(owner, name, counted)

    count(request, "parse_form")
    count(ticket_store, "find")
    assert visitor.submit(form, body="Mine", status="pending").status == 200
    assert sorted(calls) == ["find", "parse_form"]


def test_what_became_of_a_field_is_said_in_a_live_region(visitor: Visitor, at: str) -> None:
    states = re.findall(r"<div class=\"saved[^>]*>", visitor.get(at).answer.text)
    assert len(states) >= 4 and all('aria-live="polite"' in each for each in states)


def test_a_closed_ticket_rejects_a_reply_and_has_no_reply_form(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    key.patch(f"/api/v1/external{at}", {"status": "closed"})
    page = visitor.submit(form, body="Too late")
    assert page.status == 409
    assert "has been closed" in page.text
    assert page.form(f"{at}/reply").value("body").strip() == "Too late"
    page = visitor.get(at)
    assert "Reopen it to reply" in page.text
    assert f"{at}/reply" not in [each.action for each in page.forms]
    key.patch(f"/api/v1/external{at}", {"priority": "urgent", "tags": ["vip"]})
    reopen, _ = (form for form in visitor.get(at).forms if form.action == at)
    visitor.submit(reopen)
    now = _now(key, at)
    assert (now["status"], now["priority"], now["tags"]) == ("open", "urgent", ["vip"])


def test_all_fields_are_changed_in_one_form(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    _, eve = colleague(tenant, "Eve")
    key.patch(f"/api/v1/external{at}", {"tags": ["refund", "a, b"]})
    form = visitor.get(at).form(at)
    assert [value for name, value in form.fields if name == "tags"] == ["refund", "a, b"]
    visitor.submit(
        form,
        status="on_hold",
        priority="urgent",
        assignee_id=eve,
        subject="A cold kiln",
        new_tags=" vip ,, kiln,vip",
    )
    now = _now(key, at)
    assert now["subject"] == "A cold kiln"
    assert (now["status"], now["priority"], now["assignee_id"]) == ("on_hold", "urgent", eve)
    assert now["tags"] == ["refund", "a, b", "vip", "kiln"]
    form = visitor.get(at).form(at)
    visitor.submit(form, assignee_id="", tags=["a, b"])
    now = _now(key, at)
    assert (now["assignee_id"], now["tags"], now["status"]) == (None, ["a, b"], "on_hold")


def test_saving_an_unchanged_form_changes_nothing(visitor: Visitor, key: Key, at: str) -> None:
    before = _now(key, at)
    assert visitor.submit(visitor.get(at).form(at)).status == 200
    assert _now(key, at) == before


def test_saving_an_outdated_form_shows_the_changes_of_others(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    other, _ = colleague(tenant, "Eve")
    other.submit(other.get(at).form(at), new_tags="before")
    form = visitor.get(at).form(at)
    theirs = {"status": "pending", "priority": "high", "new_tags": "theirs"}
    other.submit(other.get(at).form(at), **theirs)
    page = visitor.submit(form, status="resolved", tags=[], new_tags="mine")
    assert page.status == 412
    assert "nothing was saved" in page.text
    told = page.text[page.text.index("nothing was saved") : page.text.index("Conversation")]
    assert "Eve" in told and "Status: Open → Pending" in told and "Priority: Medium → High" in told
    assert "Tags: before → before , theirs" in told
    again = page.form(at)
    assert (again.value("status"), again.value("new_tags")) == ("resolved", "mine")
    assert _now(key, at)["status"] == "pending"
    assert visitor.submit(again).status == 200
    now = _now(key, at)
    assert (now["status"], now["tags"], now["priority"]) == (
        "resolved",
        ["theirs", "mine"],
        "high",
    )


@for_each(
    ("field", "value"),
    [
        ("status", "gone"),
        ("priority", "dire"),
        ("assignee_id", "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
        ("subject", " "),
        ("subject", "s" * 256),
        ("new_tags", "t" * 65),
    ],
)
def test_an_error_is_shown_beside_its_field(
    visitor: Visitor, key: Key, at: str, field: str, value: str
) -> None:
    page = visitor.submit(visitor.get(at).form(at), **{field: value})
    assert page.status == 422
    named = "tags" if field == "new_tags" else field
    assert ("p", "id", f"{named}-fault") in page.attributes
    assert _now(key, at)["version"] == 1


def test_a_way_to_send_that_is_remembered_of_replies_is_not_for_notes(
    visitor: Visitor, key: Key, at: str
) -> None:
    another = f"/tickets/{key.ticket(subject='Another')['id']}"
    form = visitor.get(at).form(f"{at}/reply")
    visitor.submit(form, body="Done", status="resolved", remember="yes")
    form = visitor.get(another).form(f"{another}/reply")
    assert ("status", "resolved") in form.fields
    visitor.submit(form, body="Only for us", is_internal="yes", remember="yes")
    assert (_now(key, at)["status"], _now(key, another)["status"]) == ("resolved", "open")
    form = visitor.get(another).form(f"{another}/reply")
    assert ("status", "resolved") in form.fields


def test_the_page_shows_the_customer_and_their_other_tickets(
    visitor: Visitor, key: Key, at: str, ticket: dict[str, Any]
) -> None:
    assert "customer's first ticket" in visitor.get(at).text
    others = [
        key.ticket(subject=f"Other {n}", customer={"email": "maria@example.test"}) for n in range(6)
    ]
    key.ticket(subject="Of somebody else")
    page = visitor.get(at)
    assert "maria@example.test" in page.text and "Of somebody else" not in page.text
    shown = [link for link in page.links if re.fullmatch(r"/tickets/[0-9a-f-]{36}", link)]
    assert shown == [f"/tickets/{each['id']}" for each in reversed(others[1:])]
    assert f"/customers/{ticket['customer']['id']}" in page.links
    made_at = ticket["created_at"]
    assert f"Customer since {made_at[:7]}" in page.text
    assert page.text.count(f" {made_at[:10]}") >= 5


def _rename(tenant: Tenant, at: str, count: int) -> None:
    caller = Caller(tenant.id, Actor("api_key", "k", "Shop"), frozenset(), "")
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for number in range(count):
            change = TicketChange(external_id=f"number-{number}")
            ticket_id = at.rpartition("/")[2]
            await actions.change_ticket(
                tx, caller, ticket_id, change, if_match=None, now_us=now_us + number
            )

    tenant.service.write(work)


def test_the_history_names_users_and_values(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    _, eve = colleague(tenant, "Eve")
    visitor.submit(visitor.get(at).form(at), assignee_id=eve)
    key.patch(f"/api/v1/external{at}", {"subject": "New words", "custom_fields": {"a": 1}})
    page = visitor.get(at)
    assert "Assigned to: nobody → Eve" in page.text
    assert "Subject: Cracked bowls → New words" in page.text
    assert "a : none → 1" in page.text
    assert "(API key)" in page.text
    _rename(tenant, at, 60)
    assert f"{at}/history" in visitor.get(at).links
    first = visitor.get(f"{at}/history")
    assert "number-59" in first.text and "Eve" not in first.text
    (older,) = [link for link in first.links if "before=" in link]
    last = visitor.get(older)
    assert "Assigned to: nobody → Eve" in last.text
    assert f"{at}/history?before=" in last.links


def test_the_history_shows_objects_as_json(visitor: Visitor, key: Key, at: str) -> None:
    key.patch(f"/api/v1/external{at}", {"custom_fields": {"firm": ["Müller & Söhne <Ulm>"]}})
    told = 'firm : none → ["Müller & Söhne <Ulm>"]'
    assert told in visitor.get(at).text


def test_with_many_users_the_reader_and_the_assignee_are_still_options(
    visitor: Visitor, at: str, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, eve = colleague(tenant, "Eve")
    tenant.user(name="Newest")
    visitor.submit(visitor.get(at).form(at), assignee_id=eve)
    monkeypatch.setattr(view_model, "ASSIGNEES", 1)
    page = visitor.get(at)
    assert "Assigned to: nobody → Eve" in page.text
    assert "Assigned to: nobody → Eve" in visitor.get(f"{at}/history").text
    assert "Nobody Ada Eve Newest" in page.text
    assert page.form(at).value("assignee_id") == eve


def _tell(visitor: Visitor, at: str) -> str:
    token = visitor.get(at).form(f"{at}/reply").value("form_token")
    return visitor.post(_news(visitor.get(at)), [("form_token", token)]).text


def _news(page: Page) -> str:
    """The URL that a page polls for changes."""
    (address,) = [value for _, name, value in page.attributes if name == "data-news"]
    return address


def test_the_page_names_others_who_are_writing_a_reply(
    visitor: Visitor, at: str, tenant: Tenant
) -> None:
    other, _ = colleague(tenant, "Eve")
    assert _tell(visitor, at) == ""
    assert "is replying to" not in visitor.get(at).text
    assert "Ada\u2069 is replying to" in other.get(at).text
    assert _tell(other, at) == "\u2068Ada\u2069 is replying to this ticket."
    _send_reply(visitor, at, body="Done")
    assert "is replying to" not in other.get(at).text


def test_a_reply_whose_response_was_lost_is_stored_once(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    for _ in range(2):
        page = visitor.submit(form, body="Sent twice", status="pending")
        assert (page.status, "was not sent" in page.text) == (200, False)
    assert [each["body"] for each in _replies(key, at)] == ["Sent twice"]
    assert visitor.submit(form, body="Another").status == 412


def test_the_same_text_of_somebody_else_is_another_reply(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    _send_reply(colleague(tenant, "Eve")[0], at, body="Done")
    assert visitor.submit(form, body="Done").status == 412
    assert len(_replies(key, at)) == 1


def test_an_open_page_says_that_the_ticket_has_changed(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    address = _news(visitor.get(at))
    assert visitor.get(address).text == ""
    key.post(f"{API}/{at.rpartition('/')[2]}/replies", {"body": "Any news?"})
    page = visitor.get(address)
    assert (page.text, page.links) == ("This ticket has changed. Show it", [at])
    assert visitor.get(_news(visitor.get(at))).text == ""
    assert "is replying to" not in colleague(tenant, "Eve")[0].get(at).text


def test_an_agent_without_heartbeats_is_no_longer_writing(own_service: Service) -> None:
    tenant = own_service.tenant()
    at = f"/tickets/{tenant.key().ticket()['id']}"
    _tell(logged_in(tenant), at)
    other, _ = colleague(tenant, "Eve")
    own_service.clock.advance(59)
    assert "is replying to" in other.get(at).text
    own_service.clock.advance(3)
    assert "is replying to" not in other.get(at).text


@for_each("behind", ["", "/history", "/reply", "/answering"])
def test_an_unknown_or_foreign_ticket_is_not_found(
    visitor: Visitor, service: Service, behind: str
) -> None:
    foreign = f"/tickets/{service.tenant().key().ticket()['id']}"
    for path in (NOWHERE, foreign, "/tickets/nonsense"):
        assert visitor.get(f"{path}{behind}").status == 404
        assert "Page not found" in visitor.get(f"{path}{behind}").text


def test_forms_for_a_foreign_ticket_are_not_found(
    visitor: Visitor, service: Service, at: str
) -> None:
    key = service.tenant().key()
    foreign = f"/tickets/{key.ticket()['id']}"
    page = visitor.get(at)
    reply, change = page.form(f"{at}/reply"), page.form(at)
    fields = [*((n, v) for n, v in reply.fields if n != "body"), ("body", "x")]
    assert visitor.post(f"{foreign}/reply", fields).status == 404
    assert visitor.post(f"{foreign}/answering", fields).status == 404
    assert visitor.post(foreign, change.fields).status == 404
    assert (_replies(key, foreign), _now(key, foreign)["version"]) == ([], 1)


def test_hostile_text_is_shown_as_text(visitor: Visitor, key: Key, tenant: Tenant) -> None:
    for text in HOSTILE_TEXTS:
        customer = {"email": f"c{abs(hash(text))}@example.test", "name": text}
        ticket = key.ticket(subject=text, description=text, tags=[text], customer=customer)
        at = f"/tickets/{ticket['id']}"
        tenant.key(name=text).patch(f"/api/v1/external{at}", {"external_id": text})
        key.post(f"/api/v1/external{at}/replies", {"body": text})
        page = _send_reply(visitor, at, body=text)
        for shown in (page, visitor.get(f"{at}/history")):
            assert shown.status == 200
            assert " ".join(text.split()) in shown.text
            assert shown.tags.count("script") == 1
            assert "img" not in [tag for tag in shown.tags if tag == "img"][1:]
            assert_page_is_secure(shown)


def test_line_breaks_and_links_are_shown(visitor: Visitor, key: Key) -> None:
    text = "One line\n  and another: https://example.test/a?b=1&c=2."
    page = visitor.get(f"/tickets/{key.ticket(description=text)['id']}")
    assert "One line<br>and another: " in page.answer.text
    assert "https://example.test/a?b=1&c=2" in page.links
    assert ("a", "rel", "nofollow noopener noreferrer") in page.attributes


def test_a_new_log_in_leads_back_to_the_ticket(visitor: Visitor, at: str) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    visitor.cookies.clear()
    page = visitor.submit(form, body="Kept in the browser")
    assert page.form("/log-in").value("next") == at
