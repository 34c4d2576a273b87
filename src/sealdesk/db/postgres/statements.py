"""SQL with named parameters, as PostgreSQL takes it: numbered, and folded into one round trip.

Row level security shows the rows of the tenant that a setting names, and the setting lasts for
one transaction. A statement by itself is one, so it sets the tenant in passing: a condition
without columns is the plan's gate and is evaluated before anything is read, and the list of a
SELECT before the changes that its WITH holds (tests/db/test_isolation.py shows both). Were it
ever otherwise, a statement would find nothing, or be refused.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from sealdesk.db.engine import Params

TENANT = "sealdesk.tenant_id"
_SET_TENANT = f"set_config('{TENANT}', %s, true)"
# Its commit need not be waited for: whatever uses the row is committed later in the same log.
_NOT_WAITED_FOR = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"
_NAME = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
_COUNTED = ("UPDATE", "DELETE")


class Statement(NamedTuple):
    """SQL with `$1` … and the names of the parameters in that order."""

    text: str
    names: tuple[str, ...]

    def values(self, params: Params) -> list[object]:
        return [params[name] for name in self.names]


class Change(NamedTuple):
    """A change that waits to be sent. is_one: it must change exactly one row."""

    sql: str
    params: Params
    is_one: bool


class Batch(NamedTuple):
    """Several changes in one statement. places: (which change, parameter) of each `$n`."""

    text: str
    places: tuple[tuple[int, str], ...]

    def values(self, changes: list[Change]) -> list[object]:
        return [changes[number].params[name] for number, name in self.places]


class _Numbering:
    """Gives each name its number, from 1."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, match: re.Match[str]) -> str:
        name = match[1]
        if name not in self.names:
            self.names.append(name)
        return f"${self.names.index(name) + 1}"


@lru_cache(maxsize=2048)
def plain(sql: str, limit: int | None = None) -> Statement:
    """The statement as it is, for a transaction that knows its tenant.

    limit: written into the text, for one plan serves all values of a parameter, and with a LIMIT
    that it does not know PostgreSQL may sort a whole list to give a page of it.
    """
    if limit is not None:
        sql = sql.replace(":limit", str(int(limit)))
    numbering = _Numbering()
    return Statement(_NAME.sub(numbering, sql), tuple(numbering.names))


@lru_cache(maxsize=2048)
def within_tenant(sql: str, limit: int | None = None) -> Statement:
    """A reading that sets the tenant, its last parameter, in passing."""
    inner = plain(sql, limit)
    tenant = _SET_TENANT % f"${len(inner.names) + 1}"
    text = f"SELECT s.* FROM ({inner.text}) s WHERE (SELECT {tenant}) IS NOT NULL"
    return Statement(text, inner.names)


@lru_cache(maxsize=64)
def drawn(sql: str) -> Statement:
    """A change with RETURNING that sets the tenant, its last parameter, in passing."""
    inner = plain(sql)
    tenant = _SET_TENANT % f"${len(inner.names) + 1}"
    gate = f"(SELECT {tenant}) IS NOT NULL AND {_NOT_WAITED_FOR}"
    return Statement(f"WITH s AS ({inner.text}) SELECT s.* FROM s WHERE {gate}", inner.names)


@lru_cache(maxsize=64)
def at_home(directory: str, sql: str) -> Statement:
    """`sql` in the tenant that `directory` gives, which is set between the two.

    LATERAL with a LIMIT inside cannot be turned round: the tenant is set before its row is read.
    """
    inner = plain(directory)
    found = sql.replace(":tenant_id", "home.tenant_id").replace(":id", "home.id")
    tenant = _SET_TENANT % "d.tenant_id"
    text = (
        f"SELECT found.* FROM (SELECT {tenant} AS tenant_id, d.id FROM ({inner.text}) d LIMIT 1)"
        f" AS home, LATERAL ({found}) AS found"
    )
    return Statement(text, inner.names)


def together(changes: list[Change], *, sets_tenant: bool) -> Batch:
    """All changes in one statement; with sets_tenant the tenant is its last parameter.

    They see the same state, and none of them what another has done.
    """
    return _together(tuple((change.sql, change.is_one) for change in changes), sets_tenant)


@lru_cache(maxsize=1024)
def _together(changes: tuple[tuple[str, bool], ...], sets_tenant: bool) -> Batch:
    parts: list[str] = []
    shown: list[str] = []
    places: list[tuple[int, str]] = []
    for number, (sql, is_one) in enumerate(changes):
        statement = plain(sql)
        text = _shifted(statement.text, len(places))
        places += [(number, name) for name in statement.names]
        if is_one and sql.lstrip().startswith(_COUNTED):
            # Nothing changed divides by zero, which undoes the whole statement.
            shown.append(f"1 / (SELECT count(*) FROM s{number})")
            text += " RETURNING 1"
        parts.append(f"s{number} AS ({text})")
    if sets_tenant:
        shown.insert(0, _SET_TENANT % f"${len(places) + 1}")
    return Batch(f"WITH {', '.join(parts)} SELECT {', '.join(shown) or '1'}", tuple(places))


def _shifted(text: str, by: int) -> str:
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + by}", text)
