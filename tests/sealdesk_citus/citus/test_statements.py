"""On Citus each statement of a tenant asks one shard, and the coordinator survives it."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from sealdesk.db.postgres.statements import TENANT_SETTING, numbered
from tests.support.built_statements import built_statements
from tests.support.statements import statements
from tests.support.tenant_rows import run
from tests.test_schema import ACROSS_TENANTS

Env = dict[str, str]
_TENANT = "0198f3d0-0000-7000-8000-000000000001"
# With the reason why they ask more than one shard, or none.
_OTHERS = {
    "search/store/lookup.py _FIND_BY_FUNCTION": "the function asks one shard",
    "search/store/lookup.py _FIND_CUSTOMERS_BY_FUNCTION": "the function asks one shard",
    "search/store/tickets.py _SAVE_ALL": "of several tenants, by the worker",
    "search/store/customers.py _SAVE_ALL": "of several tenants, by the worker",
}
_OF_SQLITE = re.compile(r" MATCH |search_index|total_changes|LEFT JOIN customers")
_VALUES: dict[str, Any] = {
    "text": "x", "bytea": b"x", "bool": True, "int2": 1, "int4": 1, "int8": 1, "tsquery": "'x'",
    "tsvector": "'x'", "text[]": ["x"], "int8[]": [1], "tsvector[]": ["'x'"],
}  # fmt: skip
_TASKS = re.compile(r"Task Count: (\d+)")
# From the sixth time on PostgreSQL may run a plan for all values.
_RUNS = 7


class Case(NamedTuple):
    """A statement. name: of its constant, or a part of a built one."""

    name: str
    sql: str


def _cases() -> Iterator[Case]:
    for found in statements():
        # Texts with {} are put together at run time, from which examples are built.
        if not (found.function or found.name in ACROSS_TENANTS or "{" in found.sql):
            yield Case(found.name, found.sql)
    for sql in sorted(built_statements().sql):
        yield Case("built at run time", sql)


CASES = [case for case in _cases() if not _OF_SQLITE.search(case.sql)]
SELECTS = [case for case in CASES if case.sql.lstrip().startswith("SELECT")]


def test_each_statement_of_a_tenant_asks_one_shard(env: Env) -> None:
    assert len(CASES) > 550

    async def explain(connection: asyncpg.Connection, case: Case) -> list[str]:
        text, values = await _with_values(connection, case, "EXPLAIN ")
        try:
            plan = "\n".join(row[0] for row in await connection.fetch(text, *values))
        except asyncpg.FeatureNotSupportedError as refusal:
            return [str(refusal)]
        return _TASKS.findall(plan)

    counts = _each(env, CASES, explain)
    others = {case: found for case, found in counts.items() if found != ["1"]}
    assert {case.name for case in others} == {*_OTHERS}, others


def test_the_coordinator_survives_every_select(env: Env) -> None:
    async def fetch(connection: asyncpg.Connection, case: Case) -> None:
        text, values = await _with_values(connection, case)
        prepared = await connection.prepare(text)
        for _ in range(_RUNS):
            await prepared.fetch(*values)

    started = _started(env)
    _each(env, SELECTS, fetch)
    assert _started(env) == started


def _each(env: Env, cases: list[Case], work: Callable[..., Any]) -> dict[Case, Any]:
    async def work_on_all() -> dict[Case, Any]:
        async with _connection(env) as connection:
            return {case: await work(connection, case) for case in cases}

    return run(work_on_all())


def _started(env: Env) -> object:
    async def look() -> object:
        async with _connection(env) as connection:
            return await connection.fetchval("SELECT pg_postmaster_start_time()")

    return run(look())


@asynccontextmanager
async def _connection(env: Env) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(env["SEALDESK_OWNER_DATABASE_URL"])
    try:
        await connection.execute(f"SET {TENANT_SETTING} = '{_TENANT}'")
        yield connection
    finally:
        await connection.close()


async def _with_values(
    connection: asyncpg.Connection, case: Case, before: str = ""
) -> tuple[str, list[Any]]:
    """The text with numbered parameters, and a value of the right type for each."""
    statement = numbered(case.sql, 25 if ":limit" in case.sql else None)
    text = f"{before}{statement.text}"
    types = (await connection.prepare(text)).get_parameters()
    return text, [
        _TENANT if name == "tenant_id" else _VALUES[each.name]
        for name, each in zip(statement.names, types, strict=True)
    ]
