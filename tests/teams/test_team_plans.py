"""What round robin and lists by team read, each from one index."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.resources.paging import PageRequest
from sealdesk.teams import store
from sealdesk.teams.types import MAX_CAPACITY
from sealdesk.tickets.ticket.store import counts, lists
from sealdesk.tickets.ticket.store.filters import Filter
from tests.support.plans import plan

PAGE = PageRequest(50, None)


def tickets_read(steps: list[str]) -> set[str]:
    assert not [step for step in steps if "SCAN t" in step or "TEMP B-TREE" in step]
    return {step.replace("COVERING ", "") for step in steps if step.startswith("SEARCH t ")}


def test_a_list_of_a_team_is_read_in_its_order(template: Path) -> None:
    filters = Filter(team_id="a")
    assert filters.is_served()
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, PAGE))
    assert tickets_read(steps) == {"SEARCH t USING INDEX tickets_team (tenant_id=? AND team_id=?)"}


@pytest.mark.parametrize("statuses", [("open",), ("open", "pending"), ()])
@pytest.mark.parametrize("further", [False, True])
def test_the_inbox_of_a_team_is_read_in_its_order(
    template: Path, statuses: Any, further: bool
) -> None:
    filters = Filter(team_id="a", status=statuses, sort_by="updated_at")
    assert filters.is_served()
    page = PageRequest(50, [5, "id"] if further else None)
    steps = plan(template, lambda tx: lists.list_inbox(tx, "tenant", filters, page))
    place = " AND (updated_at,id)<(?,?)" if further else ""
    assert tickets_read(steps) == {
        "SEARCH t USING INDEX tickets_team_updated_at"
        f" (tenant_id=? AND team_id=? AND status=?{place})"
    }


@pytest.mark.parametrize("statuses", [("open",), ()])
def test_a_view_of_a_team_is_counted_in_an_index(template: Path, statuses: Any) -> None:
    filters = Filter(team_id="a", status=statuses)
    (read,) = tickets_read(plan(template, lambda tx: counts.count_lists(tx, "tenant", [filters])))
    by = "team_id=? AND status=?" if statuses else "team_id=?"
    assert read.startswith("SEARCH t USING INDEX tickets_team")
    assert read.endswith(f"(tenant_id=? AND {by})")


def test_waiting_tickets_are_found_without_reading_others(template: Path) -> None:
    wanted = {
        "SEARCH t USING INDEX tickets_team_unassigned (tenant_id=? AND team_id=? AND status=?)"
    }
    steps = plan(template, lambda tx: store.list_waiting_tickets(tx, "tenant", "team", 10))
    assert tickets_read(steps) == wanted
    assert tickets_read(plan(template, lambda tx: store.list_waiting_teams(tx, "tenant"))) == wanted


def test_the_open_tickets_of_a_member_are_counted_in_an_index(template: Path) -> None:
    steps = plan(template, lambda tx: store.list_members(tx, "tenant", "team"))
    assert tickets_read(steps) == {
        "SEARCH t USING INDEX tickets_assignee_updated_at"
        " (tenant_id=? AND assignee_id=? AND status=?)"
    }


def test_counting_the_open_tickets_of_a_member_has_a_bound(template: Path) -> None:
    with closing(connect(template)) as connection:
        recorder = Recorder(connection)
        drive(store.list_members(recorder, "tenant", "team"))
    assert f"LIMIT {MAX_CAPACITY})" in recorder.sql


class Recorder(SqliteTx):
    """Keeps the last statement."""

    sql = ""

    async def fetch_all(self, sql: str, params: Any) -> Any:
        self.sql = sql
        return []
