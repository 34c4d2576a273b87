"""Who can be assigned to a ticket (spec decision 7)."""

from collections.abc import Callable

import pytest

from tests.support.client import Key
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"


def foreign(tenant: Tenant) -> str:
    return tenant.service.tenant().user("agent")


def inactive(tenant: Tenant) -> str:
    user_id = tenant.user("agent")
    tenant.deactivate(user_id)
    return user_id


@pytest.mark.parametrize(
    "unknown",
    [
        foreign,
        inactive,
        lambda tenant: "",
        lambda tenant: "garbage",
        lambda tenant: "00000000-0000-7000-8000-000000000000",
    ],
    ids=["foreign", "inactive", "empty", "garbage", "nobody"],
)
def test_a_ticket_is_assigned_to_active_users_of_the_tenant_only(
    key: Key, tenant: Tenant, unknown: Callable[[Tenant], str]
) -> None:
    ticket = key.ticket()
    new = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    named = {"assignee_id": unknown(tenant)}
    for response in (
        key.post(TICKETS, new | named),
        key.patch(f"{TICKETS}/{ticket['id']}", {"subject": "Other"} | named),
    ):
        assert response.status_code == 422
        (fault,) = response.json()["errors"]
        assert (fault["pointer"], fault["code"]) == ("/assignee_id", "unknown_assignee")
    assert key.walk(TICKETS) == [ticket]


def test_every_listed_agent_can_be_assigned(key: Key, tenant: Tenant) -> None:
    tenant.user("agent")
    agents = key.walk("/api/v1/external/agents")
    assert len(agents) == 2
    for agent in agents:
        assert key.ticket(assignee_id=agent["id"])["assignee_id"] == agent["id"]


def test_a_deactivated_assignee_stays_until_another_is_set(key: Key, tenant: Tenant) -> None:
    agent = tenant.user("agent")
    ticket = key.ticket(assignee_id=agent)
    tenant.deactivate(agent)
    response = key.patch(f"{TICKETS}/{ticket['id']}", {"subject": "Other", "assignee_id": agent})
    assert (response.status_code, response.json()["data"]["assignee_id"]) == (200, agent)
