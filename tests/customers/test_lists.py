"""Lists of customers (spec decision 8)."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service

CUSTOMERS = "/api/v1/external/customers"
NAMES = ("email", "external_id", "updated_after")


@pytest.fixture(scope="module")
def shelf(shared_service: Service) -> tuple[Key, list[dict[str, Any]]]:
    """A tenant with customers, and the customers in order of creation."""
    key: Key = shared_service.tenant().key()
    made = [key.customer(f"C{n}@example.test", external_id="xy"[n % 2]) for n in range(9)]
    for customer in made[::3]:
        key.patch(f"{CUSTOMERS}/{customer['id']}", {"name": "changed"})
    return key, [key.get(f"{CUSTOMERS}/{one['id']}").json()["data"] for one in made]


@for_each("chosen", list(product((False, True), repeat=3)), ids=str)
@for_each("sort", ["", "desc", "asc"])
def test_filters_are_joined_by_and_in_both_orders(
    shelf: tuple[Key, list[dict[str, Any]]], chosen: tuple[bool, ...], sort: str
) -> None:
    key, rows = shelf
    # The last change but one: all that changed since are the two of it and after it.
    since = sorted(row["updated_at"] for row in rows)[-2]
    tests: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
        "email": ("c6@EXAMPLE.test", lambda row: row["email"] == "C6@example.test"),
        "external_id": ("x", lambda row: row["external_id"] == "x"),
        "updated_after": (since, lambda row: row["updated_at"] >= since),
    }
    used = {name: tests[name] for name, is_used in zip(NAMES, chosen, strict=True) if is_used}
    expected = [row for row in rows if all(fits(row) for _, fits in used.values())]
    assert expected
    query = [f"{name}={value}" for name, (value, _) in used.items()]
    query += [f"sort={sort}"] if sort else []
    found = key.walk(f"{CUSTOMERS}?{'&'.join(query)}" if query else CUSTOMERS)
    assert found == (expected if sort == "asc" else expected[::-1])


@pytest.mark.parametrize(
    "query", ["email=nobody@example.test", "external_id=X", "updated_after=2999-01-01T00:00:00Z"]
)
def test_a_filter_without_matches_finds_nothing(
    shelf: tuple[Key, list[dict[str, Any]]], query: str
) -> None:
    response = shelf[0].get(f"{CUSTOMERS}?{query}")
    assert (response.status_code, response.json()["data"]) == (200, [])


def test_customers_of_another_tenant_are_not_listed(
    shelf: tuple[Key, list[dict[str, Any]]], key: Key
) -> None:
    assert key.walk(CUSTOMERS) == []
    assert key.walk(f"{CUSTOMERS}?email=C6@example.test") == []


@pytest.mark.parametrize(
    "query", ["sort_by=updated_at", "sort=up", "email=", "external_id=", "updated_after=x"]
)
def test_values_outside_the_set_are_refused(key: Key, query: str) -> None:
    response = key.get(f"{CUSTOMERS}?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")
