"""Who has a stream of a topic, shared between the processes of one database.

A process stores its own viewers every quarter of a second and renews them while they stay. Each
change increments one of a few counters, so that a process reads all counters at once and finds out
which topics may have changed, without a row of another tenant.
"""

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sealdesk import ids
from sealdesk.clock import Clock
from sealdesk.db.column_lists import delete_row, insert_or_update
from sealdesk.db.engine import Database, Params, Tx
from sealdesk.db.schema.retention import kept_us
from sealdesk.errors import ServiceUnavailable

BUCKETS = 256
RENEW_EVERY_US = 20 * 1_000_000
# Rows of a process that was killed count for so long: two renewals and a margin.
_PRESENT_US = kept_us("viewers")
_MAX_LISTED = 100

_RECORD = insert_or_update("viewers", "tenant_id topic user_id process_id", "user_name seen_at")
_CLEAR = delete_row("viewers", "tenant_id topic user_id process_id")
_LIST = """
SELECT user_id, user_name FROM viewers
WHERE tenant_id = :tenant_id AND topic = :topic AND seen_at >= :seen_since
ORDER BY seen_at DESC, user_id, process_id LIMIT :limit
"""
_COUNT_CHANGE = """
INSERT INTO presence_counters (bucket, changes) VALUES (:bucket, 1)
ON CONFLICT (bucket) DO UPDATE SET changes = presence_counters.changes + 1
"""
_COUNTERS = "SELECT bucket, changes FROM presence_counters ORDER BY bucket LIMIT :limit"
_MAX_USERS = 10_000  # 0.3 KiB each


class Viewer(NamedTuple):
    """A user who has at least one stream of a topic in this process."""

    tenant_id: str
    topic: str
    user_id: str
    user_name: str


def bucket_of(tenant_id: str, topic: str) -> int:
    """The counter of a topic, which it shares with others."""
    return zlib.crc32(f"{tenant_id} {topic}".encode()) % BUCKETS


class SharedPresence:
    """The viewers of this process, and what changes in other processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._process_id = ids.mint(clock.now_us())
        self._streams: Counter[Viewer] = Counter()
        self._stored_at: dict[Viewer, int] = {}
        self._known: Mapping[int, int] = {}
        # Behind this tenant, whose viewers could not be stored, the next exchange begins.
        self._failed_tenant = ""

    @property
    def is_idle(self) -> bool:
        """Whether there is nobody here, and no row that says otherwise."""
        return not self._streams and not self._stored_at

    def enter(self, viewer: Viewer) -> None:
        """A stream of this viewer has begun."""
        self._streams[viewer] += 1

    def leave(self, viewer: Viewer) -> None:
        """A stream of this viewer has ended."""
        self._streams[viewer] -= 1
        if not self._streams[viewer]:
            del self._streams[viewer]

    async def exchange(self) -> Collection[int]:
        """Store who came and left; the buckets that have changed since the last call, if any.

        Raises ServiceUnavailable.
        """
        now_us = self._clock.now_us()
        gone = self._stored_at.keys() - self._streams.keys()
        due = [
            viewer
            for viewer in self._streams
            if now_us - self._stored_at.get(viewer, 0) >= RENEW_EVERY_US
        ]
        by_tenant: dict[str, list[Viewer]] = {}
        for viewer in sorted({*gone, *due}):
            by_tenant.setdefault(viewer.tenant_id, []).append(viewer)
        for tenant_id in sorted(by_tenant, key=lambda one: (one <= self._failed_tenant, one)):
            try:
                await self._store(tenant_id, by_tenant[tenant_id], now_us)
            except ServiceUnavailable:
                # Perhaps only this tenant has no free connection.
                self._failed_tenant = tenant_id
                break
        return await self._find_changed()

    async def _store(self, tenant_id: str, viewers: Collection[Viewer], now_us: int) -> None:
        here = [viewer for viewer in viewers if viewer in self._streams]
        gone = [viewer for viewer in viewers if viewer not in self._streams]
        fresh = [viewer for viewer in here if viewer not in self._stored_at]

        async def work(tx: Tx) -> None:
            await tx.execute_many(_RECORD, [self._params(one, seen_at=now_us) for one in here])
            await tx.execute_many(_CLEAR, [self._params(one) for one in gone])
            await count_changes(tx, tenant_id, {one.topic for one in (*fresh, *gone)})

        await self._database.write(work, tenant_id)
        self._stored_at |= dict.fromkeys(here, now_us)
        for viewer in gone:
            del self._stored_at[viewer]

    def _params(self, viewer: Viewer, **more: object) -> Params:
        return {**viewer._asdict(), "process_id": self._process_id, **more}

    async def _find_changed(self) -> Collection[int]:
        known, self._known = self._known, await self._database.read(_read_counters)
        return [bucket for bucket, count in self._known.items() if count != known.get(bucket)]


def lines_of(topic: str) -> bytes:
    """The lines that say that others look at a ticket, or write, than before."""
    return b'event: presence\ndata: {"ticketId":"%b"}\n\n' % topic.encode()


async def count_changes(tx: Tx, tenant_id: str, topics: Iterable[str]) -> None:
    """Tell all processes that these topics have changed."""
    buckets = sorted({bucket_of(tenant_id, topic) for topic in topics})  # an order for all locks
    await tx.execute_many(_COUNT_CHANGE, [{"bucket": bucket} for bucket in buckets])


async def list_viewers(tx: Tx, tenant_id: str, topic: str, now_us: int) -> dict[str, str]:
    """Users and names of the stored viewers of a topic, of all processes that share them."""
    params = {"tenant_id": tenant_id, "topic": topic, "limit": _MAX_LISTED}
    rows = await tx.fetch_all(_LIST, {**params, "seen_since": now_us - _PRESENT_US})
    return {row["user_id"]: row["user_name"] for row in rows}


async def _read_counters(tx: Tx) -> Mapping[int, int]:
    rows = await tx.fetch_all(_COUNTERS, {"limit": BUCKETS})
    return {row["bucket"]: row["changes"] for row in rows}


class SeenUsers:
    """When users were last seen. Those who were seen longest ago are forgotten first."""

    def __init__(self) -> None:
        self._seen_at: dict[tuple[str, str], int] = {}

    def note(self, tenant_id: str, user_id: str, now_us: int) -> None:
        """A user has done something."""
        self._seen_at.pop((tenant_id, user_id), None)
        self._seen_at[tenant_id, user_id] = now_us
        if len(self._seen_at) > _MAX_USERS:
            del self._seen_at[next(iter(self._seen_at))]

    def forget_before(self, before_us: int) -> None:
        """Forget those who were not seen since."""
        while self._seen_at:
            oldest = next(iter(self._seen_at))
            if self._seen_at[oldest] >= before_us:
                return
            del self._seen_at[oldest]

    def by_tenant(self) -> dict[str, dict[str, int]]:
        """Of each tenant its users, and when they were seen."""
        found: dict[str, dict[str, int]] = {}
        for (tenant_id, user_id), at_us in self._seen_at.items():
            found.setdefault(tenant_id, {})[user_id] = at_us
        return found
