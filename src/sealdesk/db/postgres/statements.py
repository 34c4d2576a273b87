"""Rewrites SQL with named parameters for PostgreSQL: numbered, and combined into one round trip.

Row level security shows the rows of the tenant that a setting names, and the setting lasts for
one transaction. A single statement is its own transaction, so it sets the tenant itself: PostgreSQL
evaluates a condition without columns once, before it reads any row, and the select list before
the changes in WITH (tests/db/test_isolation.py proves both). If a later version evaluated them in
another order, a statement would find no rows or fail, and never see another tenant.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from sealdesk.db.engine import Counter, Params

TENANT_SETTING = "sealdesk.tenant_id"
_SET_TENANT = f"set_config('{TENANT_SETTING}', %s, true)"
# No wait for this commit: whatever uses the row is committed later in the same log.
_WITHOUT_SYNC_COMMIT = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"
# A parameter; what a quoted text holds is none.
_NAME = re.compile(r"'(?:[^']|'')*'|(?<!:):([a-z_][a-z0-9_]*)")
_ROW_COUNTED = ("UPDATE", "DELETE")
_CHANGED_TABLE = re.compile(r"\s*(UPDATE|DELETE FROM|INSERT INTO) (\w+)")


class Statement(NamedTuple):
    """SQL with `$1` … and the names of the parameters in that order."""

    text: str
    names: tuple[str, ...]

    def values(self, params: Params) -> list[object]:
        return [params[name] for name in self.names]


class Change(NamedTuple):
    """A queued change. is_one: it must change exactly one row."""

    sql: str
    params: Params
    is_one: bool


class Batch(NamedTuple):
    """Several changes in one statement. parameters: (index of the change, name) of each `$n`."""

    text: str
    parameters: tuple[tuple[int, str], ...]

    def values(self, changes: list[Change]) -> list[object]:
        return [changes[number].params[name] for number, name in self.parameters]


class _ParameterNumbers:
    """Numbers parameter names from 1, in the order of their first use."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in self.names:
            self.names.append(name)
        return f"${self.names.index(name) + 1}"


@lru_cache(maxsize=2048)
def numbered(sql: str, limit: int | None = None) -> Statement:
    """The statement with numbered parameters, for a transaction that has set its tenant.

    limit: written into the text, because a plan is shared by all values of a parameter, and for an
    unknown LIMIT PostgreSQL may sort a whole list to return one page.
    """
    if limit is not None:
        sql = sql.replace(":limit", str(int(limit)))
    numbering = _ParameterNumbers()
    return Statement(_NAME.sub(numbering, sql), tuple(numbering.names))


@lru_cache(maxsize=2048)
def within_tenant(sql: str, limit: int | None = None) -> Statement:
    """A SELECT that also sets the tenant, its last parameter."""
    inner = numbered(sql, limit)
    tenant = _SET_TENANT % f"${len(inner.names) + 1}"
    text = f"SELECT s.* FROM ({inner.text}) s WHERE (SELECT {tenant}) IS NOT NULL"
    return Statement(text, inner.names)


@lru_cache(maxsize=64)
def for_each(sql: str, types: tuple[tuple[str, str], ...], limit: int | None) -> str:
    """A SELECT for each element of the arrays that are its parameters. types: of (name, type).

    Each row ends with the place of its element, from 1.
    """
    if limit is not None:
        sql = sql.replace(":limit", str(int(limit)))
    arrays = ", ".join(f"${number}::{kind}[]" for number, (_, kind) in enumerate(types, 1))
    names = ", ".join(f'"{name}"' for name, _ in types)  # which may be words of SQL
    lookup = _NAME.sub(lambda found: f'each_of."{found[1]}"' if found[1] else found[0], sql)
    return (
        f"SELECT found.*, each_of.place FROM unnest({arrays}) WITH ORDINALITY"
        f" AS each_of ({names}, place), LATERAL ({lookup}) AS found"
    )


@lru_cache(maxsize=2048)
def with_values_within(sql: str, columns: tuple[str, ...], max_bytes: int) -> str:
    """A SELECT in which a value of these columns that has more bytes is empty.

    The first mention of a column is its place in the SELECT list. The length of a large value is
    known without reading the value.
    """
    for column in columns:
        place = re.compile(rf"\b(?:\w+\.)?{column}\b")
        sql = place.sub(
            rf"CASE WHEN octet_length(\g<0>) > {int(max_bytes)} THEN substr(\g<0>, 1, 0)"
            rf" ELSE \g<0> END AS {column}",
            sql,
            count=1,
        )
    return sql


@lru_cache(maxsize=2048)
def within_bytes(sql: str, columns: tuple[str, ...], max_bytes: int) -> str:
    """A SELECT that ends with the first row behind the one that exceeds `max_bytes`."""
    size = " + ".join(f"coalesce(octet_length(s.{column}), 0)" for column in columns)
    before = "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING"
    return (
        f"SELECT b.* FROM (SELECT s.*, coalesce(sum({size}) OVER ({before}), 0) AS bytes_before"
        f" FROM ({sql}) s) b WHERE b.bytes_before <= {int(max_bytes)}"
    )


@lru_cache(maxsize=64)
def increment(counter: Counter) -> str:
    """Increases the counter of `:counter_key` by `:counter_step` and returns its value."""
    table, key, value, zeros = counter
    columns = ", ".join((key, value, *zeros))
    return (
        f"INSERT INTO {table} ({columns}) VALUES (:counter_key, :counter_step{', 0' * len(zeros)})"
        f" ON CONFLICT ({key}) DO UPDATE SET {value} = {table}.{value} + :counter_step"
        f" RETURNING {value} AS counter_value"
    )


@lru_cache(maxsize=64)
def increment_and_fetch(counter: Counter, sql: str) -> str:
    """Also the first row of a SELECT, and before it whether there is one."""
    return (
        f"WITH counted AS ({increment(counter)}) SELECT counted.counter_value, found.*"
        f" FROM counted LEFT JOIN (SELECT TRUE AS is_found, f.* FROM ({sql}) f) found ON TRUE"
    )


@lru_cache(maxsize=64)
def changing(sql: str) -> Statement:
    """A change in WITH and the SELECT of its result, which also set the tenant.

    The tenant is the last parameter.
    """
    inner = numbered(sql)
    tenant = _SET_TENANT % f"${len(inner.names) + 1}"
    gate = f"(SELECT {tenant}) IS NOT NULL AND {_WITHOUT_SYNC_COMMIT}"
    return Statement(f"{inner.text} WHERE {gate}", inner.names)


@lru_cache(maxsize=64)
def across_tenants(directory: str, sql: str) -> Statement:
    """`sql` in the tenant that `directory` selects, which is set between the two.

    PostgreSQL cannot reorder LATERAL with a LIMIT inside, so it sets the tenant before it reads
    the row.
    """
    inner = numbered(directory)
    lookup = sql.replace(":tenant_id", "home.tenant_id").replace(":id", "home.id")
    tenant = _SET_TENANT % "d.tenant_id"
    text = (
        f"SELECT found.* FROM (SELECT {tenant} AS tenant_id, d.id FROM ({inner.text}) d LIMIT 1)"
        f" AS home, LATERAL ({lookup}) AS found"
    )
    return Statement(text, inner.names)


@lru_cache(maxsize=2048)
def updated_table(sql: str) -> str | None:
    """The table of which an UPDATE or DELETE changes rows, None for an INSERT."""
    found = _CHANGED_TABLE.match(sql)
    return None if found is None or found[1] == "INSERT INTO" else found[2]


@lru_cache(maxsize=2048)
def changed_table(sql: str) -> str:
    """The table of an INSERT, UPDATE or DELETE. Raises ValueError for another statement."""
    found = _CHANGED_TABLE.match(sql)
    if found is None:
        raise ValueError("the statement does not begin with what it changes")
    return found[2]


def combine(changes: list[Change], *, sets_tenant: bool) -> Batch:
    """All changes in one statement; with sets_tenant the tenant is its last parameter.

    All of them see the state before the statement, not the changes of each other.
    """
    return _combine(tuple((change.sql, change.is_one) for change in changes), sets_tenant)


@lru_cache(maxsize=1024)
def _combine(changes: tuple[tuple[str, bool], ...], sets_tenant: bool) -> Batch:
    parts: list[str] = []
    selected: list[str] = []
    parameters: list[tuple[int, str]] = []
    for number, (sql, is_one) in enumerate(changes):
        statement = numbered(sql)
        text = _renumber(statement.text, len(parameters))
        parameters += [(number, name) for name in statement.names]
        if is_one and sql.lstrip().startswith(_ROW_COUNTED):
            # No changed row divides by zero, which rolls back the whole statement.
            selected.append(f"1 / (SELECT count(*) FROM s{number})")
            text += " RETURNING 1"
        parts.append(f"s{number} AS ({text})")
    if sets_tenant:
        selected.insert(0, _SET_TENANT % f"${len(parameters) + 1}")
    return Batch(f"WITH {', '.join(parts)} SELECT {', '.join(selected) or '1'}", tuple(parameters))


def _renumber(text: str, by: int) -> str:
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + by}", text)
