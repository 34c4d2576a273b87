"""The query plan of each list: one index serves its first page and every further one."""

import sqlite3
from contextlib import closing
from itertools import combinations, product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sealdesk.db.engine import Params
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.reports import store as reports
from sealdesk.resources.paging import PageRequest, Position
from sealdesk.tickets.ticket import types
from sealdesk.tickets.ticket.store import assignees, history, lists, replies, tickets
from sealdesk.tickets.ticket.store.filters import Filter
from tests.support.for_each import for_each
from tests.support.plans import plan

# Which index must serve a filter of one value, and what it is searched by.
INDEXES: dict[str, tuple[str, str]] = {
    "": ("INDEX sqlite_autoindex_tickets_1", ""),
    "status": ("INDEX tickets_status", " AND status=?"),
    "priority": ("INDEX tickets_priority", " AND priority=?"),
    "customer_id": ("INDEX tickets_customer", " AND customer_id=?"),
    "assignee_id": ("INDEX tickets_assignee_updated_at", " AND assignee_id=?"),
    "external_id": ("INDEX tickets_external_id", " AND external_id=?"),
    "rating": ("INDEX tickets_rating", " AND rating=?"),
}
VALUES: dict[str, Any] = {
    "": None,
    "status": ("open",),
    "priority": ("low",),
    "customer_id": "c",
    "assignee_id": "a",
    "external_id": "x",
    "rating": 1,
    "tag": "t",
}
BOUNDS: tuple[dict[str, Any], ...] = (
    {},
    {"created_after": 1},
    {"created_before": 2},
    {"created_after": 1, "created_before": 2},
)
NEWEST_FIRST = for_each("newest_first", [True, False])
FURTHER = for_each("further", [False, True])
CUSTOMER = "SEARCH c USING INDEX sqlite_autoindex_customers_1 (tenant_id=? AND id=?) LEFT-JOIN"
THE_TICKET = "SEARCH t USING INDEX sqlite_autoindex_tickets_1 (tenant_id=? AND id=?)"


def new_filter(**fields: Any) -> Filter:
    return Filter(**fields)


def searches(template: Path, filters: Filter, *, further: bool) -> list[str]:
    """The index searches for a page of this list; none is a scan or a sort."""
    assert filters.is_served()
    after: Position | None = None
    if further:
        after = ["id"] if filters.sort_by == "created_at" else [5, "id"]
    page = PageRequest(25, after)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    # Each row is read in its place, so that a page that ends early reads no more of them.
    assert CUSTOMER in steps
    assert not [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step]
    return [step for step in steps if step.startswith("SEARCH t ")]


def on_ids(bounds: dict[str, Any], *, newest_first: bool, further: bool, name: str = "id") -> str:
    """The index conditions of the created_at range and the cursor."""
    is_bound_below = "created_after" in bounds or (further and not newest_first)
    is_bound_above = "created_before" in bounds or (further and newest_first)
    return f" AND {name}>?" * is_bound_below + f" AND {name}<?" * is_bound_above


@NEWEST_FIRST
@FURTHER
@for_each("bounds", BOUNDS, ids=" ".join)
@for_each("name", [name for name in INDEXES if name != "assignee_id"])
def test_a_filter_of_one_value_reads_its_own_index(
    template: Path, name: str, bounds: dict[str, Any], newest_first: bool, further: bool
) -> None:
    value = {name: VALUES[name]} if name else {}
    filters = new_filter(**value, **bounds, newest_first=newest_first)
    index, by = INDEXES[name]
    place = on_ids(bounds, newest_first=newest_first, further=further)
    assert searches(template, filters, further=further) == [
        f"SEARCH t USING {index} (tenant_id=?{by}{place})"
    ]


@NEWEST_FIRST
@FURTHER
@for_each("bounds", BOUNDS, ids=" ".join)
@for_each(
    ("name", "values"),
    [("status", ("open", "closed")), ("priority", ("low", "medium", "high", "urgent"))],
)
def test_a_filter_of_several_values_merges_branches_of_its_index(
    template: Path,
    name: str,
    values: tuple[str, ...],
    bounds: dict[str, Any],
    newest_first: bool,
    further: bool,
) -> None:
    filters = new_filter(**{name: values}, **bounds, newest_first=newest_first)
    index, by = INDEXES[name]
    place = on_ids(bounds, newest_first=newest_first, further=further)
    branch = f"SEARCH t USING COVERING {index} (tenant_id=?{by}{place})"
    assert sorted(searches(template, filters, further=further)) == sorted(
        [THE_TICKET, *len(values) * [branch]]
    )


@NEWEST_FIRST
@FURTHER
@for_each("statuses", [(), ("open", "closed")])
def test_an_assignee_merges_the_tickets_of_each_status(
    template: Path, statuses: Any, newest_first: bool, further: bool
) -> None:
    filters = new_filter(assignee_id="a", status=statuses, newest_first=newest_first)
    place = on_ids({}, newest_first=newest_first, further=further)
    index = "COVERING INDEX tickets_status_assignee"
    branch = f"SEARCH t USING {index} (tenant_id=? AND status=? AND assignee_id=?{place})"
    assert sorted(searches(template, filters, further=further)) == sorted(
        [THE_TICKET, *(len(statuses) or 5) * [branch]]
    )


@NEWEST_FIRST
@FURTHER
@for_each("bounds", BOUNDS, ids=" ".join)
def test_a_tag_reads_the_index_of_tags(
    template: Path, bounds: dict[str, Any], newest_first: bool, further: bool
) -> None:
    filters = new_filter(tag="t", **bounds, newest_first=newest_first)
    place = on_ids(bounds, newest_first=newest_first, further=further, name="ticket_id")
    assert sorted(searches(template, filters, further=further)) == sorted(
        [THE_TICKET, f"SEARCH t USING PRIMARY KEY (tenant_id=? AND tag=?{place})"]
    )


@NEWEST_FIRST
@FURTHER
@for_each("sort_by", ["priority", "waiting_since", "due_at"])
def test_each_order_reads_its_own_index(
    template: Path, sort_by: Any, newest_first: bool, further: bool
) -> None:
    filters = new_filter(sort_by=sort_by, newest_first=newest_first)
    sign = "<" if newest_first else ">"
    # The order by a column that may be null has a bound: the rows with a value.
    has_bound = sort_by != "priority" and (newest_first or not further)
    place = f" AND {sort_by}>?" * has_bound
    place += f" AND ({sort_by},id){sign}(?,?)" if further else ""
    assert searches(template, filters, further=further) == [
        f"SEARCH t USING INDEX tickets_{sort_by} (tenant_id=?{place})"
    ]


@NEWEST_FIRST
@FURTHER
@for_each("statuses", [(), ("open",), ("resolved", "closed")])
def test_the_order_by_change_merges_the_tickets_of_each_status(
    template: Path, statuses: Any, newest_first: bool, further: bool
) -> None:
    filters = new_filter(status=statuses, sort_by="updated_at", newest_first=newest_first)
    sign = "<" if newest_first else ">"
    place = f" AND (updated_at,id){sign}(?,?)" if further else ""
    read = f"SEARCH t USING INDEX tickets_status_updated_at (tenant_id=? AND status=?{place})"
    assert searches(template, filters, further=further) == (len(statuses) or 5) * [read]


def test_a_further_filter_in_the_order_by_change_keeps_its_index(template: Path) -> None:
    filters = new_filter(
        status=("open", "closed"), priority=("low",), is_waiting=True, sort_by="updated_at"
    )
    steps = plan(template, lambda tx: lists.list_changed(tx, "tenant", filters, [5, "id"], 25))
    place = "tenant_id=? AND status=? AND (updated_at,id)>(?,?)"
    read = f"SEARCH t USING INDEX tickets_status_updated_at ({place})"
    assert steps.count(read) == 2 and not [step for step in steps if "TEMP B-TREE" in step]


def test_those_who_wait_are_looked_for_among_unfinished_tickets(template: Path) -> None:
    filters = new_filter(assignee_id="a", is_waiting=True, sort_by="updated_at", index="status")
    steps = plan(
        template, lambda tx: lists.list_tickets(tx, "tenant", filters, PageRequest(25, None))
    )
    read = "INDEX tickets_assignee_updated_at (tenant_id=? AND assignee_id=? AND status=?)"
    assert steps.count(f"SEARCH t USING {read}") == len(("open", "pending", "on_hold"))


@for_each(
    ("newest_first", "further", "place"),
    [
        (True, False, "updated_at>?"),
        (True, True, "updated_at>? AND (updated_at,id)<(?,?)"),
        (False, False, "updated_at>?"),
        (False, True, "(updated_at,id)>(?,?)"),
    ],
)
def test_a_filter_by_change_time_reads_its_index(
    template: Path, newest_first: bool, further: bool, place: str
) -> None:
    filters = new_filter(updated_after=1, sort_by="updated_at", newest_first=newest_first)
    read = f"SEARCH t USING INDEX tickets_status_updated_at (tenant_id=? AND status=? AND {place})"
    assert searches(template, filters, further=further) == 5 * [read]


@for_each("sort_by", ["created_at", "updated_at", "priority"])
@for_each("second", [name for name in VALUES if name])
@for_each("first", [name for name in VALUES if name])
def test_only_the_filters_planned_above_count_as_served(
    first: str, second: str, sort_by: Any
) -> None:
    filters = new_filter(**{first: VALUES[first], second: VALUES[second]}, sort_by=sort_by)
    is_somebodys = {first, second} == {"status", "assignee_id"}
    is_newest_first = (first == second or is_somebodys) and sort_by == "created_at"
    is_by_change = {first, second} <= {"status", "assignee_id"} and sort_by == "updated_at"
    assert filters.is_served() == (is_newest_first or is_by_change)


@for_each("sort_by", ["created_at", "updated_at", "priority", "waiting_since"])
@for_each("is_waiting", [True, False])
def test_who_waits_is_served_in_the_order_of_waiting_only(sort_by: Any, is_waiting: bool) -> None:
    filters = new_filter(is_waiting=is_waiting, sort_by=sort_by)
    assert filters.is_served() == (is_waiting and sort_by == "waiting_since")


@for_each("sort_by", ["created_at", "updated_at", "priority"])
def test_if_few_are_due_soon_their_index_serves_every_order(template: Path, sort_by: Any) -> None:
    filters = new_filter(
        due_before=9, status=("open",), priority=("low",), sort_by=sort_by, index="due_at"
    )
    page = PageRequest(25, None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    assert "SEARCH t USING INDEX tickets_due_at (tenant_id=? AND due_at<?)" in steps


@FURTHER
def test_what_is_due_next_is_read_from_its_index(template: Path, further: bool) -> None:
    filters = new_filter(due_before=9, sort_by="due_at", newest_first=False)
    place = " AND (due_at,id)>(?,?)" if further else " AND due_at>?"
    assert searches(template, filters, further=further) == [
        f"SEARCH t USING INDEX tickets_due_at (tenant_id=?{place} AND due_at<?)"
    ]


@for_each("sort_by", ["created_at", "updated_at", "priority"])
def test_if_few_wait_their_index_serves_every_order(template: Path, sort_by: Any) -> None:
    filters = new_filter(
        is_waiting=True, status=("open",), priority=("low",), sort_by=sort_by, index="waiting_since"
    )
    steps = plan(
        template, lambda tx: lists.list_tickets(tx, "tenant", filters, PageRequest(25, None))
    )
    assert "SEARCH t USING INDEX tickets_waiting_since (tenant_id=? AND waiting_since>?)" in steps


@NEWEST_FIRST
@FURTHER
def test_status_and_assignee_share_an_index(
    template: Path, further: bool, newest_first: bool
) -> None:
    filters = new_filter(status=("open",), assignee_id="a", newest_first=newest_first)
    by = " AND status=? AND assignee_id=?" + on_ids({}, newest_first=newest_first, further=further)
    assert searches(template, filters, further=further) == [
        f"SEARCH t USING INDEX tickets_status_assignee (tenant_id=?{by})"
    ]


@for_each("sort_by", ["created_at", "updated_at", "priority", "waiting_since"])
def test_the_ticket_of_a_number_is_found_by_it_in_every_order(template: Path, sort_by: Any) -> None:
    others = {"status": ("open", "closed"), "tag": "t", "more_tags": ("u",), "customer_id": "c"}
    filters = new_filter(number=7, **others, sort_by=sort_by)
    assert filters.is_served()
    page = PageRequest(25, ["id"] if sort_by == "created_at" else [5, "id"])
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    read = [step for step in steps if step.startswith("SEARCH t ")]
    assert read[-1] == "SEARCH t USING INDEX tickets_number (tenant_id=? AND number=?)"


@for_each("sort_by", ["created_at", "priority"])
def test_if_few_are_unassigned_their_index_serves_every_order(template: Path, sort_by: Any) -> None:
    filters = new_filter(is_unassigned=True, sort_by=sort_by, index="unassigned")
    page = PageRequest(25, None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    by = "tenant_id=? AND status=? AND updated_at>?"
    assert f"SEARCH t USING INDEX tickets_unassigned ({by})" in steps


def test_of_several_tags_one_leads(template: Path) -> None:
    filters = new_filter(tag="t", more_tags=("u",), index="tag")
    page = PageRequest(25, None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    # Each tag is counted first, up to a bound, so that the rarest one leads.
    assert steps.count("SEARCH t USING PRIMARY KEY (tenant_id=? AND tag=?)") == 2
    assert "SEARCH g USING PRIMARY KEY (tenant_id=? AND tag=?)" in steps
    assert THE_TICKET in steps


@for_each("name", ["created_after", "created_before", "updated_after", "updated_before"])
def test_a_range_of_another_time_than_the_order_has_no_index(name: str) -> None:
    is_of_change = name.startswith("updated")
    orders = {"created_at": not is_of_change, "updated_at": is_of_change}
    for sort_by in ("created_at", "updated_at", "priority"):
        filters = new_filter(**{name: 1}, sort_by=sort_by)
        assert filters.is_served() == orders.get(sort_by, False)


@for_each(
    ("is_internal", "newest_first", "further"),
    list(product((None, True), (True, False), (True, False))),
)
def test_replies_are_read_in_the_order_of_an_index(
    template: Path, is_internal: bool | None, newest_first: bool, further: bool
) -> None:
    page = PageRequest(25, ["id"] if further else None)
    steps = plan(
        template,
        lambda tx: replies.list_replies(
            tx, "tenant", "ticket", page, is_internal=is_internal, newest_first=newest_first
        ),
    )
    index, by = "sqlite_autoindex_replies_1", ""
    if is_internal is not None:
        index, by = "replies_is_internal", " AND is_internal=?"
    place = on_ids({}, newest_first=newest_first, further=further)
    assert steps == [f"SEARCH replies USING INDEX {index} (tenant_id=? AND ticket_id=?{by}{place})"]


@for_each(
    ("change", "indexes"),
    [
        ({}, set()),
        ({"subject": "other", "tags": ("t",), "custom_fields": {"a": 1}, "reply_count": 1}, set()),
        (
            {"status": "closed"},
            {
                "tickets_status",
                "tickets_status_assignee",
                "tickets_team_unassigned",
                "tickets_snoozed",
            },
        ),
        ({"snoozed_until": "next_reply"}, {"tickets_snoozed", "tickets_due"}),
        ({"waiting_since": 5}, {"tickets_waiting_since"}),
        ({"priority": "urgent"}, {"tickets_priority"}),
        (
            {"assignee_id": "a"},
            {"tickets_status_assignee", "tickets_team_unassigned"},
        ),
        ({"team_id": "t"}, {"tickets_team", "tickets_team_unassigned"}),
        ({"external_id": "x"}, {"tickets_external_id"}),
    ],
)
def test_a_change_writes_only_the_indexes_of_what_it_changes(
    template: Path, change: dict[str, Any], indexes: set[str]
) -> None:
    names = types.Ticket.__struct_fields__
    before = types.Ticket(**dict.fromkeys(names) | {"priority": "low", "tags": ()})  # type: ignore[arg-type]
    after = msgspec.structs.replace(before, **change)
    with closing(connect(template)) as connection:
        recorder = IndexRecorder(connection)
        drive(tickets.replace(recorder, before, after))
    # An entry of a partial index is written where its condition holds.
    by_change = {
        "status_updated_at", "unassigned", "urgent", "team_updated_at", "assignee_updated_at",
    }  # fmt: skip
    assert recorder.written == {f"tickets_{name}" for name in by_change} | indexes


class IndexRecorder(SqliteTx):
    """Runs nothing: it collects the indexes in which an UPDATE makes entries."""

    written: set[str]

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.connection = connection

    async def enqueue(self, sql: str, params: Params) -> None:
        pass

    async def execute_one(self, sql: str, params: Params) -> None:
        if not sql.lstrip().startswith("UPDATE"):
            return
        names = dict(self.connection.execute("SELECT rootpage, name FROM sqlite_master").fetchall())
        rows = self.connection.execute(f"EXPLAIN {sql}", params).fetchall()
        # Behind it come the programs of triggers, which number their cursors anew.
        program = [row for place, row in enumerate(rows) if row["addr"] == place]
        roots = {row["p1"]: row["p2"] for row in program if row["opcode"] == "OpenWrite"}
        inserts = [row["p1"] for row in program if row["opcode"] == "IdxInsert"]
        self.written = {names[roots[cursor]] for cursor in inserts}


def test_counting_statuses_reads_no_more_than_its_index(template: Path) -> None:
    steps = plan(template, lambda tx: lists.count_statuses(tx, "tenant"))
    read = "SEARCH t USING COVERING INDEX tickets_status_updated_at (tenant_id=? AND status=?)"
    assert steps.count(read) == 5
    # How many of the unfinished ones are snoozed: to count so many more, and to leave them out.
    snoozed = "SEARCH s USING COVERING INDEX tickets_snoozed (tenant_id=? AND snoozed_until>?)"
    assert steps.count(snoozed) == 6
    assert {step for step in steps if "tickets" in step or "SEARCH" in step} == {read, snoozed}
    assert lists._COUNT.count("LIMIT 1001 + ") == 5


@for_each("name", [name for name in INDEXES if name])
@for_each("sort_by", ["created_at", "updated_at", "priority"])
@for_each("others", list(combinations([name for name in VALUES if name], 2)))
def test_the_index_of_the_most_selective_filter_is_used(
    template: Path, name: str, sort_by: Any, others: tuple[str, ...]
) -> None:
    filters = new_filter(
        **{each: VALUES[each] for each in (name, *others)}, sort_by=sort_by, index=name
    )
    page = PageRequest(25, None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    index, by = INDEXES[name]
    if name == "status" and sort_by != "created_at":
        index = "INDEX tickets_status_updated_at"  # begins with the same columns
    if name == "status" and sort_by == "updated_at" and "assignee_id" in others:
        index, by = INDEXES["assignee_id"][0], " AND assignee_id=? AND status=?"
    found = [step.replace("COVERING ", "") for step in steps]
    assert f"SEARCH t USING {index} (tenant_id=?{by})" in found


@for_each("sort_by", ["created_at", "updated_at", "priority"])
def test_the_index_of_a_selective_tag_is_used(template: Path, sort_by: Any) -> None:
    filters = new_filter(status=("open",), assignee_id="a", tag="t", sort_by=sort_by, index="tag")
    page = PageRequest(25, None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    assert THE_TICKET in steps and "LIST SUBQUERY" in " ".join(steps)


@for_each("status", ["open", "pending", "on_hold"])
@for_each("sort_by", ["created_at", "updated_at", "priority"])
def test_without_a_selective_filter_the_index_of_unfinished_tickets_is_used(
    template: Path, monkeypatch: pytest.MonkeyPatch, sort_by: Any, status: Any
) -> None:
    monkeypatch.setattr(lists, "_SELECTIVE_ROWS", 0)
    filters = new_filter(status=(status,), customer_id="c", priority=("low",), sort_by=sort_by)
    steps = plan(
        template, lambda tx: lists.list_tickets(tx, "tenant", filters, PageRequest(25, None))
    )
    index = "tickets_status" if sort_by == "created_at" else "tickets_status_updated_at"
    assert f"SEARCH t USING INDEX {index} (tenant_id=? AND status=?)" in steps


@for_each("statuses", [("open",), ("closed", "resolved")])
@for_each("sort_by", ["updated_at", "priority"])
def test_without_a_selective_filter_the_tickets_of_the_assignee_are_read(
    template: Path, monkeypatch: pytest.MonkeyPatch, sort_by: Any, statuses: Any
) -> None:
    monkeypatch.setattr(lists, "_SELECTIVE_ROWS", 0)
    filters = new_filter(status=statuses, assignee_id="a", tag="t", sort_by=sort_by)
    steps = plan(
        template, lambda tx: lists.list_tickets(tx, "tenant", filters, PageRequest(25, None))
    )
    is_by_change = sort_by == "updated_at"
    by = "tenant_id=? AND assignee_id=? AND status=?"
    led = f"SEARCH t USING INDEX tickets_assignee_updated_at ({by})"
    assert steps.count(led) == (len(statuses) if is_by_change else 1)
    # In the order by change, the page ends where enough of them match.
    assert is_by_change == (not [step for step in steps if "TEMP B-TREE" in step])


@for_each("fields", [{"status": ("closed",), "tag": "t"}, {"status": ("open",)}])
def test_for_finished_tickets_the_planner_chooses_the_index(fields: dict[str, Any]) -> None:
    filters = new_filter(**fields, sort_by="updated_at")
    assert lists._unselective_index(filters, list(fields)) is None


def test_selectivity_is_counted_in_indexes_up_to_a_limit(template: Path) -> None:
    filters = new_filter(**{name: value for name, value in VALUES.items() if name})
    steps = plan(
        template, lambda tx: lists.list_tickets(tx, "tenant", filters, PageRequest(25, None))
    )
    read = [step for step in steps[: steps.index(CUSTOMER)] if "SEARCH" in step]
    assert len(read) >= 5 and all("tenant_id=? AND" in step for step in read)


def test_tickets_by_ids_are_read_by_their_primary_key(template: Path) -> None:
    steps = plan(template, lambda tx: lists.list_by_ids(tx, "tenant", ["one", "other"]))
    assert THE_TICKET in steps and CUSTOMER in steps
    assert not [step for step in steps if "SCAN" in step]


def test_assignees_are_listed_in_the_order_of_their_primary_key(template: Path) -> None:
    steps = plan(template, lambda tx: assignees.list_assignees(tx, "tenant", 1000))
    assert steps == ["SEARCH users USING INDEX sqlite_autoindex_users_1 (tenant_id=?)"]


def test_a_ticket_is_found_by_its_number(template: Path) -> None:
    steps = plan(template, lambda tx: tickets.find_id(tx, "tenant", 1))
    assert steps == ["SEARCH tickets USING INDEX tickets_number (tenant_id=? AND number=?)"]


def test_the_timeline_reads_one_page_of_changes(template: Path) -> None:
    steps = plan(
        template, lambda tx: history.list_changes(tx, "tenant", "ticket", PageRequest(50, ["x"]))
    )
    (step,) = steps
    assert step.endswith("(tenant_id=? AND ticket_id=? AND id<?)")


def test_unfinished_tickets_are_counted_by_age_without_reading_them(template: Path) -> None:
    ages = (5, 3, 0)
    steps = plan(template, lambda tx: reports.count_unfinished(tx, "tenant", ages, "desk", ""))
    assert any("USING COVERING INDEX tickets_status" in each for each in steps)
