"""The query plans of the feed: it reads one index range for each type."""

import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from sealdesk.db.postgres.database import connect
from sealdesk.db.postgres.statements import with_values_within, within_tenant
from sealdesk.event_log import positions
from sealdesk.feed import store
from sealdesk.feed.rules import TYPES
from sealdesk.resources.paging import PageRequest
from tests.support.databases import Template
from tests.support.plans import plan
from tests.support.tenant_rows import run

TENANT = "0199a110-0a1b-7c2d-8e3f-405162738495"
PAGE = PageRequest(100, None)
LIMIT = PAGE.per_page + 1
COUNT = 6_000
RARE = "customer.updated"
PART = "SEARCH events USING COVERING INDEX events_type (tenant_id=? AND type=? AND position>?)"
# every 3,000th is rare, the others are common.
_FILL = f"""
INSERT INTO events (tenant_id, id, type, object, changes, created_at, position)
SELECT '{TENANT}', lpad(n::text, 36, '0'),
    CASE WHEN n % 3000 = 7 THEN '{RARE}' ELSE (ARRAY['{"', '".join(TYPES[:5])}'])[n % 5 + 1] END,
    repeat('x', 600)::bytea, '{{}}', n, n
FROM generate_series(1, {COUNT}) n
"""


@pytest.mark.parametrize("count", range(1, 7))
def test_sqlite_merges_one_index_range_for_each_type(template: Path, count: int) -> None:
    steps = plan(template, lambda tx: store.list_events(tx, TENANT, TYPES[:count], 5, PAGE))
    assert steps.count(PART) == count
    others = [step for step in steps if step.startswith("SEARCH") and step != PART]
    assert sorted(others) == [
        "SEARCH e USING INDEX events_position (tenant_id=? AND position=?) LEFT-JOIN",
        "SEARCH f USING INDEX sqlite_autoindex_feed_positions_1 (tenant_id=?)",
    ]
    # The events are in order, so that a page that ends early reads no more of them.
    assert "TEMP B-TREE" not in steps[1]
    # What is walked over is what the parts gave.
    assert not [step for step in steps if step.startswith(("SCAN e", "SCAN f"))]


def test_sqlite_finds_the_end_of_the_feed_at_once(template: Path) -> None:
    steps = plan(template, lambda tx: positions.find_ends(tx, TENANT))
    assert steps == [
        "SEARCH feed_positions USING INDEX sqlite_autoindex_feed_positions_1 (tenant_id=?)"
    ]


@pytest.mark.parametrize("is_analysed", [True, False], ids=["analysed", "unknown"])
def test_postgresql_reads_no_more_of_a_common_type_for_a_rare_one(
    postgres_template: Template, *, is_analysed: bool
) -> None:
    with postgres_template.copied() as env:
        run(_fill(env["SEALDESK_OWNER_DATABASE_URL"], is_analysed=is_analysed))
        cases: list[list[str]] = [[RARE], [TYPES[1]], [TYPES[1], RARE], [*TYPES]]
        for types in cases:
            for after in (0, COUNT // 2, COUNT - 9):
                read = run(_rows_read(env["SEALDESK_DATABASE_URL"], types, after))
                assert read <= len(types) * LIMIT + LIMIT, (types, after)


async def _fill(url: str, *, is_analysed: bool) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(f"INSERT INTO tenants VALUES ('{TENANT}', 'Acme', 1)")
    await connection.execute(_FILL)
    await connection.execute(f"INSERT INTO feed_positions VALUES ('{TENANT}', {COUNT}, 0)")
    if is_analysed:
        await connection.execute("ANALYZE")
    await connection.close()


async def _rows_read(url: str, types: list[str], after: int) -> int:
    """How many rows and index entries of events a page takes, as the role that serves."""

    class Explainer:
        async def fetch_page(
            self, sql: str, params: dict[str, Any], columns: tuple[str, ...], max_bytes: int
        ) -> list[Any]:
            statement = within_tenant(with_values_within(sql, columns, max_bytes), LIMIT)
            values = [*statement.values(params), TENANT]
            self.plan = await connection.fetchval(
                f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}", *values
            )
            return []

    connection = await connect(url, name="test")
    explainer = Explainer()
    await store.list_events(explainer, TENANT, types, after, PAGE)  # type: ignore[arg-type]
    await connection.close()
    (found,) = json.loads(explainer.plan)
    return _of_events(found["Plan"])


def _of_events(node: dict[str, Any]) -> int:
    inner: int = sum(map(_of_events, node.get("Plans", [])))
    if node.get("Relation Name") != "events":
        return inner
    removed = node.get("Rows Removed by Filter", 0)
    return inner + int((node["Actual Rows"] + removed) * node["Actual Loops"])
