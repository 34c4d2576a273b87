"""Each built-in view is read from one index, and so are the counts of all views."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sealdesk.db.engine import Params, Row
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import drive
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.store import counts, lists
from sealdesk.tickets.ticket.store.filters import Filter
from tests.support.plans import Explainer, plan

VIEWS: dict[str, tuple[dict[str, Any], str, str]] = {
    "unassigned": ({"status": ("open",), "is_unassigned": True}, "unassigned", "status=?"),
    "urgent": ({"status": ("open",), "priority": ("urgent",)}, "urgent", "status=?"),
    "closed": ({"status": ("closed",)}, "status_updated_at", "status=?"),
    "mine": ({"status": ("open",), "assignee_id": "a"}, "assignee_updated_at",
             "assignee_id=? AND status=?"),
    "waiting": ({"is_waiting": True}, "waiting_since", "waiting_since>?"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["unassigned", "urgent", "closed", "mine"])
@pytest.mark.parametrize("statuses", [("open",), ("open", "pending"), ()])
@pytest.mark.parametrize("further", [False, True])
def test_a_view_by_change_reads_its_own_index(
    template: Path, name: str, statuses: Any, further: bool
) -> None:
    fields, index, by = VIEWS[name]
    filters = Filter(**{**fields, "status": statuses}, sort_by="updated_at")
    assert filters.is_served()
    page = PageRequest(50, [5, "id"] if further else None)
    steps = plan(template, lambda tx: lists.list_tickets(tx, "tenant", filters, page))
    place = " AND (updated_at,id)<(?,?)" if further else ""
    wanted = f"SEARCH t USING INDEX tickets_{index} (tenant_id=? AND {by}{place})"
    assert {step for step in steps if step.startswith("SEARCH t ")} == {wanted}
    assert not [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_counted_in_its_own_index(template: Path, name: str) -> None:
    fields, index, by = VIEWS[name]
    steps = plan(template, lambda tx: counts.count_lists(tx, "tenant", [Filter(**fields)]))
    (read,) = [step for step in steps if step.startswith("SEARCH")]
    assert read.removeprefix("SEARCH t USING ").removeprefix("COVERING ") == (
        f"INDEX tickets_{index} (tenant_id=? AND {by})"
    )
    assert not [step for step in steps if "TEMP B-TREE" in step]


def test_what_is_sorted_is_read_without_documents_and_customers(template: Path) -> None:
    filters = Filter(tag="t", is_snoozed=False, sort_by="updated_at", index="tag")
    page = PageRequest(50, None)
    steps = plan(template, lambda tx: lists.list_inbox(tx, "tenant", filters, page))
    sorting = [place for place, step in enumerate(steps) if "TEMP B-TREE" in step]
    (customers,) = [place for place, step in enumerate(steps) if step.startswith("SEARCH c ")]
    assert sorting[0] < customers < sorting[1] and len(sorting) == 2


def test_a_count_ends_behind_its_bound(template: Path) -> None:
    with closing(connect(template)) as connection:
        recorder = ParameterRecorder(connection)
        drive(counts.count_lists(recorder, "tenant", [Filter(status=("open",)), Filter(tag="t")]))
    limits = [value for name, value in recorder.params.items() if name.endswith("_limit")]
    assert limits == [counts.MAX_COUNT + 1] * 2


def test_a_count_holds_a_sample_of_which_all_match() -> None:
    several, most = Filter(tag="t", priority=("low",)), counts._MAX_EXAMINED
    found = counts._count(most * counts._FACTOR + most, several, most)
    assert found == counts.Count(counts.MAX_COUNT, is_exact=False)


class ParameterRecorder(Explainer):
    """Keeps the parameters of the last statement."""

    params: Params

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        self.params = params
        return await super().fetch_all(sql, params)


@pytest.mark.parametrize(
    ("fields", "lead"),
    [
        ({"tag": "t", "priority": ("low",)}, "PRIMARY KEY (tenant_id=? AND tag=?)"),
        ({"customer_id": "c", "status": ("open",)}, "tickets_customer (tenant_id=? AND custom"),
        ({"priority": ("low",), "is_unassigned": True}, "tickets_priority (tenant_id=? AND prio"),
        (
            {"assignee_id": "a", "priority": ("low",)},
            "tickets_status_assignee (tenant_id=? AND status=? AND assignee_id=?)",
        ),
        ({"is_waiting": True, "assignee_id": "a"}, "tickets_waiting_since (tenant_id=? AND wait"),
    ],
)
def test_several_filters_examine_the_tickets_of_the_most_selective_one(
    template: Path, fields: dict[str, Any], lead: str
) -> None:
    steps = plan(template, lambda tx: counts.count_lists(tx, "tenant", [Filter(**fields)]))
    assert [step for step in steps if lead in step], steps
    assert "SEARCH t USING INDEX sqlite_autoindex_tickets_1 (tenant_id=? AND id=?)" in steps
    assert not [step for step in steps if "TEMP B-TREE" in step or step == "SCAN t"]
