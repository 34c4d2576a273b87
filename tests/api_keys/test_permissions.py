"""The permissions of each external endpoint, tested with many sets (spec decision 4)."""

import re
from itertools import chain, combinations

import pytest

from sealdesk.api_keys.permissions import PERMISSIONS
from sealdesk.routes import ROUTES
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant


def _by_key(resource: str, *rows: tuple[str, str]) -> dict[tuple[str, str], set[str]]:
    """What the routes of a resource need. rows: each method and path behind the resource's."""
    return {
        (method, f"/api/v1/external/{resource}{path}"): {
            f"{resource}:{'read' if method == 'GET' else 'write'}"
        }
        for method, path in rows
    }


# The table of spec decision 4, written out: the code must not be its own judge.
NEEDS: dict[tuple[str, str], set[str]] = {
    ("GET", "/api/v1/external/tickets/{ticket_id}/participants"): {"tickets:read", "replies:read"},
    ("PUT", "/api/v1/external/tickets/{ticket_id}/participants"): {
        "tickets:write",
        "replies:write",
    },
    ("GET", "/api/v1/external/tickets"): {"tickets:read"},
    ("POST", "/api/v1/external/tickets"): {"tickets:write"},
    ("POST", "/api/v1/external/tickets/bulk"): {"tickets:write"},
    ("PATCH", "/api/v1/external/tickets/bulk"): {"tickets:write"},
    ("GET", "/api/v1/external/tickets/{id}"): {"tickets:read"},
    ("PATCH", "/api/v1/external/tickets/{id}"): {"tickets:write"},
    ("GET", "/api/v1/external/tickets/{ticket_id}/replies"): {"tickets:read", "replies:read"},
    ("POST", "/api/v1/external/tickets/{ticket_id}/replies"): {"tickets:write", "replies:write"},
    ("POST", "/api/v1/external/tickets/{id}/merge"): {"tickets:write"},
    ("DELETE", "/api/v1/external/tickets/{id}/merge"): {"tickets:write"},
    ("POST", "/api/v1/external/tickets/{id}/split"): {"tickets:write"},
    ("POST", "/api/v1/external/tickets/{id}/rating-link"): {"tickets:write"},
    ("GET", "/api/v1/external/reports"): {"tickets:read"},
    ("GET", "/api/v1/external/reports/tickets"): {"tickets:read"},
    ("GET", "/api/v1/external/tickets/{ticket_id}/links"): {"tickets:read"},
    ("POST", "/api/v1/external/tickets/{ticket_id}/links"): {"tickets:write"},
    ("DELETE", "/api/v1/external/tickets/{ticket_id}/links/{other_id}"): {"tickets:write"},
    ("GET", "/api/v1/external/tickets/{ticket_id}/followers"): {"tickets:read"},
    ("POST", "/api/v1/external/tickets/{ticket_id}/followers"): {"tickets:write"},
    ("DELETE", "/api/v1/external/tickets/{ticket_id}/followers/{user_id}"): {"tickets:write"},
    ("POST", "/api/v1/external/attachments"): {"tickets:write", "replies:write"},
    ("GET", "/api/v1/external/attachments/{id}"): {"tickets:read", "replies:read"},
    ("GET", "/api/v1/external/attachments/{id}/content"): {"tickets:read", "replies:read"},
    ("GET", "/api/v1/external/search"): {"tickets:read"},
    ("GET", "/api/v1/external/customers"): {"customers:read"},
    ("POST", "/api/v1/external/customers"): {"customers:write"},
    ("PUT", "/api/v1/external/customers/by-external-id/{external_id}"): {"customers:write"},
    ("GET", "/api/v1/external/customers/{id}"): {"customers:read"},
    ("PATCH", "/api/v1/external/customers/{id}"): {"customers:write"},
    ("DELETE", "/api/v1/external/customers/{id}"): {"customers:write"},
    ("POST", "/api/v1/external/customers/{id}/merge"): {"customers:write"},
    ("DELETE", "/api/v1/external/customers/{id}/merge"): {"customers:write"},
    ("POST", "/api/v1/external/customers/{id}/erase"): {"customers:erase"},
    ("GET", "/api/v1/external/customers/{id}/erasure"): {"customers:erase"},
    ("GET", "/api/v1/external/agents"): {"tickets:read"},
    ("GET", "/api/v1/external/teams"): {"tickets:read"},
    ("GET", "/api/v1/external/events"): {"tickets:read", "replies:read", "customers:read"},
    ("GET", "/api/v1/external/whoami"): set(),
    ("GET", "/api/v1/external/test-clock"): set(),
    ("PUT", "/api/v1/external/test-clock"): {"tickets:write"},
    **_by_key(
        "webhooks",
        ("GET", ""),
        ("POST", ""),
        ("GET", "/{id}"),
        ("PATCH", "/{id}"),
        ("DELETE", "/{id}"),
        ("POST", "/{id}/rotate-secret"),
        ("POST", "/{id}/redeliver-failed"),
        ("POST", "/{id}/retry-now"),
        ("POST", "/{id}/test"),
        ("GET", "/{id}/deliveries"),
        ("GET", "/{id}/deliveries/{delivery_id}"),
        ("POST", "/{id}/deliveries/{delivery_id}/redeliver"),
        ("POST", "/{id}/replay"),
        ("GET", "/{id}/replays"),
    ),
    **_by_key(
        "rules",
        ("GET", ""),
        ("POST", ""),
        ("GET", "/{id}"),
        ("PATCH", "/{id}"),
        ("DELETE", "/{id}"),
        ("GET", "/{id}/dry-run"),
    ),
}
UNKNOWN = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"
# None, each, all but one, and all; and for each route all that it does not need. Where more
# permissions never allow less, the single ones and those tell each rule from every other.
SIZES = (0, 1, len(PERMISSIONS) - 1, len(PERMISSIONS))
SETS = list(chain.from_iterable(combinations(PERMISSIONS, size) for size in SIZES))


def _without(needed: set[str]) -> tuple[str, ...]:
    return tuple(name for name in PERMISSIONS if name not in needed)


@pytest.fixture(scope="module")
def keys(service: Service) -> dict[tuple[str, ...], Key]:
    """A key for each of the sets of permissions."""
    tenant = service.tenant()
    sets = {*SETS, *map(_without, NEEDS.values())}
    return {names: tenant.key(permissions=list(names)) for names in sets}


def test_every_external_route_is_in_the_table() -> None:
    external = {(r.method, r.path) for r in ROUTES if r.path.startswith("/api/v1/external/")}
    assert external == NEEDS.keys()


@for_each(("method", "path"), NEEDS)
def test_exactly_the_keys_with_a_needed_permission_pass(
    keys: dict[tuple[str, ...], Key], method: str, path: str
) -> None:
    needed = NEEDS[method, path]
    target = re.sub(r"\{\w+\}", UNKNOWN, path)
    for names in (*SETS, _without(needed)):
        response = keys[names].call(
            method, target, {} if method in ("POST", "PUT", "PATCH") else None
        )
        may = not needed or not needed.isdisjoint(names)
        passed = "insufficient_permissions" not in response.text
        assert passed == may, f"{names}: {response.text}"


def test_the_error_for_a_missing_permission_names_needed_and_granted_ones(tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:read", "tickets:read"])
    response = key.post(f"/api/v1/external/tickets/{UNKNOWN}/replies", {"body": "Hello"})
    assert response.status_code == 403
    assert response.json()["code"] == "insufficient_permissions"
    assert response.json()["required"] == ["tickets:write", "replies:write"]
    assert response.json()["granted"] == ["tickets:read", "customers:read"]


def test_a_missing_permission_comes_before_any_look_up(tenant: Tenant) -> None:
    ticket = tenant.key().ticket()
    blind = tenant.key(permissions=["customers:read"])
    responses = [blind.get(f"/api/v1/external/tickets/{i}") for i in (ticket["id"], UNKNOWN)]
    assert [response.json()["code"] for response in responses] == ["insufficient_permissions"] * 2


def test_writing_tickets_covers_the_customer_inside(tenant: Tenant) -> None:
    ticket = tenant.key(permissions=["tickets:write"]).ticket()
    assert ticket["customer"]["email"] == "customer@example.test"
