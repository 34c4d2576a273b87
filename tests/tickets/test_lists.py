"""Lists of tickets: filters, orders and their pages (spec decisions 7 and 9)."""

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from sealdesk import clock
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant
from tests.tickets.factories import PlannedTicket, create_tickets

TICKETS = "/api/v1/external/tickets"
STATUSES = ("open", "pending", "on_hold", "resolved")
RANKS = {"low": 1, "medium": 2, "high": 3, "urgent": 4}
FILTERS = (
    "status",
    "priority",
    "customer_id",
    "assignee_id",
    "tag",
    "external_id",
    "created_after",
    "created_before",
    "updated_after",
    "updated_before",
    "waiting",
    "due_before",
    "number",
    "customer_email",
)
SORTED_BY = ("created_at", "updated_at", "priority", "waiting_since", "due_at")
ORDERS = tuple(product(SORTED_BY, ("desc", "asc")))
COUNT = 60
# Whole seconds, so that times in queries are short to read; several tickets share each.
START_US = 1_780_000_000_000_000
STEP_US = 1_000_000

Row = dict[str, Any]


class Shelf:
    """A tenant with tickets of all kinds, and their JSON."""

    def __init__(self, tenant: Tenant) -> None:
        draw = random.Random(7)
        agents = [tenant.user("agent") for _ in range(2)]
        policy = {"name": "High", "priorities": ["high", "urgent"], "counts": "calendar"}
        promised = tenant.admin().post("/api/v1/sla-policies", {**policy, "resolution_minutes": 1})
        assert promised.is_success
        create_tickets(tenant, [self._made(draw, n, agents) for n in range(COUNT)])
        self.key = tenant.key()
        self.rows: list[Row] = self.key.walk(TICKETS, per_page=100)

    @staticmethod
    def _made(draw: random.Random, n: int, agents: list[str]) -> PlannedTicket:
        at_us = START_US + n // 4 * STEP_US
        fields = {
            "status": draw.choice(STATUSES),
            "priority": draw.choice(list(RANKS)),
            "customer": {"email": f"c{draw.randrange(3)}@example.test"},
            "assignee_id": draw.choice([None, *agents]),
            "tags": draw.sample(["a", "b", "c"], draw.randrange(3)),
            "external_id": draw.choice([None, "x", "y"]),
        }
        changed_us = draw.choice([None, at_us + draw.randrange(30) * STEP_US])
        return PlannedTicket(fields, at_us, changed_us)

    def expected(self, query: dict[str, str]) -> list[Row]:
        """The expected result: all tickets, filtered and sorted in Python."""
        sort_by = query.get("sort_by", "created_at")
        found = [row for row in self.rows if all(_fits(row, *item) for item in query.items())]
        if sort_by == "waiting_since":
            found = [row for row in found if row["waiting_since"] is not None]
        if sort_by == "due_at":
            found = [row for row in found if row["due"] is not None]
        return sorted(
            found,
            key=lambda row: (
                _sorted_by(row, sort_by),
                row["id"],
            ),
            reverse=query.get("sort") != "asc",
        )

    def values(self, draw: random.Random) -> dict[str, str]:
        """A value for each filter; most match some tickets."""
        row = draw.choice(self.rows)
        tagged = draw.choice([row for row in self.rows if row["tags"]])
        assigned = draw.choice([row for row in self.rows if row["assignee_id"]])
        return {
            "status": ",".join(draw.sample(STATUSES, draw.randint(1, 3))),
            "priority": ",".join(draw.sample(list(RANKS), draw.randint(1, 3))),
            "customer_id": row["customer"]["id"],
            "assignee_id": draw.choice([assigned["assignee_id"], "none"]),
            "tag": "&tag=".join(draw.sample(tagged["tags"], draw.randint(1, len(tagged["tags"])))),
            "external_id": draw.choice("xy"),
            "created_after": clock.iso(START_US + draw.randrange(1, 10) * STEP_US),
            "created_before": clock.iso(START_US + draw.randrange(5, 14) * STEP_US),
            "updated_after": clock.iso(START_US + draw.randrange(5, 20) * STEP_US),
            "updated_before": clock.iso(START_US + draw.randrange(8, 40) * STEP_US),
            "waiting": draw.choice(["true", "false"]),
            "due_before": clock.iso(START_US + (60 + draw.randrange(3, 14)) * STEP_US),
            "number": str(row["number"]),
            "customer_email": row["customer"]["email"].upper(),
        }


def _sorted_by(row: Row, name: str) -> Any:
    if name == "due_at":
        return row["due"]["resolution"]
    return RANKS[row["priority"]] if name == "priority" else row[name]


def _fits(row: Row, name: str, value: str) -> bool:
    tests: dict[str, Callable[[], bool]] = {
        "status": lambda: row["status"] in value.split(","),
        "priority": lambda: row["priority"] in value.split(","),
        "customer_id": lambda: row["customer"]["id"] == value,
        "assignee_id": lambda: (row["assignee_id"] or "none") == value,
        "tag": lambda: {*value.split("&tag=")} <= {*row["tags"]},
        "external_id": lambda: row["external_id"] == value,
        "created_after": lambda: row["created_at"] >= value,
        "created_before": lambda: row["created_at"] < value,
        "updated_after": lambda: row["updated_at"] >= value,
        "updated_before": lambda: row["updated_at"] < value,
        "number": lambda: str(row["number"]) == value,
        "customer_email": lambda: row["customer"]["email"] == value.lower(),
        "waiting": lambda: (row["waiting_since"] is not None) == (value == "true"),
        "due_before": lambda: row["due"] is not None and row["due"]["resolution"] < value,
        "sort_by": lambda: True,
        "sort": lambda: True,
    }
    return tests[name]()


@pytest.fixture(scope="module")
def shelf(shared_service: Service) -> Shelf:
    return Shelf(shared_service.tenant())


def target(query: dict[str, str]) -> str:
    return f"{TICKETS}?{'&'.join(f'{name}={value}' for name, value in query.items())}"


def test_the_default_order_is_newest_first(shelf: Shelf) -> None:
    times = [row["created_at"] for row in shelf.rows]
    assert len(times) == COUNT
    assert times == sorted(times, reverse=True)
    assert shelf.rows == sorted(shelf.rows, key=lambda row: row["id"], reverse=True)


@for_each(("sort_by", "sort"), ORDERS)
def test_each_order_breaks_ties_by_id_in_the_same_direction(
    shelf: Shelf, sort_by: str, sort: str
) -> None:
    query = {"sort_by": sort_by, "sort": sort}
    assert shelf.key.walk(target(query), per_page=7) == shelf.expected(query)


@for_each("name", FILTERS)
@for_each(("sort_by", "sort"), ORDERS)
def test_each_filter_works_alone_in_each_order(
    shelf: Shelf, name: str, sort_by: str, sort: str
) -> None:
    value = shelf.values(random.Random(f"{name}{sort_by}{sort}"))[name]
    query = {name: value, "sort_by": sort_by, "sort": sort}
    expected = shelf.expected(query)
    # Those of whom nobody waits are resolved, so nothing is due.
    is_contradiction = sort_by in ("waiting_since", "due_at") and value == "false"
    if name == "number" and sort_by == "due_at":  # nothing need be due on the one ticket
        is_contradiction = not expected
    assert is_contradiction == (not expected) and len(expected) < COUNT
    assert shelf.key.walk(target(query), per_page=7) == expected


@for_each("seed", range(60))
def test_filters_are_joined_by_and(shelf: Shelf, seed: int) -> None:
    draw = random.Random(seed)
    values = shelf.values(draw)
    names = draw.sample(list(values), draw.randint(2, 4))
    sort_by, sort = draw.choice(ORDERS)
    query = {**{name: values[name] for name in names}, "sort_by": sort_by, "sort": sort}
    assert shelf.key.walk(target(query), per_page=7) == shelf.expected(query)


@pytest.mark.parametrize(
    "query",
    [
        {"status": "open,pending,on_hold,resolved,closed"},
        {"priority": "low,medium,high,urgent"},
        {"status": "closed"},
        {"tag": "none"},
        {"tag": "a,b"},
        {"external_id": "X"},
        {"created_after": "2000-01-01T00:00:00Z", "created_before": "2000-01-01T00:00:00Z"},
        {"created_before": "0001-01-01T00:00:00Z"},
        {"updated_after": "0001-01-01T00:00:00Z"},
    ],
)  # fmt: skip
def test_filters_at_their_limits(shelf: Shelf, query: dict[str, str]) -> None:
    assert shelf.key.walk(target(query), per_page=100) == shelf.expected(query)


def test_created_after_includes_its_instant_and_created_before_does_not(shelf: Shelf) -> None:
    at = shelf.rows[COUNT // 2]["created_at"]
    after = shelf.key.walk(f"{TICKETS}?created_after={at}", per_page=100)
    before = shelf.key.walk(f"{TICKETS}?created_before={at}", per_page=100)
    assert after[-1]["created_at"] == at > before[0]["created_at"]
    assert after + before == shelf.rows


def test_times_may_be_given_with_any_offset(shelf: Shelf) -> None:
    utc = shelf.key.get(f"{TICKETS}?created_after=2026-05-28T20:26:45Z").json()
    local = shelf.key.get(f"{TICKETS}?created_after=2026-05-28T22:26:45%2B02:00").json()
    assert utc == local
    assert utc["data"]


@pytest.mark.parametrize("name", ["customer_id", "assignee_id"])
def test_an_unknown_or_foreign_id_finds_nothing(shelf: Shelf, service: Service, name: str) -> None:
    other = service.tenant()
    agent = other.user("agent")
    ticket = other.key().ticket(assignee_id=agent)
    foreign = {"customer_id": ticket["customer"]["id"], "assignee_id": agent}[name]
    for value in (foreign, "00000000-0000-7000-8000-000000000000"):
        response = shelf.key.get(f"{TICKETS}?{name}={value}")
        assert (response.status_code, response.json()["data"]) == (200, [])


def test_a_change_moves_the_ticket_between_filters(key: Key) -> None:
    ticket = key.ticket(tags=["a"], priority="low", external_id="x")
    change = {"status": "pending", "priority": "high", "tags": ["b"], "external_id": "y"}
    key.patch(f"{TICKETS}/{ticket['id']}", change)
    for gone in ("status=open", "priority=low", "tag=a", "external_id=x"):
        assert key.walk(f"{TICKETS}?{gone}") == []
    for found in ("status=pending", "priority=high", "tag=b", "external_id=y"):
        assert len(key.walk(f"{TICKETS}?{found}")) == 1


def test_a_renamed_customer_shows_in_lists_at_once(key: Key) -> None:
    ticket = key.ticket()
    key.patch(f"/api/v1/external/customers/{ticket['customer']['id']}", {"name": "Maria"})
    (row,) = key.walk(TICKETS)
    assert row == ticket | {"customer": ticket["customer"] | {"name": "Maria"}}
