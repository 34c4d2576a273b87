"""Macros on the page of a ticket: the preview, and the composer without scripts."""

from typing import Any

import pytest

from sealdesk import ids
from tests.support.client import Key, Person
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor
from tests.support.service import Service, Tenant
from tests.tickets.macros import made

TICKETS = "/api/v1/external/tickets"
MARIA = {"email": "maria@example.test", "name": "Maria Lindgren"}
BODY = "Hello {{customer.first_name}},\nyour #{{ticket.number}} is with {{agent.first_name}}."


def at(ticket: dict[str, Any], behind: str = "") -> str:
    return f"/tickets/{ticket['id']}{behind}"


def put_in(visitor: Visitor, ticket: dict[str, Any], macro_id: str, **typed: str) -> Page:
    """Press "Put in" with this macro chosen; the page that follows."""
    form = visitor.get(at(ticket)).form(at(ticket, "/reply"))
    fields = [(name, value) for name, value in form.fields if name not in typed]
    sent = [*fields, *typed.items(), ("macro", macro_id)]
    return visitor.post(at(ticket, "/macro"), sent)


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    return shown


def replies(key: Key, ticket: dict[str, Any]) -> list[str]:
    found = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    return [each["body"] for each in found]


def agent_id(tenant: Tenant) -> str:
    return str(tenant.admin().get("/api/v1/auth/me").json()["data"]["id"])


def test_a_preview_shows_the_text_for_this_ticket_and_what_is_set(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    ticket = key.ticket(customer=MARIA, tags=["vip"], priority="high")
    macro = made(admin, body=BODY, status="pending", priority="high", tags=["vip", "refund"])
    page = visitor.get(at(ticket, f"/macro/{macro['id']}"))
    assert f"Hello Maria, your #{ticket['number']} is with" in page.text
    assert "Status: Pending" in page.text and "Tag: refund" in page.text
    # The ticket has these already.
    assert "Priority" not in page.text and "vip" not in page.text
    assert read(key, ticket) == ticket


def test_a_customer_without_a_name_is_called_by_the_address(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    ticket = key.ticket(customer={"email": "maria@example.test"})
    macro = made(admin, body="Hello {{customer.first_name}}, {{customer.name}}")
    page = visitor.get(at(ticket, f"/macro/{macro['id']}"))
    assert "Hello maria@example.test, maria@example.test" in page.text


def test_putting_in_sends_and_saves_nothing(
    visitor: Visitor, admin: Person, key: Key, tenant: Tenant
) -> None:
    ticket = key.ticket(customer=MARIA, tags=["vip"])
    fields = {"status": "pending", "priority": "urgent", "assignee_id": "me", "tags": ["refund"]}
    macro = made(admin, body=BODY, **fields)
    page = put_in(visitor, ticket, macro["id"], body="First of all, thanks.", is_internal="yes")
    form = page.form(at(ticket, "/reply"))
    text = form.value("body")
    assert text.startswith("First of all, thanks.\n\nHello Maria,\nyour #")
    assert (form.value("status"), form.value("is_internal")) == ("pending", "yes")
    assert "Goes along with your reply." in page.text
    assert (read(key, ticket), replies(key, ticket)) == (ticket, [])
    visitor.submit(form)
    sent = read(key, ticket)
    assert replies(key, ticket) == [text]
    assert {name: sent[name] for name in ("status", "priority", "assignee_id", "tags")} == {
        **fields, "assignee_id": agent_id(tenant), "tags": ["vip", "refund"],
    }  # fmt: skip


def test_what_is_unticked_does_not_go_along(visitor: Visitor, admin: Person, key: Key) -> None:
    ticket = key.ticket(tags=["vip"])
    macro = made(admin, priority="urgent", assignee_id="me", tags=["refund"], status="pending")
    form = put_in(visitor, ticket, macro["id"]).form(at(ticket, "/reply"))
    boxes = ("set_priority", "set_assignee_id", "set_tags")
    kept = [(name, value) for name, value in form.fields if name not in boxes]
    visitor.post(form.action, [*(each for each in kept if each[0] != "status"), ("status", "")])
    sent = read(key, ticket)
    same = ("status", "priority", "assignee_id")
    assert {name: sent[name] for name in same} == {name: ticket[name] for name in same}
    assert len(replies(key, ticket)) == 1


def test_what_goes_along_is_kept_when_the_reply_is_refused(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    ticket = key.ticket()
    macro = made(admin, priority="urgent", tags=["refund"])
    form = put_in(visitor, ticket, macro["id"]).form(at(ticket, "/reply"))
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Somebody was faster"})
    page = visitor.submit(form)
    assert page.status == 412
    visitor.submit(page.form(at(ticket, "/reply")))
    sent = read(key, ticket)
    assert (sent["priority"], sent["tags"]) == ("urgent", ["refund"])


def test_a_second_macro_adds_to_the_first(visitor: Visitor, admin: Person, key: Key) -> None:
    ticket = key.ticket(tags=["vip"])
    first = made(admin, body="One", tags=["a"], priority="low")
    second = made(admin, body="Two", shortcut="two", tags=["b"])
    form = put_in(visitor, ticket, first["id"]).form(at(ticket, "/reply"))
    sent = [each for each in form.fields if each[0] != "macro"]
    page = visitor.post(at(ticket, "/macro"), [*sent, ("macro", second["id"])])
    form = page.form(at(ticket, "/reply"))
    assert form.value("body") == "One\n\nTwo"
    visitor.submit(form)
    assert (read(key, ticket)["tags"], read(key, ticket)["priority"]) == (["vip", "a", "b"], "low")


def test_a_deactivated_assignee_is_named_and_left_out(
    visitor: Visitor, admin: Person, key: Key, tenant: Tenant
) -> None:
    ticket, agent = key.ticket(), tenant.user("agent", name="Bo <b>Berg</b>")
    macro = made(admin, assignee_id=agent, priority="urgent")
    tenant.service.run(f"UPDATE users SET is_active = FALSE WHERE id = '{agent}'")
    said = "The macro assigns to Bo <b>Berg</b>, who is deactivated. The assignee stays as it is."
    assert said in visitor.get(at(ticket, f"/macro/{macro['id']}")).text
    page = put_in(visitor, ticket, macro["id"])
    assert said in page.text
    visitor.submit(page.form(at(ticket, "/reply")))
    sent = read(key, ticket)
    assert (sent["assignee_id"], sent["priority"]) == (None, "urgent")


def test_a_macro_that_was_deleted_meanwhile_leaves_the_text(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    ticket, macro = key.ticket(), made(admin)
    made(admin, shortcut="other")
    for gone in (ids.mint(1), ""):
        page = put_in(visitor, ticket, gone, body="My text")
        assert page.status == 404
        assert page.form(at(ticket, "/reply")).value("body") == "My text"
        assert "Choose a macro that still exists. Your text is kept." in page.text
    assert visitor.get(at(ticket, f"/macro/{ids.mint(1)}")).status == 404
    assert visitor.get(f"/tickets/{ids.mint(1)}/macro/{macro['id']}").status == 404


def test_a_macro_of_another_desk_is_neither_shown_nor_put_in(
    visitor: Visitor, key: Key, service: Service
) -> None:
    ticket = key.ticket()
    theirs = made(service.tenant("Elsewhere").admin(), name="Foreign", body="Foreign text")
    assert "Foreign" not in visitor.get(at(ticket)).answer.text
    assert visitor.get(at(ticket, f"/macro/{theirs['id']}")).status == 404
    page = put_in(visitor, ticket, theirs["id"], body="My text")
    assert (page.status, "Foreign" in page.answer.text) == (404, False)


def test_agents_use_macros(tenant: Tenant, admin: Person, key: Key) -> None:
    ticket, macro = key.ticket(), made(admin, body="Yours, {{agent.name}}")
    email = f"bo.{tenant.id}@example.test"
    tenant.user("agent", email, "Bo Berg")
    agent = Visitor(tenant.service)
    agent.log_in(email)
    assert "Refund ;refund" in agent.get(at(ticket)).text
    page = put_in(agent, ticket, macro["id"])
    assert page.form(at(ticket, "/reply")).value("body") == "Yours, Bo Berg"


def test_a_desk_without_macros_has_no_control_for_them(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    ticket = key.ticket()
    control = ("div", "data-macros", f"{at(ticket)}/macro/")
    assert control not in visitor.get(at(ticket)).attributes
    made(admin)
    assert control in visitor.get(at(ticket)).attributes


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_are_harmless_in_the_composer(
    visitor: Visitor, admin: Person, key: Key, text: str
) -> None:
    ticket = key.ticket(subject=text[:255], customer={"email": "x@example.test", "name": text})
    plain = text.replace("{{", "{ {")
    macro = made(admin, name=text, tags=[text], body=f"{plain} {{{{customer.name}}}}")
    for page in (visitor.get(at(ticket)), put_in(visitor, ticket, macro["id"])):
        assert_page_is_secure(page)
        assert " ".join(text.split()) in page.text
    fragment = visitor.get(at(ticket, f"/macro/{macro['id']}"))
    assert {*fragment.tags} <= {"div", "p", "ul", "li", "bdi"}
    assert f"Tag: {' '.join(text.split())}" in fragment.text
