"""Followers by the API: who may be read, added and removed, and what that leaves as it is."""

from typing import Any

import pytest

from sealdesk.tickets.followers import store
from tests.support.client import Key
from tests.support.service import Service, Tenant
from tests.tickets.test_notifications import Agent

TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def ada(tenant: Tenant) -> Agent:
    return Agent(tenant, "Ada")


@pytest.fixture
def eve(tenant: Tenant) -> Agent:
    return Agent(tenant, "Eve")


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(subject="Bowls")


def followers(key: Key, ticket: dict[str, Any], query: str = "") -> list[str]:
    """The names of the followers."""
    answer = key.get(f"{TICKETS}/{ticket['id']}/followers{query}")
    assert answer.status_code == 200, answer.text
    return [each["name"] for each in answer.json()["data"]]


def add(key: Key, ticket: dict[str, Any], user_id: str) -> Any:
    return key.post(f"{TICKETS}/{ticket['id']}/followers", {"user_id": user_id})


def test_followers_are_added_read_and_removed_and_the_ticket_stays_as_it_is(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    shown = {"id": ada.id, "name": "Ada", "is_active": True}
    for _ in ("first", "again"):
        assert add(key, ticket, ada.id).json()["data"] == shown
    add(key, ticket, eve.id)
    assert followers(key, ticket) == ["Ada", "Eve"]
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"})
    assert (ada.bell(), eve.bell()) == ("1", "1")
    before = key.get(f"{TICKETS}/{ticket['id']}")
    for _ in ("first", "again"):
        gone = key.delete(f"{TICKETS}/{ticket['id']}/followers/{ada.id}")
        assert (gone.status_code, gone.content) == (204, b"")
    assert followers(key, ticket) == ["Eve"]
    after = key.get(f"{TICKETS}/{ticket['id']}")
    assert (after.json()["data"], after.headers["etag"]) == (
        before.json()["data"], before.headers["etag"],
    )  # fmt: skip


def test_followers_are_listed_in_pages(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    for agent in (ada, eve):
        add(key, ticket, agent.id)
    path = f"{TICKETS}/{ticket['id']}/followers?per_page=1"
    first = key.get(path).json()
    second = key.get(f"{path}&cursor={first['meta']['next_cursor']}").json()
    names = [each["name"] for each in first["data"] + second["data"]]
    assert names == ["Ada", "Eve"] and second["meta"]["next_cursor"] is None


def test_a_deactivated_follower_is_listed_as_such_and_can_be_removed(
    tenant: Tenant, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    add(key, ticket, eve.id)
    tenant.deactivate(eve.id)
    path = f"{TICKETS}/{ticket['id']}/followers"
    assert [each["is_active"] for each in key.get(path).json()["data"]] == [False]
    key.delete(f"{path}/{eve.id}")
    assert followers(key, ticket) == []
    refused = add(key, ticket, eve.id)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/user_id")


def test_nobody_of_another_tenant_follows_and_no_ticket_of_another_tenant_is_followed(
    service: Service, ada: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    other = service.tenant("Other")
    stranger = Agent(other, "Mallory")
    assert add(key, ticket, stranger.id).status_code == 422
    theirs = other.key()
    path = f"{TICKETS}/{ticket['id']}/followers"
    add(key, ticket, ada.id)
    assert theirs.get(path).status_code == 404
    assert add(theirs, ticket, stranger.id).status_code == 404
    assert theirs.delete(f"{path}/{ada.id}").status_code == 404
    assert followers(key, ticket) == ["Ada"]


def test_a_full_ticket_takes_no_further_follower(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_FOLLOWERS", 1)
    add(key, ticket, ada.id)
    refused = add(key, ticket, eve.id)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_followers")
    assert add(key, ticket, ada.id).status_code == 201
