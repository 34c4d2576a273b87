"""Notifications: who is told of what, the list, and the bell."""

from typing import Any

import pytest

from sealdesk.tickets.notifications import store
from tests.support.client import Key
from tests.support.live import live
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

API = "/api/v1/external/tickets"
LIST = "/notifications"


class Agent:
    """An agent at a browser."""

    def __init__(self, tenant: Tenant, name: str) -> None:
        email = f"{name.lower()}.of.{tenant.id}@example.test"
        self.id = tenant.user("agent", email, name)
        self.visitor = Visitor(tenant.service)
        self.visitor.log_in(email)

    def bell(self) -> str:
        page = self.visitor.get("/customers")
        (count,) = [value for _, name, value in page.attributes if name == "data-unread"]
        return count

    def notifications(self) -> str:
        return self.visitor.get(LIST).text


@pytest.fixture
def ada(tenant: Tenant) -> Agent:
    return Agent(tenant, "Ada")


@pytest.fixture
def eve(tenant: Tenant) -> Agent:
    return Agent(tenant, "Eve")


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(
        subject="Cracked bowls", customer={"email": "m@example.test", "name": "Maria"}
    )


def assign(by: Agent, ticket: dict[str, Any], user_id: str) -> Page:
    at = f"/tickets/{ticket['id']}"
    return by.visitor.submit(by.visitor.get(at).form(at), assignee_id=user_id)


def write(by: Agent, ticket: dict[str, Any], body: str, **fields: str) -> None:
    at = f"/tickets/{ticket['id']}"
    page = by.visitor.submit(by.visitor.get(at).form(f"{at}/reply"), body=body, **fields)
    assert page.status == 200


def customer_replies(key: Key, ticket: dict[str, Any]) -> None:
    new = {"body": "And now?", "author": {"type": "customer"}}
    assert key.post(f"{API}/{ticket['id']}/replies", new).status_code == 201


def test_an_assignment_by_somebody_else_is_told(
    ada: Agent, eve: Agent, ticket: dict[str, Any]
) -> None:
    assign(ada, ticket, eve.id)
    assert f"Ada has assigned a ticket to you: #{ticket['number']} Cracked bowls" in (
        eve.notifications()
    )
    assert (eve.bell(), ada.bell()) == ("1", "0")


def test_a_new_ticket_that_is_assigned_is_told(eve: Agent, key: Key) -> None:
    key.ticket(assignee_id=eve.id)
    assert "test has assigned a ticket to you" in eve.notifications()


def test_ones_own_assignment_is_not_told(ada: Agent, ticket: dict[str, Any]) -> None:
    assign(ada, ticket, ada.id)
    assert ada.bell() == "0"


def test_a_reply_of_the_customer_is_told_to_the_assignee_only(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    customer_replies(key, ticket)
    assign(eve, ticket, eve.id)
    customer_replies(key, ticket)
    write(ada, ticket, "From a colleague")
    assert eve.notifications().count("Maria has replied") == 1
    assert (eve.bell(), ada.bell()) == ("1", "0")


def test_a_mention_is_told_also_in_a_note(ada: Agent, eve: Agent, ticket: dict[str, Any]) -> None:
    write(ada, ticket, "@Eve please look, and so do I, @Ada.", is_internal="yes")
    assert "Ada has mentioned you" in eve.notifications()
    assert (eve.bell(), ada.bell()) == ("1", "0")


def test_of_two_people_of_one_name_the_one_whose_address_is_given_is_told(
    tenant: Tenant, ada: Agent, eve: Agent, ticket: dict[str, Any]
) -> None:
    tenant.user("agent", f"another.of.{tenant.id}@example.test", "Eve")
    label = f"Eve (eve.of.{tenant.id}@example.test)"
    assert label in ada.visitor.get("/tickets/people?q=eve").text
    write(ada, ticket, "@Eve could be anybody.", is_internal="yes")
    assert eve.bell() == "0"
    write(ada, ticket, f"@{label} is meant.", is_internal="yes")
    assert eve.bell() == "1"
    page = ada.visitor.get(f"/tickets/{ticket['id']}")
    assert all(f"{each}</" in page.answer.text for each in (f">@{label}", f">{label}"))


def test_a_mention_inside_code_or_a_link_is_not_told(
    ada: Agent, eve: Agent, ticket: dict[str, Any]
) -> None:
    write(ada, ticket, "Run `@Eve` as in [@Eve](https://x.test) and https://x.test/@Eve")
    assert eve.bell() == "0"


def test_customers_mention_nobody(eve: Agent, key: Key, ticket: dict[str, Any]) -> None:
    new = {"body": "@Eve help", "author": {"type": "customer"}}
    key.post(f"{API}/{ticket['id']}/replies", new)
    assert eve.bell() == "0"


def test_nobody_of_another_tenant_is_mentioned(
    service: Service, ada: Agent, ticket: dict[str, Any]
) -> None:
    other = Agent(service.tenant("Other"), "Zoe")
    write(ada, ticket, "@Zoe please look")
    assert other.bell() == "0"


def test_opening_a_notification_marks_it_as_read_and_leads_to_the_ticket(
    ada: Agent, eve: Agent, ticket: dict[str, Any]
) -> None:
    assign(ada, ticket, eve.id)
    write(ada, ticket, "@Eve please")
    form = next(f for f in eve.visitor.get(LIST).forms if f.action.endswith("/open"))
    eve.visitor.submit(form)
    assert eve.visitor.at == f"/tickets/{ticket['id']}"
    assert eve.bell() == "1"


def test_all_that_were_shown_are_marked_as_read(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    assign(ada, ticket, eve.id)
    form = eve.visitor.get(LIST).form(f"{LIST}/read")
    customer_replies(key, ticket)
    assert "New" in eve.visitor.submit(form).text
    assert eve.bell() == "1"


def test_the_notification_of_somebody_else_does_not_exist(
    ada: Agent, eve: Agent, ticket: dict[str, Any]
) -> None:
    assign(ada, ticket, eve.id)
    form = next(f for f in eve.visitor.get(LIST).forms if f.action.endswith("/open"))
    own = ada.visitor.get(LIST)
    token = next(f.value("form_token") for f in own.forms if f.action == "/log-out")
    assert ada.visitor.post(form.action, [("form_token", token)]).status == 404
    assert "Cracked bowls" not in own.text
    assert eve.bell() == "1"


def test_a_user_has_a_bounded_number_of_them(
    eve: Agent, key: Key, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_OF_USER", 2)
    numbers = [key.ticket(assignee_id=eve.id)["number"] for _ in range(4)]
    rows = tenant.service.rows(
        "SELECT id FROM notifications WHERE tenant_id = :t AND user_id = :u LIMIT 10",
        t=tenant.id,
        u=eve.id,
    )
    assert len(rows) == 2
    assert f"#{numbers[0]} " not in eve.notifications()


def test_an_open_page_is_told_whose_bell_rings(
    ada: Agent, eve: Agent, ticket: dict[str, Any], tenant: Tenant
) -> None:
    tenant.service.settle()
    with live(eve.visitor) as stream:
        assign(ada, ticket, eve.id)
        (message,) = stream.tickets(1)
    assert message["notified"] == [eve.id]
    fragment = eve.visitor.get(f"{LIST}/bell").text
    assert fragment.startswith("1 ") and "Ada has assigned" in fragment


def test_the_list_is_empty_at_first(tenant: Tenant) -> None:
    assert "Nothing yet" in logged_in(tenant).get(LIST).text
