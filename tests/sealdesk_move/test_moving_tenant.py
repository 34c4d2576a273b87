"""One tenant is moved between two databases with all its rows, wherever a move was interrupted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres.database import PostgresDatabase
from sealdesk.tickets.attachments.store import has_content
from sealdesk.tickets.attachments.types import Content
from sealdesk_move import sessions
from sealdesk_move.tenant import copying, ending, fence, rows, sequence
from sealdesk_move.tenant.marks import Marks
from sealdesk_move.tenant.sequence import Plan, Sides
from tests.support.databases import WAITS_FOR_ADVISORY_LOCK, Template
from tests.support.tenant_rows import (
    MARK,
    TENANT_TABLES,
    FilledDatabase,
    filled_database,
    further_row_of,
)

pytestmark = pytest.mark.timeout(240)
PLAN = Plan({MARK[:4].encode().hex()}, ["webhooks"])
_AT_REST = (
    "DELETE FROM event_outbox",
    "DELETE FROM search_rebuilds",
    "INSERT INTO search_rebuilds (consumer) VALUES ('customers'), ('tickets')",
    "INSERT INTO log_positions (name, position) VALUES ('webhooks', 2)",
)
_ADD_IDENTITIES = (
    "INSERT INTO installation_notes (name, note, noted_at) VALUES ('identities', '{}', 0)"
)
_IDENTITIES = "SELECT 1 FROM installation_notes WHERE name = 'identities'"
_MARKS = """
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'sealdesk_move_%'
UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE 'sealdesk_move_%'
UNION ALL SELECT polname FROM pg_policy WHERE polname LIKE 'sealdesk_move_%'
"""
_NOTHING: dict[str, list[Any]] = {table.name: [] for table in TENANT_TABLES}
# Where a move may end, and whether the source serves the tenant then.
_PLACES = {
    "when the marks are added": (Marks, "put_on"),
    "in the middle of copying": (rows, "add"),
    "when rows are compared": (copying, "compare_all"),
    "when requests are refused": (fence, "_fence_when_quiet"),
    "when the last changes come": (ending, "open_at_target"),
    "when the target opens": (fence, "resume_deliveries"),
}
_REFUSED = ("when requests are refused", "when the last changes come", "when the target opens")


class NoProgress:
    def begin(self, stage: str, table: str, done: int, total: int) -> None: ...

    def advance(self, rows: int) -> None: ...


class Cells:
    """Two databases. tenant: of the source, with its test tenant; other: also there."""

    def __init__(self, source: FilledDatabase, target: FilledDatabase) -> None:
        self.source, self.target = source, target
        self.tenant, self.test, self.other = source.tenants
        (self.theirs,) = target.tenants
        for each in (source, target):
            each.sql(*_AT_REST)
        source.sql(
            f"DELETE FROM test_tenants WHERE tenant_id <> '{self.test}'",
            f"UPDATE test_tenants SET live_id = '{self.tenant}'",
        )

    def move(self) -> None:
        self._run(_move, self.tenant)

    def begin(self) -> None:
        """Move it as far as until the target serves it."""
        self._run(_begin, self.tenant)

    def abandon(self) -> None:
        self._run(_abandon, self.tenant)

    def _run(self, work: Callable[[Sides, str], Coroutine[Any, Any, object]], tenant: str) -> None:
        async def run() -> None:
            async with self._sides(tenant) as sides:
                await work(sides, tenant)

        self.source.run(run())

    @asynccontextmanager
    async def _sides(self, tenant: str) -> AsyncIterator[Sides]:
        async with (
            sessions.open_in_use(self.source.owner) as source,
            sessions.open_in_use(self.target.owner) as target,
        ):
            yield sequence.sides_of(source, target, tenant)

    def delete_source(self) -> None:
        async def work() -> None:
            async with sessions.open_in_use(self.source.owner) as source:
                await sequence.delete_source(Marks(source, self.tenant), NoProgress())

        self.source.run(work())

    def as_moved(self, tenant: str) -> dict[str, list[dict[str, Any]]]:
        """The rows of a tenant at the source, as a move changes them."""
        contents: dict[str, list[dict[str, Any]]] = self.source.contents(tenant)
        for event in contents["events"]:
            event["log_position"] = None
        for user in contents["users"]:
            user["token_version"] += 1  # sessions end
        return _without_claims(contents)

    def moved(self, tenant: str) -> dict[str, list[dict[str, Any]]]:
        return _without_claims(self.target.contents(tenant))


async def _begin(sides: Sides, tenant: str) -> None:
    await sequence.move(sides, tenant, PLAN, NoProgress())


async def _move(sides: Sides, tenant: str) -> None:
    await _begin(sides, tenant)
    await sequence.close(sides)


async def _abandon(sides: Sides, tenant: str) -> None:
    await sequence.abandon(sides, tenant, NoProgress())


def _without_claims(contents: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Without when an endpoint is due, which the worker of each installation finds out."""
    for endpoint in contents["endpoints"]:
        endpoint["due_at"] = endpoint["leased_until"] = None
    return contents


class Crash(Exception):
    """Ends a move as the end of its process does."""


async def crash(*_: object) -> None:
    raise Crash


@pytest.fixture
def cells(postgres_template: Template) -> Iterator[Cells]:
    with (
        filled_database(postgres_template) as source,
        filled_database(postgres_template, 1) as target,
    ):
        yield Cells(source, target)


# The others take 10 s of a processor: `make prove` tries them all.
_FEW_PLACES = ("in the middle of copying", "when the last changes come")


@pytest.fixture(
    params=[
        pytest.param(place, marks=() if place in _FEW_PLACES else pytest.mark.prove)
        for place in _PLACES
    ]
)
def place(request: pytest.FixtureRequest) -> str:
    """Where a move is interrupted."""
    return str(request.param)


def interrupt(cells: Cells, place: str) -> None:
    """Begin a move, which ends there."""

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        room, name = _PLACES[place]
        calls, real = 0, getattr(room, name)

        async def crash_later(*args: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            # Half of the tables have rows at the target then.
            if room is rows and calls < len(TENANT_TABLES):
                return await real(*args, **options)
            await crash()

        patch.setattr(room, name, crash_later)
        cells.move()


def write(filled: FilledDatabase, tenant: str) -> None:
    """Change a row of a tenant as `sealdesk serve` does."""
    filled.sql(
        f"SET sealdesk.tenant_id = '{tenant}'",
        f"UPDATE tickets SET updated_at = updated_at + 1 WHERE tenant_id = '{tenant}'",
        url=filled.runtime,
    )


def directories(filled: FilledDatabase, tenant: str) -> dict[str, list[Any]]:
    sql = "SELECT * FROM {} t WHERE tenant_id = '{}' ORDER BY 1, 2 LIMIT 100"
    return {name: filled.fetch(sql.format(name, tenant)) for name in rows.DIRECTORIES}


def test_every_row_of_a_tenant_and_its_test_tenant_is_moved(cells: Cells) -> None:
    names = {each: directories(cells.source, each) for each in (cells.tenant, cells.test)}
    expected = {each: cells.as_moved(each) for each in (cells.tenant, cells.test)}
    other, theirs = cells.source.contents(cells.other), cells.target.contents(cells.theirs)
    cells.target.sql(_ADD_IDENTITIES)
    cells.move()
    for each, contents in expected.items():
        assert [name for name, found in contents.items() if not found] == ["event_outbox"]
        assert cells.moved(each) == contents
        names[each]["mailbox_directory"] = [
            (*row[:-2], None, None) for row in names[each]["mailbox_directory"]
        ]
        assert directories(cells.target, each) == names[each]
        assert not any(directories(cells.source, each).values())
    assert cells.source.contents(cells.other) == other
    assert cells.target.contents(cells.theirs) == theirs
    # Names and tags of the source may be of another version of Python.
    assert cells.target.fetch(_IDENTITIES) == []
    assert cells.target.fetch(_MARKS) == []


def test_after_an_interruption_the_same_command_goes_on(cells: Cells, place: str) -> None:
    interrupt(cells, place)
    write(cells.source, cells.other)
    if place in _REFUSED:
        with pytest.raises(asyncpg.PostgresError, match="this tenant is being moved") as refusal:
            write(cells.source, cells.tenant)
        assert refusal.value.sqlstate == "SD001"
    else:
        write(cells.source, cells.tenant)
    assert is_hidden(cells.target, cells.tenant)
    expected = {each: cells.as_moved(each) for each in (cells.tenant, cells.test)}
    cells.move()
    assert {each: cells.moved(each) for each in expected} == expected
    assert cells.target.fetch(_MARKS) == []


@pytest.mark.prove
def test_interrupted_move_is_abandoned(cells: Cells, place: str) -> None:
    before = {each: _without_claims(cells.source.contents(each)) for each in cells.source.tenants}
    interrupt(cells, place)
    cells.abandon()
    for each in (cells.tenant, cells.test):
        assert cells.target.contents(each) == _NOTHING
    assert cells.source.fetch(_MARKS) + cells.target.fetch(_MARKS) == []
    after = {each: _without_claims(cells.source.contents(each)) for each in cells.source.tenants}
    assert after == before
    write(cells.source, cells.tenant)
    cells.move()
    assert cells.moved(cells.tenant)["tickets"][0]["updated_at"] == 2


def is_hidden(filled: FilledDatabase, tenant: str) -> bool:
    """Whether a server finds no row of a tenant."""
    names = [table.name for table in TENANT_TABLES if table.name != "event_outbox"]
    some = " UNION ALL ".join(f"(SELECT 1 FROM {name} LIMIT 1)" for name in names)
    return not filled.fetch(f"SET sealdesk.tenant_id = '{tenant}'", some, url=filled.runtime)


def test_what_changes_while_rows_are_copied_is_moved_too(cells: Cells) -> None:
    interrupt(cells, "in the middle of copying")
    for table in TENANT_TABLES:
        if table.name != "event_outbox" and len(table.primary_key) > 1:
            cells.source.add(table, further_row_of(table, cells.tenant))
    write(cells.source, cells.tenant)
    interrupt(cells, "when rows are compared")
    assert len(cells.target.contents(cells.tenant)["tickets"]) == 2
    for table in reversed(TENANT_TABLES):
        cells.source.sql(f"DELETE FROM {table.name} WHERE tenant_id = '{cells.test}'")
    write(cells.source, cells.tenant)
    expected = {each: cells.as_moved(each) for each in (cells.tenant, cells.test)}
    cells.move()
    assert {each: cells.moved(each) for each in expected} == expected
    assert cells.moved(cells.test) == _NOTHING


def test_what_the_worker_changes_last_is_moved_too(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fence._fence_when_quiet

    async def end_deliveries(source: Marks, *rest: Any) -> None:
        worker = await asyncpg.connect(cells.source.worker)
        try:
            await worker.execute("UPDATE deliveries SET due_at = 7")
        finally:
            await worker.close()
        await real(source, *rest)

    monkeypatch.setattr(fence, "_fence_when_quiet", end_deliveries)
    cells.move()
    assert cells.moved(cells.tenant)["deliveries"][0]["due_at"] == 7


def test_a_transaction_that_is_open_at_the_fence_is_moved_whole(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fence.fence

    async def fence_beside_a_writer(source: Marks, *rest: Any) -> None:
        writer = await asyncpg.connect(cells.source.runtime)
        try:
            await writer.execute(f"SET sealdesk.tenant_id = '{cells.tenant}'")
            async with writer.transaction():
                await writer.execute("UPDATE tickets SET updated_at = 7")
                fencing = asyncio.create_task(real(source, *rest))
                while not await writer.fetchval(WAITS_FOR_ADVISORY_LOCK):
                    assert not fencing.done()
                await writer.execute("UPDATE customers SET updated_at = 7")
            await fencing
        finally:
            await writer.close()

    monkeypatch.setattr(fence, "fence", fence_beside_a_writer)
    cells.move()
    moved = cells.moved(cells.tenant)
    assert [moved[name][0]["updated_at"] for name in ("tickets", "customers")] == [7, 7]


def test_closed_rows_are_seen_by_nobody_and_can_be_deleted(cells: Cells) -> None:
    others = cells.source.contents(cells.other)
    with pytest.raises(Unusable, match="no rows of a tenant of this id that was moved"):
        cells.delete_source()
    cells.begin()
    with pytest.raises(Unusable, match="no rows of a tenant of this id that was moved"):
        cells.delete_source()
    cells.move()
    assert cells.source.contents(cells.tenant)["tickets"]
    assert is_hidden(cells.source, cells.tenant)
    cells.delete_source()
    for each in (cells.tenant, cells.test):
        assert cells.source.contents(each) == _NOTHING
        assert not cells.source.fetch(f"SELECT 1 FROM tenants WHERE id = '{each}'")
    assert cells.source.contents(cells.other) == others
    assert cells.source.fetch(_MARKS) == []


def test_files_of_a_tenant_are_kept_while_its_rows_are_hidden(cells: Cells) -> None:
    def kept(filled: FilledDatabase) -> list[str]:
        return [
            each for each in (*cells.source.tenants, cells.theirs) if keeps_unknown(filled, each)
        ]

    moved = [cells.tenant, cells.test]
    interrupt(cells, "in the middle of copying")
    assert kept(cells.source) == kept(cells.target) == moved
    cells.move()
    assert kept(cells.source) == moved
    assert kept(cells.target) == []
    cells.delete_source()
    assert kept(cells.source) == []


def keeps_unknown(filled: FilledDatabase, tenant: str) -> bool:
    """Whether the worker keeps a file of a tenant of which it sees no attachment."""

    async def work() -> bool:
        database = PostgresDatabase(filled.worker, 1, name="test", is_pooled=False)
        try:
            content = Content(tenant, "0" * 64)
            return await database.read(lambda tx: has_content(tx, content, 1))
        finally:
            await database.close()

    return filled.run(work())


@pytest.mark.prove
def test_a_moved_tenant_is_moved_back(cells: Cells) -> None:
    here, there = cells.source, cells.target
    before = here.contents(cells.tenant)["tickets"]
    cells.move()
    cells.source, cells.target = there, here
    with pytest.raises(Unusable, match="rows that the tenant left when it was moved"):
        cells.move()
    cells.source, cells.target = here, there
    cells.delete_source()
    cells.source, cells.target = there, here
    cells.move()
    assert here.contents(cells.tenant)["tickets"] == before
    write(here, cells.tenant)


def test_target_that_serves_cannot_be_abandoned(cells: Cells) -> None:
    cells.begin()
    with pytest.raises(Unusable, match="the target serves the tenant already"):
        cells.abandon()
    cells.move()
    with pytest.raises(Unusable, match="takes part in a move"):
        cells.abandon()


@pytest.mark.prove
@pytest.mark.parametrize("where", ["when rows are compared", "when the target opens", ""])
def test_a_source_that_is_named_as_the_target_loses_nothing(cells: Cells, where: str) -> None:
    before = {each: _without_claims(cells.source.contents(each)) for each in cells.source.tenants}
    if where:
        interrupt(cells, where)
    else:
        cells.begin()
    cells.source, cells.target = cells.target, cells.source
    for act in (cells.abandon, cells.move, cells.abandon):
        with pytest.raises(Unusable, match="in the other direction"):
            act()
    cells.source, cells.target = cells.target, cells.source
    after = {each: _without_claims(cells.source.contents(each)) for each in cells.source.tenants}
    assert after == before
    cells.move()


@pytest.mark.prove
def test_what_was_abandoned_in_part_is_abandoned_before_the_next_move(cells: Cells) -> None:
    interrupt(cells, "when rows are compared")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        patch.setattr(rows, "delete_some", crash)
        cells.abandon()
    write(cells.source, cells.tenant)
    with pytest.raises(Unusable, match="finish that with --abandon"):
        cells.move()
    cells.abandon()
    cells.move()


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("user_directory", "email_identity"),
        ("api_key_directory", "key_hash"),
        ("mailbox_directory", "address_identity"),
        ("contact_forms", "path_name"),
    ],
)
def test_a_name_that_the_target_has_already_is_refused(
    cells: Cells, table: str, name: str
) -> None:  # fmt: skip
    cells.target.sql(f"UPDATE {table} SET {name} = '{MARK}{cells.tenant}'")
    with pytest.raises(Unusable, match="belongs to another tenant at the target"):
        cells.move()
    assert cells.source.fetch(_MARKS) + cells.target.fetch(_MARKS) == []


@pytest.mark.prove
def test_a_name_that_the_target_gets_meanwhile_reopens_the_source(cells: Cells) -> None:
    interrupt(cells, "when the last changes come")
    cells.target.sql(f"UPDATE user_directory SET email_identity = '{MARK}{cells.tenant}'")
    with pytest.raises(Unusable, match="The source serves the tenant again"):
        cells.move()
    write(cells.source, cells.tenant)
    cells.target.sql(f"UPDATE user_directory SET email_identity = '{MARK}'")
    cells.move()


def test_a_tenant_whose_search_is_being_rebuilt_is_refused(cells: Cells) -> None:
    cells.source.sql("UPDATE search_rebuilds SET tenant_id = ''")
    with pytest.raises(Unusable, match="is being rebuilt"):
        cells.move()


@pytest.mark.parametrize("where", ["source", "target"])
def test_secrets_of_another_master_key_are_refused(cells: Cells, where: str) -> None:
    filled = cells.source if where == "source" else cells.target
    filled.sql("UPDATE api_keys SET sealed_secret = 'another key'")
    with pytest.raises(Unusable, match=f"the {where} has secrets that the SEALDESK_MASTER_KEY"):
        cells.move()


def test_an_owner_who_may_not_create_a_schema_is_told_what_helps(cells: Cells) -> None:
    cells.source.sql(
        "DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM %I', current_database(),"
        " current_user); END $$"
    )
    with pytest.raises(Unusable, match="GRANT CREATE ON DATABASE"):
        cells.move()


def test_a_test_tenant_is_moved_with_its_live_tenant_only(cells: Cells) -> None:
    cells.tenant, cells.test = cells.test, cells.tenant
    with pytest.raises(Unusable, match=f"is the test tenant of {cells.test}; move that one"):
        cells.move()


@pytest.mark.parametrize(
    ("tenant", "reason"),
    [
        ("6a5b9a52-7d6c-4f04-9d3a-0d9c6a4f4f4e", "the source has no tenant 6a5b9a52"),
        ("x; DROP SCHEMA public", "the id of a tenant is a UUID in lower case"),
    ],
)
def test_an_unknown_tenant_is_refused(cells: Cells, tenant: str, reason: str) -> None:
    cells.tenant = tenant
    with pytest.raises(Unusable, match=reason):
        cells.move()


@pytest.mark.prove
def test_a_worker_that_does_not_work_leaves_the_source_open(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fence, "MAX_WAIT_S", 0.1)
    cells.source.sql("UPDATE log_positions SET position = 0")
    with pytest.raises(Unusable, match="still has 2 events to handle"):
        cells.move()
    write(cells.source, cells.tenant)


def test_a_move_shows_that_it_waits_for_the_worker(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fence, "MAX_WAIT_S", 0.1)
    monkeypatch.setattr(fence, "_FEW_EVENTS", 1)
    began = []
    monkeypatch.setattr(NoProgress, "begin", lambda _, *stage: began.append(stage))
    cells.source.sql("UPDATE log_positions SET position = 0")
    with pytest.raises(Unusable, match="is 2 events behind"):
        cells.move()
    assert began[-1] == ("wait for the worker", "events", 0, 2)


@pytest.mark.prove
def test_another_target_is_refused_while_the_first_may_serve(
    cells: Cells, postgres_template: Template
) -> None:
    first = cells.target
    cells.begin()
    with filled_database(postgres_template, 1) as cells.target:
        for act in (cells.move, cells.abandon):
            with pytest.raises(Unusable, match="takes part in a move"):
                act()
    cells.target = first
    cells.move()


@pytest.mark.prove
def test_a_move_to_another_target_makes_the_first_one_useless(
    cells: Cells, postgres_template: Template
) -> None:
    first = cells.target
    interrupt(cells, "when rows are compared")
    with filled_database(postgres_template, 1) as second:
        second.sql(*_AT_REST)
        cells.target = second
        interrupt(cells, "when the last changes come")
        cells.target = first
        with pytest.raises(Unusable, match="rows of an earlier move"):
            cells.move()
        cells.abandon()
        assert first.contents(cells.tenant) == _NOTHING
        with pytest.raises(asyncpg.PostgresError, match="this tenant is being moved"):
            write(cells.source, cells.tenant)
        cells.target = second
        cells.move()
        assert second.contents(cells.tenant)["tickets"]
