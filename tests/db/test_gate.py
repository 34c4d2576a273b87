"""The tenant is set before any row is read, in every plan of PostgreSQL.

Otherwise a statement would find nothing. A plan's gate is a condition without columns ("One-Time
Filter") above everything that reads a table.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import asyncpg
import pytest

from sealdesk.db.engine import Counter
from sealdesk.db.postgres import statements as folding
from sealdesk.db.postgres.statements import Change
from sealdesk.db.schema import metadata
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter
from tests.support.databases import Template
from tests.support.statements import statements
from tests.support.tenant_rows import MARK, FilledDatabase, filled_database, row_of, run

METHODS = ("seqscan", "indexscan", "bitmapscan", "hashjoin", "mergejoin", "nestloop", "material")
MODES = ("force_custom_plan", "force_generic_plan")
# Parameters with a number in their names, or that are ids elsewhere; the beginning of a
# statement, whose order and limit follow; and tickets of nobody or awake, as those rows have an
# assignee and are snoozed.
_INCOMPLETE = (
    "tickets/live/store.py _CHANGE",
    "tickets/live/store.py _EVENTS",
    "tickets/ticket/store/lists.py _CHANGED",
    "teams/store.py _LIST_WAITING",
    "teams/store.py _LIST_TICKETS",
    "team_now/store.py _GROUPS",
    "team_now/store.py _WAITING",
    "team_now/store.py _WAITING_OF_TEAM",
    "team_now/store.py _NEXT_DUE",
    "team_now/store.py _UNFINISHED",
    # People whose address is that of no mailbox, and that of those rows is one.
    "mail/threads/store.py _LIST_RECIPIENTS",
    "tickets/ticket/store/destinations.py _LIST_PARTICIPANTS",
    "tickets/ticket/store/destinations.py _LIST_RECIPIENTS",
)
SELECTS = [
    found
    for found in statements()
    if found.verb == "SELECT"
    and found.is_of_tenants
    and not found.function
    and not found.is_of_worker
    and not found.is_of_index
    and not found.name.endswith(_INCOMPLETE)
]
_BOUNDS = {
    "limit": 100,
    "first": 0,
    "end": 2**40,
    "most": 100,
    "step": 1,
    "now": 0,
    "valid_at": 0,
    "lowest": 0,
    "highest": 2**40,
    "before": "~",
    "alert_before": 0,
    "after": "",
    "since": "",
    "until": "~",
    "pending_only": False,
    "offset": 0,
    "kept_since": 0,
    "stored_since": 0,
    "seen_since": 0,
    "except_id": "",
    "after_id": "",
    "low": "",
    "high": "~",
    "user_id": "",
    "kept": 0,
    "oldest_id": "",
    "test": "",
}
Case = tuple[str, dict[str, Any]]


class _Recorder:
    """Keeps the statements that a page is read with: of small rows, and of any."""

    dialect = "postgresql"
    cases: tuple[Case, ...]

    async def fetch_page(
        self, sql: str, params: dict[str, object], columns: list[str], max_bytes: int
    ) -> list[object]:
        wrapped = (folding.with_values_within, folding.within_bytes)
        self.cases = tuple((wrap(sql, tuple(columns), max_bytes), params) for wrap in wrapped)
        return []


@pytest.fixture(scope="module")
def filled(postgres_template: Template) -> Iterator[FilledDatabase]:
    with filled_database(postgres_template, 2) as filled:
        filled.sql("ANALYZE")
        yield filled


@pytest.fixture(scope="module")
def readings(filled: FilledDatabase) -> list[Case]:
    """Readings of the first tenant, each of which finds its row."""
    own = filled.tenants[0]
    cases: list[Case] = []
    for statement in SELECTS:
        params: dict[str, Any] = dict(_BOUNDS)
        for name in reversed(statement.tables):
            params |= row_of(metadata.tables[name], own)
        params["desk"] = params.get("owner_id", "")
        cases.append((statement.sql, params))
    for wanted in (Filter(), Filter(tag=f"{MARK}{own}"), Filter(priority=("low", "high"))):
        recorder: Any = _Recorder()
        run(lists.list_tickets(recorder, own, wanted, PageRequest(25, None)))
        cases += recorder.cases
    return cases


async def _switched(filled: FilledDatabase, method: str, way: str, mode: str) -> asyncpg.Connection:
    settings = {f"enable_{method}": way, "plan_cache_mode": mode}
    return await asyncpg.connect(filled.runtime, server_settings=settings)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", METHODS)
def test_a_folded_reading_finds_its_row_in_every_plan(
    filled: FilledDatabase, readings: list[Case], method: str, mode: str
) -> None:
    async def read_all() -> None:
        connection = await _switched(filled, method, "off", mode)
        for sql, params in readings:
            folded = folding.within_tenant(sql, params.get("limit"))
            rows = await connection.fetch(folded.text, *folded.values(params), filled.tenants[0])
            assert len(rows) == 1, (sql, method, mode)
        await connection.close()

    run(read_all())


@pytest.mark.parametrize("mode", MODES)
def test_tenant_check_precedes_every_table(
    filled: FilledDatabase, readings: list[Case], mode: str
) -> None:
    async def look() -> None:
        for method, way in [("seqscan", "on"), *product(METHODS, ["off"])]:
            connection = await _switched(filled, method, way, mode)
            for sql, params in readings:
                folded = folding.within_tenant(sql, params.get("limit"))
                plan = await _plan(connection, folded.text, [*folded.values(params), "t"])
                ungated = _ungated(plan)
                assert ungated == [], (sql, method, mode)
                if way == "on":  # without its gate there are tables in it, and they would be seen
                    plain = folding.numbered(sql)
                    assert _ungated(await _plan(connection, plain.text, plain.values(params))) != []
            await connection.close()

    run(look())


async def _plan(connection: asyncpg.Connection, sql: str, values: list[object]) -> dict[str, Any]:
    await connection.execute(f"PREPARE looked_at AS {sql}")
    given = f"({', '.join(map(_literal, values))})" if values else ""
    found = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE looked_at{given}")
    await connection.execute("DEALLOCATE looked_at")
    plan: dict[str, Any] = json.loads(found)[0]["Plan"]
    return plan


def _literal(value: object) -> str:
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    return str(value) if isinstance(value, int) else f"'{value}'"


def _ungated(node: dict[str, Any]) -> list[str]:
    """What reads a table, or asks for the tenant, outside of the gate."""
    conditions = {name: value for name, value in node.items() if name != "Plans"}
    if conditions.get("One-Time Filter", "").endswith("IS NOT NULL)"):
        return []
    asks = "Relation Name" in node or "current_setting" in str(conditions)
    below = [name for child in node.get("Plans", []) for name in _ungated(child)]
    return [node["Node Type"]] * asks + below


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", METHODS)
def test_folded_changes_reach_their_rows_in_every_plan(
    filled: FilledDatabase, method: str, mode: str
) -> None:
    own = filled.tenants[0]
    mine = {"tenant_id": own, "id": f"{MARK}{own}"}
    changes = [
        Change(f"UPDATE {name} SET id = id WHERE tenant_id = :tenant_id AND id = :id", mine, True)
        for name in ("tickets", "customers", "users")
    ]
    numbers = Counter("ticket_numbers", key="tenant_id", value="last_number")
    customer = "SELECT id FROM customers WHERE tenant_id = :tenant_id LIMIT 1"
    params = {"tenant_id": own, "counter_key": own, "counter_step": 1}

    async def change() -> None:
        connection = await _switched(filled, method, "off", mode)
        batch = folding.combine(changes, sets_tenant=True)
        drawing = folding.changing(folding.increment_and_fetch(numbers, customer))
        for _ in range(2):
            # Divides by zero when one of them reaches nothing.
            await connection.fetch(batch.text, *batch.values(changes), own)
            (row,) = await connection.fetch(drawing.text, *drawing.values(params), own)
            assert row["id"] == mine["id"]
        await connection.close()

    run(change())


def test_a_batch_sets_the_tenant_before_it_asks_what_was_changed() -> None:
    batch = folding.combine([Change("UPDATE t SET a = :a", {"a": 1}, True)], sets_tenant=True)
    assert batch.text.index("set_config('sealdesk.tenant_id'") < batch.text.index("1 / (")
