"""Consumers of the event log: each reads all placed events in order, from its own position.

Where tables are distributed over nodes, there is no order of all tenants' commits, and the log of a
tenant is its feed (decision 0081).

The rooms declare consumers, and the worker runs them (decision 0025). A consumer changes only the
database, in the transaction that stores its position, so it handles each event exactly once. Side
effects, such as a webhook request or an e-mail, are stored by that transaction as work for another
task.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log import positions

_NEXT = """
SELECT log_position, tenant_id, position, id, type, created_at FROM events
WHERE log_position > :position ORDER BY log_position LIMIT :limit
"""
_NEXT_OF = """
SELECT position AS log_position, tenant_id, position, id, type, created_at FROM events
WHERE tenant_id = :tenant_id AND position > :position ORDER BY position LIMIT :limit
"""
_NEXT_WITH_OBJECTS = _NEXT.replace(" FROM", ", object FROM")
_NEXT_OF_WITH_OBJECTS = _NEXT_OF.replace(" FROM", ", object FROM")
# Of the objects that a consumer is given for one transaction; one of them has up to 1 MiB.
MAX_STEP_BYTES = 4 * 1024 * 1024
_NEXT_ID = """
SELECT id FROM events WHERE log_position > :position ORDER BY log_position LIMIT 1
"""


class LogEvent(NamedTuple):
    """A placed event. position: in the tenant's feed. log_position: the same in a tenant's log.

    happened_at: before the time of its id if it was imported from e-mail.
    object: as the API shows it, as JSON; empty for consumers that do not read objects.
    """

    log_position: int
    tenant_id: str
    position: int
    id: str
    type: str
    happened_at: int
    object: bytes = b""


class About(msgspec.Struct, frozen=True):
    """The ids in the object of an event."""

    id: str = ""
    ticket_id: str = ""


decode_about = msgspec.json.Decoder(About).decode


class Step(NamedTuple):
    """The result of one transaction of a consumer. has_more: there may be more events."""

    event_count: int
    has_more: bool


NOTHING = Step(0, has_more=False)


class Consumer(Protocol):
    """A consumer of the event log, declared by a room.

    tenant_id: whose feed it reads as its log; empty for the log of the installation.
    """

    @property
    def tenant_id(self) -> str: ...

    @property
    def name(self) -> str:
        """The name of its stored position, which must never change."""

    @property
    def batch_size(self) -> int:
        """The most events that it is given for one transaction."""

    @property
    def reads_objects(self) -> bool:
        """Whether it is given the objects of the events."""

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        """Whether it has to be given the events of this range of the log, or what is left of it."""

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        """Handle the events from the first on, as many as fit one transaction; how many.

        The rest is given again in the next transaction.
        """

    async def recover(self, tx: Tx) -> None:
        """Recover from events that were pruned before this consumer read them."""


async def find_lags(tx: Tx, names: Collection[str]) -> dict[str, int]:
    """How many events each of these consumers has to handle; without those that have none."""
    stored = await positions.list_positions(tx)
    end = stored.get(positions.END, 0)
    return {name: end - stored.get(name, 0) for name in names if stored.get(name, 0) < end}


async def find_oldest_unhandled(tx: Tx, names: Collection[str]) -> str | None:
    """The id of the first event that one of these consumers has to handle."""
    stored = await positions.list_positions(tx)
    position = min(stored.get(name, 0) for name in names)
    row = await tx.fetch_one(_NEXT_ID, {"position": position})
    return None if row is None else str(row["id"])


async def hold(tx: Tx, consumer: Consumer) -> bool:
    """Keep other processes from running this consumer until the transaction ends.

    False when another process runs it.
    """
    return await tx.try_lock(f"consumer {consumer.name}", consumer.tenant_id)


async def run_step(tx: Tx, consumer: Consumer, now_us: int) -> Step:
    """Let a consumer handle its next events, and store its position."""
    # On SQLite a transaction costs no round trips.
    if tx.dialect == "postgresql":
        passed = await _pass_unwanted(tx, consumer)
        if passed is not None:
            return passed
    if not await hold(tx, consumer):
        return NOTHING
    stored = await positions.list_positions(tx, consumer.tenant_id)
    position, end = stored.get(consumer.name, 0), stored.get(positions.END, 0)
    if position >= end:
        return NOTHING
    events = await list_next(tx, consumer, position)
    if not events:
        await consumer.recover(tx)
        await positions.store_position(tx, consumer.name, end, consumer.tenant_id)
        return NOTHING
    if events[-1].log_position - position != len(events):
        await consumer.recover(tx)
    handled = await consumer.handle(tx, events, now_us)
    if handled:
        position = events[handled - 1].log_position
        await positions.store_position(tx, consumer.name, position, consumer.tenant_id)
    return Step(len(events), position < end)


async def list_next(tx: Tx, consumer: Consumer, position: int) -> list[LogEvent]:
    """The events behind a position that a consumer is given for one transaction."""
    tenant_id = consumer.tenant_id
    params = {"tenant_id": tenant_id, "position": position, "limit": consumer.batch_size}
    if consumer.reads_objects:
        sql = _NEXT_OF_WITH_OBJECTS if tenant_id else _NEXT_WITH_OBJECTS
        rows = await tx.fetch_page(sql, params, ("object",), MAX_STEP_BYTES)
    else:
        rows = await tx.fetch_all(_NEXT_OF if tenant_id else _NEXT, params)
    return [LogEvent(*row[: len(LogEvent._fields)]) for row in rows]


async def _pass_unwanted(tx: Tx, consumer: Consumer) -> Step | None:
    """Pass the next events without a lock, if the consumer wants none of them."""
    stored = await positions.list_positions(tx, consumer.tenant_id)
    position, end = stored.get(consumer.name), stored.get(positions.END, 0)
    if position is None:
        return None
    if position >= end:
        return NOTHING
    reached = min(end, position + consumer.batch_size)
    if await consumer.wants_any(tx, position + 1, reached):
        return None
    await positions.advance(tx, consumer.name, position, reached, consumer.tenant_id)
    return Step(0, has_more=reached < end)
