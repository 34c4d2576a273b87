"""Row-level security isolates tenants even in statements without their tenant filter.

Each statement of the source is run with `tenant_id = :tenant_id` made true, by one tenant, with
the ids of another. The same as the owner, whose policy shows all, does find or change foreign
rows: so these tests can fail.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any

import asyncpg
import pytest

from sealdesk.db import schema
from sealdesk.db.engine import Counter, Params, Tx
from sealdesk.db.postgres import statements as folding
from sealdesk.db.postgres.database import PostgresDatabase
from sealdesk.db.schema import metadata
from sealdesk.errors import ServiceUnavailable
from tests.support.databases import Template
from tests.support.for_each import for_each
from tests.support.statements import Statement, statements
from tests.support.tenant_rows import (
    MARK,
    FilledDatabase,
    filled_database,
    further_row_of,
    of_tenants,
    row_of,
    run,
)

Way = Callable[..., Awaitable[Any]]  # of a Tx, sql and params
_FILTER = re.compile(r"(\w+\.)?tenant_id = :tenant_id")
# Some return counts, others the id or the time of one of many rows: no row to recognise.
_COUNTS = (
    "tickets/ticket/store/lists.py _COUNT",
    "identity/people/store.py _FIND_ADDED",
    "api_keys/request_log/store.py _FIND_NTH",
    "api_keys/request_log/store.py _FIND_NTH_WITH_STATUS",
    "tickets/ticket/store/tickets.py _FIND_ID",
    "tickets/notifications/store.py _COUNT_UNREAD",
    "tickets/snoozing/store.py _COUNT",
    "tickets/attachments/store.py _USED",
    "customers/store.py _COUNT",
    "tickets/tags/store.py _COUNT",
    "tickets/erasing/store.py _COUNT",
    "webhooks/store/delivery_log.py _COUNT_FAILED",
    "mail/receiving/store.py _COUNT_NEW",
    "mail/mailboxes/store/mailboxes.py _COUNT_FAILING",
    "mail/contact_form/store.py _COUNT",
    "mail/receiving/store.py _COUNT_REPLIES",
    "mail/receiving/store.py _COUNT_REPLIES_TO",
    "mail/receiving/store.py _SUM_WAITING",
    "mail/receiving/store.py _SUM_WAITING_OF",
    "mail/sending/store.py _LIST_ACKNOWLEDGED",
    "team_now/store.py _GROUPS",
    "team_now/store.py _NEXT_DUE",
    "team_now/store.py _PRESENCE",
    "teams/store.py _FIND_AWAY",
    "api_keys/store.py _FEATURES",
)
# They find tickets of nobody, awake or unfinished, which those rows are not; or people
# whose address is that of no mailbox, and that of those rows is one.
_OF_NOBODY = (
    "mail/threads/store.py _LIST_RECIPIENTS",
    "tickets/ticket/store/destinations.py _LIST_PARTICIPANTS",
    "tickets/ticket/store/destinations.py _LIST_RECIPIENTS",
    "teams/store.py _LIST_WAITING",
    "teams/store.py _LIST_TICKETS",
    "team_now/store.py _WAITING",
    "team_now/store.py _WAITING_OF_TEAM",
    "team_now/store.py _UNFINISHED",
)
# Their parameters are named by their place, for several tickets at once, or numbers.
_BUILT = ("tickets/live/store.py _CHANGE", "tickets/live/store.py _EVENTS")
# Not even the owner's statements change the foreign rows: a customer with a ticket, a delivery that
# has not failed, a received message whose outcome is another one, a message in no state, and
# a reply that says the same.
_KEPT = (
    "customers/store.py _DELETE_WITHOUT_TICKETS",
    "customers/store.py _DELETE",
    "webhooks/store/delivery_log.py _RESTART_FAILED",
    "mail/receiving/store.py _FINISH",
    "mail/sending/store.py _BOUNCE",
    "mail/sending/store.py _SET_DELIVERY",
)
FILTERED = [
    found
    for found in statements()
    if _FILTER.search(found.sql) and not found.function and not found.is_of_index
]
SELECTS = [
    found
    for found in FILTERED
    if found.verb == "SELECT"
    and found.is_of_tenants
    and not found.is_of_worker
    and not found.name.endswith((*_COUNTS, *_BUILT, *_OF_NOBODY))
]
CHANGES = [
    found
    for found in FILTERED
    if found.verb in ("UPDATE", "DELETE")
    and found.tables[0] not in schema.GLOBAL
    and found.tables[0] != "attachment_usage"  # one row for each tenant: it changes its own
    and not found.is_of_worker
]
_NUMBERS = Counter("ticket_numbers", key="tenant_id", value="last_number")
_LAST = "~"  # sorts behind every id
_OTHERS = {
    "limit": 100,
    "first": 0,
    "end": 2**40,
    "most": 100,
    "step": 1,
    "now": 2,
    "valid_at": 0,
    "lowest": 0,
    "highest": 2**40,
    "due": 10,
    "kept": 0,
    "kept_since": 0,
    "stored_since": 0,
    "seen_since": 0,
    "after_id": "",
    "after": "",
    "since": "",
    "except_id": "",
    "low": "",
    "high": _LAST,
    "until": _LAST,
    "oldest": _LAST,
    "oldest_id": "",
    "test": "",
    "size": 0,
    "quota": 10,
    "rotated": b"",
}


@pytest.fixture(scope="module")
def filled(postgres_template: Template) -> Iterator[FilledDatabase]:
    with filled_database(postgres_template) as filled:
        yield filled


class OpenDatabases:
    """Databases that stay open from test to test: to connect takes longer than a statement."""

    def __init__(self, filled: FilledDatabase) -> None:
        self._filled = filled
        self._open: dict[tuple[str, bool], PostgresDatabase] = {}

    def of_runtime(self, *, is_pooled: bool = False) -> PostgresDatabase:
        return self._find(self._filled.runtime, is_pooled)

    def of_owner(self) -> PostgresDatabase:
        return self._find(self._filled.owner, False)

    def _find(self, url: str, is_pooled: bool) -> PostgresDatabase:
        if (url, is_pooled) not in self._open:
            database = PostgresDatabase(url, 1, name="test", is_pooled=is_pooled)
            self._open[url, is_pooled] = database
        return self._open[url, is_pooled]

    async def close(self) -> None:
        for database in self._open.values():
            await database.close()


@pytest.fixture(scope="module")
def open_databases(filled: FilledDatabase) -> Iterator[OpenDatabases]:
    open_databases = OpenDatabases(filled)
    yield open_databases
    filled.run(open_databases.close())


@asynccontextmanager
async def _database(url: str, *, is_pooled: bool = False) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(url, 1, name="test", is_pooled=is_pooled)
    try:
        yield database
    finally:
        await database.close()


def _unfiltered(statement: Statement) -> str:
    return _FILTER.sub("CAST(:tenant_id AS text) IS NOT NULL", statement.sql)


def _aimed(statement: Statement, own: str, foreign: str) -> dict[str, object]:
    """Parameters of one tenant that name another's rows."""
    params: dict[str, object] = {**_OTHERS, "before": _LAST}
    if "version = :before" in statement.sql:
        params |= {"before": 1, "alert_before": 1}
    if "due_at > :now" in statement.sql:
        params["now"] = 0
    for name in reversed(statement.tables):
        params |= row_of(metadata.tables[name], foreign)
    params |= {
        "to_id": params.get("ticket_id", params.get("customer_id")),
        "desk": params.get("owner_id"),
        "user_id": None,
    } | params
    return params | {"tenant_id": own}


async def _open_first(tx: Tx, sql: str, params: Params) -> Any:
    await tx.lock("opened")
    return await tx.fetch_all(sql, params)


async def _plainly(tx: Tx, sql: str, params: Params) -> Any:
    return await tx.fetch_all(sql, params)


READINGS: tuple[tuple[Way, bool], ...] = ((_plainly, False), (_open_first, False), (_plainly, True))


@for_each("statement", SELECTS, ids=lambda case: case.name)
def test_read_without_its_filter_returns_no_foreign_row(
    filled: FilledDatabase, open_databases: OpenDatabases, statement: Statement
) -> None:
    own, foreign, _ = filled.tenants
    sql, params = _unfiltered(statement), _aimed(statement, own, foreign)

    def seen(database: PostgresDatabase, read: Way) -> list[tuple[object, ...]]:
        rows = filled.run(database.read(lambda tx: read(tx, sql, params), own))
        return [tuple(row) for row in rows if _is_of(foreign, row)]

    for read, is_pooled in READINGS:
        assert seen(open_databases.of_runtime(is_pooled=is_pooled), read) == []
    assert seen(open_databases.of_owner(), _plainly) != [], "the owner must see it"


def _is_of(tenant: str, row: tuple[object, ...]) -> bool:
    """Whether a row was made from a tenant's: by its texts, or when it is no more than a 1."""
    return tuple(row) == (1,) or any(tenant in str(value) for value in row)


async def _run(tx: Tx, sql: str, params: Params) -> Any:
    return await tx.execute(sql, params)


async def _send(tx: Tx, sql: str, params: Params) -> Any:
    await tx.enqueue(sql, params)


async def _put(tx: Tx, sql: str, params: Params) -> Any:
    await tx.execute_one(sql, params)


async def _send_two(tx: Tx, sql: str, params: Params) -> Any:
    await tx.enqueue("UPDATE customers SET name = name WHERE tenant_id = :tenant_id", params)
    await tx.enqueue(sql, params)


WRITINGS: dict[str, tuple[Way, bool]] = {
    "run": (_run, False),
    "sent": (_send, False),
    "put": (_put, False),
    "sent with others": (_send_two, False),
    "through a pooler": (_send, True),
}


@pytest.mark.parametrize("statement", CHANGES, ids=[case.name for case in CHANGES])
def test_write_without_its_filter_changes_no_foreign_row(
    filled: FilledDatabase, open_databases: OpenDatabases, statement: Statement
) -> None:
    own, foreign, _ = filled.tenants
    sql, params = _unfiltered(statement), _aimed(statement, own, foreign)
    before = filled.contents(foreign)
    for way, (write, is_pooled) in WRITINGS.items():
        database = open_databases.of_runtime(is_pooled=is_pooled)
        # A row that must be there and is not seen has gone: the work is run again, in vain.
        with pytest.raises(ServiceUnavailable) if way == "put" else nullcontext():
            filled.run(database.write(partial(write, sql=sql, params=params), own))
        assert filled.contents(foreign) == before, way
    changed = _changed_by_owner(filled, open_databases, sql, params)
    assert changed > 0 or statement.name.endswith(_KEPT), "the owner must reach it"


class _TakenBack(Exception):
    pass


def _changed_by_owner(
    filled: FilledDatabase, open_databases: OpenDatabases, sql: str, params: Params
) -> int:
    """How many rows a change reaches where nothing holds it; taken back."""
    found = []

    async def work(tx: Tx) -> None:
        found.append(await tx.execute(sql, params))
        raise _TakenBack

    with pytest.raises(_TakenBack):
        filled.run(open_databases.of_owner().write(work))
    return int(found[0])


@pytest.mark.parametrize("way", ["run", "put", "through a pooler"])
def test_a_row_cannot_be_added_for_another_tenant(filled: FilledDatabase, way: str) -> None:
    own, foreign, _ = filled.tenants
    write, is_pooled = WRITINGS[way]

    async def add_to_all() -> None:
        async with _database(filled.runtime, is_pooled=is_pooled) as database:
            for name in of_tenants():
                new = further_row_of(metadata.tables[name], foreign)
                places = ", ".join(f":{column}" for column in new)
                sql = f"INSERT INTO {name} ({', '.join(new)}) VALUES ({places})"
                with pytest.raises(ServiceUnavailable) as refusal:
                    await database.write(partial(write, sql=sql, params=new), own)
                assert "violates row-level security" in str(refusal.value.__cause__), name

    before = filled.contents(foreign)
    run(add_to_all())
    assert filled.contents(foreign) == before


def test_row_cannot_be_moved_to_another_tenant(filled: FilledDatabase) -> None:
    own, foreign, _ = filled.tenants

    async def hand_over() -> None:
        async with _database(filled.runtime) as database:
            sql = "UPDATE tickets SET tenant_id = :foreign, id = id || '2'"
            await database.write(lambda tx: tx.execute(sql, {"foreign": foreign}), own)

    with pytest.raises(ServiceUnavailable) as refusal:
        run(hand_over())
    assert "violates row-level security policy" in str(refusal.value.__cause__)


@pytest.mark.parametrize("is_open", [False, True])
def test_counter_and_the_row_beside_it_belong_to_the_tenant(
    filled: FilledDatabase, is_open: bool
) -> None:
    own, foreign, _ = filled.tenants
    sql = "SELECT tenant_id FROM customers WHERE id <> :id ORDER BY tenant_id LIMIT 5"

    async def work(tx: Tx) -> object:
        if is_open:
            await tx.lock("opened")
        _, row = await tx.increment_and_fetch(_NUMBERS, own, sql, {"id": ""})
        return row is not None and row["tenant_id"]

    async def draw() -> object:
        async with _database(filled.runtime) as database:
            return await database.write(work, own)

    before = filled.contents(foreign)
    assert run(draw()) == own
    assert filled.contents(foreign) == before


@pytest.mark.parametrize("is_open", [False, True])
def test_counter_of_another_tenant_is_refused(filled: FilledDatabase, is_open: bool) -> None:
    own, foreign, _ = filled.tenants

    async def work(tx: Tx) -> object:
        if is_open:
            return await tx.increment(_NUMBERS, foreign)
        return await tx.increment_and_fetch(_NUMBERS, foreign, "SELECT 1 AS one", {})

    async def draw() -> None:
        async with _database(filled.runtime) as database:
            await database.write(work, own)

    with pytest.raises(ServiceUnavailable) as refusal:
        run(draw())
    assert "violates row-level security policy" in str(refusal.value.__cause__)


@pytest.mark.parametrize("is_pooled", [False, True])
def test_a_home_that_names_a_foreign_row_leads_nowhere(
    filled: FilledDatabase, is_pooled: bool
) -> None:
    own, foreign, _ = filled.tenants
    directory = "SELECT tenant_id, :foreign AS id FROM user_directory WHERE tenant_id = :own"
    sql = "SELECT * FROM users WHERE :tenant_id <> '' AND id = :id LIMIT 1"

    async def find(of: str) -> object:
        async with _database(filled.runtime, is_pooled=is_pooled) as database:
            params = {"own": own, "foreign": f"{MARK}{of}"}
            return await database.read(lambda tx: tx.find_across_tenants(directory, sql, params))

    assert run(find(foreign)) is None
    assert run(find(own)) is not None


@pytest.mark.parametrize("setting", ["", "nobody", None])
def test_transaction_without_a_tenant_reads_no_rows_and_no_error(
    filled: FilledDatabase, setting: str | None
) -> None:
    async def seen() -> set[int]:
        connection = await asyncpg.connect(filled.runtime)
        if setting is not None:
            await connection.execute(f"SET sealdesk.tenant_id = '{setting}'")
        counts = await _counts(connection)
        # What a transaction leaves behind is empty, not missing.
        async with connection.transaction():
            await connection.execute("SELECT set_config('sealdesk.tenant_id', $1, true)", "x")
        counts |= await _counts(connection)
        await connection.close()
        return counts

    assert run(seen()) == {0}


async def _counts(connection: asyncpg.Connection) -> set[int]:
    return {await connection.fetchval(f"SELECT count(*) FROM {name}") for name in of_tenants()}


async def _left_over(database: PostgresDatabase, own: str) -> object:
    """What a connection that a tenant has used shows to who names none."""
    await database.read(lambda tx: tx.fetch_all("SELECT 1 AS one FROM tickets LIMIT 1", {}), own)
    await database.write(lambda tx: tx.enqueue("UPDATE tickets SET version = version", {}), own)
    rows = await database.read(lambda tx: tx.fetch_all("SELECT id FROM tickets LIMIT 9", {}))
    return len(rows)


@pytest.mark.parametrize("is_pooled", [False, True])
def test_reused_connection_has_no_tenant(filled: FilledDatabase, is_pooled: bool) -> None:
    async def look() -> object:
        async with _database(filled.runtime, is_pooled=is_pooled) as database:
            return await _left_over(database, filled.tenants[0])

    assert run(look()) == 0


def test_a_tenant_set_for_the_session_would_be_seen_to_leak(
    filled: FilledDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_session = "set_config('sealdesk.tenant_id', %s, false)"
    monkeypatch.setattr(folding, "_SET_TENANT", for_session)
    _forget_statements()

    async def look() -> object:
        async with _database(filled.runtime) as database:
            return await _left_over(database, filled.tenants[0])

    leaked = run(look())
    _forget_statements()
    assert leaked == 1


def _forget_statements() -> None:
    for kept in (
        folding.within_tenant,
        folding.changing,
        folding.across_tenants,
        folding._combine,
    ):
        kept.cache_clear()
