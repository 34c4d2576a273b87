"""What a move of a tenant adds to an installation: a schema with its state, triggers and policies.

The triggers refuse writes of the tenant or record the keys of changed rows; the policies hide the
tenant's rows from roles. Both read the state, so that one update switches all tables at once.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import asyncpg
from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres.errors import TenantMoves
from sealdesk_move.tables import Table
from sealdesk_move.tenant.rows import Tables

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# mailbox_directory is left out: a reader of folders leases rows of several tenants at once. A
# change of an address also changes `mailboxes`, which refuses it.
_FENCED_DIRECTORIES = ("test_tenants", "user_directory", "api_key_directory", "contact_forms")
_ATTEMPTS = 300
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '200ms'"
_STATE = """
CREATE TABLE {schema}.state (
    move_id text NOT NULL, tenant_ids text[] NOT NULL, owner text NOT NULL DEFAULT current_user,
    phase text NOT NULL, writers text[], hides_from text[] NOT NULL,
    hides_from_all boolean NOT NULL
);
CREATE TABLE {schema}.done (name text PRIMARY KEY);
GRANT USAGE ON SCHEMA {schema} TO PUBLIC;
GRANT SELECT ON {schema}.state TO PUBLIC
"""
# A transaction that has passed a trigger holds the lock until it ends, so a change of the state
# waits for it. The setting is that of the session that moves.
_FUNCTION = """
CREATE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    is_refused boolean;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({lock});
    SELECT s.writers IS NOT NULL AND session_user <> ALL (s.writers) AND NOT (
        session_user = s.owner AND current_setting('sealdesk.moves', true) IS NOT DISTINCT FROM
        '{schema}')
    INTO is_refused FROM {schema}.state s LIMIT 1;
    IF is_refused THEN
        RAISE EXCEPTION 'this tenant is being moved' USING ERRCODE = '{code}';
    END IF;
    {records}
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$function$
"""
_RECORD = """
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO {schema}.changed_{table} VALUES ({old});
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO {schema}.changed_{table} VALUES ({new});
    END IF;
"""


class Phase(NamedTuple):
    """The state of an installation in a move.

    writers: the roles that may write rows of the tenant, None for all. hides_from: the roles that
    do not see them. hides_from_all: nobody but the owner sees them.
    """

    name: str
    writers: tuple[str, ...] | None = None
    hides_from: tuple[str, ...] = ()
    hides_from_all: bool = False


COPYING = Phase("copying")


def closing(workers: Sequence[str]) -> Phase:
    """Only the worker still writes."""
    return Phase("closing", tuple(workers))


def fenced(workers: Sequence[str]) -> Phase:
    """Nobody writes, and the worker sees nothing; requests still read."""
    return Phase("fenced", (), tuple(workers))


CLOSED = Phase("closed", (), (), hides_from_all=True)
RECEIVING = Phase("receiving", (), (), hides_from_all=True)
READY = Phase("ready")
ABANDONED = Phase("abandoned", (), (), hides_from_all=True)


class State(NamedTuple):
    """The stored state. move_id: the same on both sides. tenant_ids: with the test tenant."""

    move_id: str
    tenant_ids: tuple[str, ...]
    phase: str


class Marks:
    """The schema, triggers and policies of the move of one tenant in one installation."""

    def __init__(self, connection: Connection, tenant_id: str) -> None:
        """Raises Unusable unless the tenant's id is a UUID."""
        if not _UUID.fullmatch(tenant_id):
            raise Unusable("the id of a tenant is a UUID in lower case")
        self.connection = connection
        self.schema = f"sealdesk_move_{tenant_id.replace('-', '')}"
        self.lock = int(tenant_id.replace("-", "")[-15:], 16)

    async def read(self) -> State | None:
        """The state; None where no move is."""
        if not await self.connection.fetchval(
            "SELECT to_regclass($1) IS NOT NULL", f"{self.schema}.state"
        ):
            return None
        (row,) = await self.connection.fetch(
            f"SELECT move_id, tenant_ids, phase FROM {self.schema}.state LIMIT 1"
        )
        return State(row["move_id"], tuple(row["tenant_ids"]), row["phase"])

    async def begin(
        self, move_id: str, tenant_ids: Sequence[str], phase: Phase, recorded: Tables | None
    ) -> None:
        """Store the state. recorded: the tables whose changes are recorded. Raises Unusable."""
        try:
            async with self.connection.transaction():
                await self.connection.execute(f"CREATE SCHEMA {self.schema}")
                await self.connection.execute(_STATE.format(schema=self.schema))
                await self.connection.execute(
                    f"INSERT INTO {self.schema}.state (move_id, tenant_ids, phase, writers,"
                    " hides_from, hides_from_all) VALUES ($1, $2, $3, $4, $5, $6)",
                    move_id,
                    tenant_ids,
                    *phase,
                )
                if recorded is not None:
                    await self._create_functions(recorded)
        except asyncpg.InsufficientPrivilegeError as error:
            raise Unusable(
                "the owner of the tables may not create a schema; let an administrator run"
                " GRANT CREATE ON DATABASE … TO the owner"
            ) from error

    async def _create_functions(self, tables: Tables) -> None:
        for table in (*tables.own, *tables.directories):
            if table in tables.directories and table.name not in _FENCED_DIRECTORIES:
                continue
            records = ""
            if table in tables.own:
                types = dict(zip(table.columns, table.types, strict=True))
                columns = ", ".join(f"{name} {types[name]}" for name in table.key)
                await self.connection.execute(
                    f"CREATE TABLE {self.schema}.changed_{table.name} ({columns})"
                )
                old, new = _of("OLD", table), _of("NEW", table)
                records = _RECORD.format(schema=self.schema, table=table.name, old=old, new=new)
            await self.connection.execute(
                _FUNCTION.format(
                    schema=self.schema,
                    name=f"on_{table.name}",
                    lock=self.lock,
                    code=TenantMoves.sqlstate,
                    records=records,
                )
            )

    async def set_move_id(self, move_id: str) -> None:
        await self.connection.execute(f"UPDATE {self.schema}.state SET move_id = $1", move_id)

    async def set_phase(self, phase: Phase) -> None:
        await self.connection.execute(
            f"UPDATE {self.schema}.state SET phase = $1, writers = $2, hides_from = $3,"
            " hides_from_all = $4",
            *phase,
        )

    async def switch(
        self, phase: Phase, check: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Change the state when no transaction is between a trigger and its end.

        check: runs while writers wait; what it raises leaves the state as it is. Raises Unusable.
        """

        async def change() -> None:
            await self.connection.execute(f"SELECT pg_advisory_xact_lock({self.lock})")
            if check is not None:
                await check()
            await self.set_phase(phase)

        await self._patiently(change)

    async def use(self) -> None:
        """Let this session write what the triggers refuse to others."""
        await self.connection.execute(f"SET sealdesk.moves = '{self.schema}'")

    async def put_on(self, tables: Tables, tenant_ids: Sequence[str], *, records: bool) -> None:
        """Add the triggers and policies that are missing. records: with triggers.

        Each table is locked for a moment, and at most 200 ms are waited for it at a time.
        """
        triggers, policies = await self._existing()
        ids = "'{" + ",".join(tenant_ids) + "}'"
        for table in (*tables.own, *tables.directories):
            statements = []
            is_fenced = table in tables.own or table.name in _FENCED_DIRECTORIES
            if records and is_fenced and table.name not in triggers:
                statements += self._trigger_statements(table.name, ids)
            if table in tables.own and table.name not in policies:
                statements.append(
                    f"CREATE POLICY {self.schema} ON {table.name} AS RESTRICTIVE USING"
                    f" (tenant_id <> ALL ({ids}::text[]) OR NOT EXISTS (SELECT 1 FROM"
                    f" {self.schema}.state s WHERE current_user <> s.owner AND"
                    " (s.hides_from_all OR current_user = ANY (s.hides_from))))"
                )
            if statements:
                await self._alter(table.name, statements)

    def _trigger_statements(self, name: str, ids: str) -> list[str]:
        def of(row: str) -> str:
            return f"{row}.tenant_id = ANY ({ids}::text[])"

        function = f"EXECUTE FUNCTION {self.schema}.on_{name}()"
        return [
            f"CREATE TRIGGER {self.schema}_{suffix} BEFORE {change} ON {name} FOR EACH ROW"
            f" WHEN ({condition}) {function}"
            for suffix, change, condition in (
                ("i", "INSERT", of("NEW")),
                ("u", "UPDATE", f"{of('OLD')} OR {of('NEW')}"),
                ("d", "DELETE", of("OLD")),
            )
        ]

    async def drop_triggers(self) -> None:
        triggers, _ = await self._existing()
        for name in sorted(triggers):
            dropped = [f"DROP TRIGGER IF EXISTS {self.schema}_{s} ON {name}" for s in "iud"]
            await self._alter(name, dropped)

    async def take_off(self) -> None:
        """Remove the triggers, the policies and at last the schema."""
        await self.drop_triggers()
        _, policies = await self._existing()
        for name in sorted(policies):
            await self._alter(name, [f"DROP POLICY IF EXISTS {self.schema} ON {name}"])
        await self.connection.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")

    async def _existing(self) -> tuple[set[str], set[str]]:
        """The tables that have the triggers, and those that have the policy."""
        triggers = await self.connection.fetch(
            "SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger"
            " WHERE tgname IN ($1 || '_i', $1 || '_u', $1 || '_d') LIMIT 1000",
            self.schema,
        )
        policies = await self.connection.fetch(
            "SELECT polrelid::regclass::text AS name FROM pg_policy WHERE polname = $1 LIMIT 1000",
            self.schema,
        )
        return {row["name"] for row in triggers}, {row["name"] for row in policies}

    async def _alter(self, table: str, statements: Sequence[str]) -> None:
        async def change() -> None:
            await self.connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            for statement in statements:
                await self.connection.execute(statement)

        await self._patiently(change)

    async def _patiently(self, change: Callable[[], Awaitable[None]]) -> None:
        """Run it in a transaction that waits 200 ms for a lock, until it got it. Raises Unusable.

        Others wait behind it meanwhile, and go on between two attempts.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self.connection.transaction():
                    await self.connection.execute(_LOCK_TIMEOUT)
                    await change()
                return
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                await asyncio.sleep(min(1.0, 0.05 * (attempt + 1)))
        raise Unusable(
            "a table is locked all the time; look for long transactions, and run it again"
        )


def _of(row: str, table: Table) -> str:
    return ", ".join(f"{row}.{name}" for name in table.key)
