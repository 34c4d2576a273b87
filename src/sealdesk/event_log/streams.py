"""All open streams of this process.

One task for each tenant that has a stream reads its feed once for all of its streams. One more task
sends heartbeats, checks log-ins again, and looks for events and viewers of other processes.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context

from sealdesk.clock import Clock
from sealdesk.db.engine import Database
from sealdesk.errors import ApiError, ServiceUnavailable
from sealdesk.event_log import positions
from sealdesk.event_log.presence import SharedPresence, Viewer, bucket_of, lines_of
from sealdesk.event_log.stream import Batch, Stream, Subscriber

MAX_STREAMS = 4000  # 20 KiB each (decision 0049)
MAX_STREAMS_OF_TENANT = 1000
MAX_STREAMS_OF_USER = 20
TICK_S = 0.25
BEAT_EVERY_S = 15.0  # proxies close a connection that is silent for 60 s (nginx)
CHECK_EVERY_S = 5.0
# The process that serves SQLite is told of each commit; only commands write beside it.
_POLL_NOTIFIED_EVERY_S = 5.0
# Between two batches of a tenant, so that an import is not a write to each page for each ticket.
_REST_S = 0.05
_REST_OF_STREAM_S = 0.0002
_RETRY_S = 1.0
_STREAMS_PER_TURN = 25
_BEAT = b"event: beat\ndata: 1\n\n"

Read = Callable[[int], Awaitable[Batch]]

log = logging.getLogger("sealdesk.live")


class _Tenant:
    """The streams of a tenant. position: behind which its feed is read next."""

    def __init__(self, read: Read, position: int) -> None:
        self.read = read
        self.position = position
        self.streams: dict[Stream, None] = {}
        self.has_news = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class _Session:
    """The streams of one log-in, which is checked once for all of them."""

    def __init__(self, checked_at: float) -> None:
        self.streams: set[Stream] = set()
        self.checked_at = checked_at


class Streams:
    """The open streams. is_notified: whether this process is told of all commits (`wake`)."""

    def __init__(self, database: Database, clock: Clock, *, is_notified: bool) -> None:
        self._database = database
        self._presence = None if is_notified else SharedPresence(database, clock)
        self._poll_every_s = _POLL_NOTIFIED_EVERY_S if is_notified else 0.0
        self._polled_at, self._known_end = 0.0, 0
        self._tenants: dict[str, _Tenant] = {}
        self._sessions: dict[str, _Session] = {}
        self._by_user: Counter[str] = Counter()
        self._ticking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return sum(len(tenant.streams) for tenant in self._tenants.values())

    def has_room(self, tenant_id: str, user_id: str) -> bool:
        """Whether this user may open one more stream."""
        tenant = self._tenants.get(tenant_id)
        return (
            len(self) < MAX_STREAMS
            and (tenant is None or len(tenant.streams) < MAX_STREAMS_OF_TENANT)
            and self._by_user[user_id] < MAX_STREAMS_OF_USER
        )

    @contextmanager
    def joined(self, stream: Stream, read: Read) -> Iterator[None]:
        """Give a stream what happens in its tenant from its position on, until the context ends.

        read: reads the tenant's feed behind a position, and may raise ServiceUnavailable.
        """
        self._join(stream, read)
        self._change_presence(stream.subscriber, is_here=True)
        try:
            yield
        finally:
            self._leave(stream)
            self._change_presence(stream.subscriber, is_here=False)

    def wake(self, tenant_ids: Collection[str]) -> None:
        """Tell the streams of these tenants that there are new events."""
        for tenant_id in tenant_ids:
            if tenant_id in self._tenants:
                self._tenants[tenant_id].has_news.set()

    def tell_presence(self, tenant_id: str, topic: str) -> None:
        """Tell the streams of a topic in this process that somebody came, left or writes."""
        now_s = asyncio.get_running_loop().time()
        tenant = self._tenants.get(tenant_id)
        for stream in tenant.streams if tenant else ():
            if stream.subscriber.topic == topic:
                stream.add(lines_of(topic), now_s)

    def users_of(self, tenant_id: str, topic: str) -> dict[str, str]:
        """Users and names of the streams of one topic in this process."""
        tenant = self._tenants.get(tenant_id)
        return {
            stream.subscriber.user_id: stream.subscriber.user_name
            for stream in (tenant.streams if tenant else ())
            if stream.subscriber.topic == topic and not stream.is_over
        }

    async def stop(self) -> None:
        """End the background task, and tell other processes that nobody is here any more."""
        if self._ticking is not None:
            self._ticking.cancel()
            with suppress(asyncio.CancelledError):
                await self._ticking
        if self._presence is not None and not self._presence.is_idle:
            with suppress(ServiceUnavailable):
                await self._presence.exchange()

    def end_all(self) -> None:
        """End every stream: the process is draining."""
        for tenant in self._tenants.values():
            for stream in tenant.streams:
                stream.end()

    def _join(self, stream: Stream, read: Read) -> None:
        who = stream.subscriber
        tenant = self._tenants.get(who.tenant_id)
        if tenant is None:
            tenant = self._tenants[who.tenant_id] = _Tenant(read, stream.position)
        # What others know already is read again for a page that was away.
        tenant.position = min(tenant.position, stream.position)
        tenant.streams[stream] = None
        tenant.has_news.set()
        now_s = asyncio.get_running_loop().time()
        self._sessions.setdefault(who.session, _Session(now_s)).streams.add(stream)
        self._by_user[who.user_id] += 1
        # In empty contexts: they must not inherit the deadline of the request that starts them.
        if tenant.task is None or tenant.task.done():
            feed = self._read_feed(who.tenant_id, tenant)
            tenant.task = asyncio.create_task(feed, context=Context())
        if self._ticking is None or self._ticking.done():
            self._ticking = asyncio.create_task(self._tick(), context=Context())

    def _leave(self, stream: Stream) -> None:
        who = stream.subscriber
        stream.end()
        tenant, session = self._tenants[who.tenant_id], self._sessions[who.session]
        del tenant.streams[stream]
        tenant.has_news.set()  # the task ends with the last stream
        session.streams.discard(stream)
        if not session.streams:
            del self._sessions[who.session]
        self._by_user[who.user_id] -= 1
        if not self._by_user[who.user_id]:
            del self._by_user[who.user_id]
        if not tenant.streams:
            del self._tenants[who.tenant_id]

    def _change_presence(self, who: Subscriber, *, is_here: bool) -> None:
        if not who.topic:
            return
        if self._presence is not None:
            viewer = Viewer(who.tenant_id, who.topic, who.user_id, who.user_name)
            (self._presence.enter if is_here else self._presence.leave)(viewer)
        self.tell_presence(who.tenant_id, who.topic)

    async def _read_feed(self, tenant_id: str, tenant: _Tenant) -> None:
        try:
            while tenant.streams:
                await tenant.has_news.wait()
                tenant.has_news.clear()
                await self._read_all(tenant)
                await asyncio.sleep(_REST_OF_STREAM_S * len(tenant.streams))
        except Exception:
            # The pages poll, and open new streams.
            log.exception("streams ended", extra={"tenant_id": tenant_id})
            for stream in tenant.streams:
                stream.end()

    async def _read_all(self, tenant: _Tenant) -> None:
        has_more = True
        while tenant.streams and has_more:
            has_more = await self._read_batch(tenant)
            await asyncio.sleep(_REST_S)

    async def _read_batch(self, tenant: _Tenant) -> bool:
        """Hand out the next events; whether there may be more."""
        after = tenant.position
        try:
            batch = await tenant.read(after)
        except ServiceUnavailable:
            await asyncio.sleep(_RETRY_S)
            return True
        if tenant.position != after:
            return True  # a stream has joined that knows less
        tenant.position = batch.position
        lines = b"".join(line for _, line in batch.lines)
        loop = asyncio.get_running_loop()
        for place, stream in enumerate(list(tenant.streams)):
            if place and place % _STREAMS_PER_TURN == 0:
                await asyncio.sleep(0)  # yields to requests of other tenants
            stream.add_batch(batch, lines, after, loop.time())
        return batch.has_more

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        duties = self._look_for_events, self._beat, self._check_sessions, self._exchange_presence
        while self._tenants or (self._presence is not None and not self._presence.is_idle):
            await asyncio.sleep(TICK_S)
            for duty in duties:  # one that fails ends no other: a session that is over must end
                try:
                    await duty(loop.time())
                except Exception:
                    log.exception("a look after the streams failed")

    async def _look_for_events(self, now_s: float) -> None:
        """Wake all streams when a feed has grown."""
        if now_s - self._polled_at < self._poll_every_s:
            return
        self._polled_at = now_s
        try:
            end = await self._database.read(positions.read_growth)
        except ServiceUnavailable:
            return
        if end != self._known_end:
            self._known_end = end
            self.wake(list(self._tenants))

    async def _exchange_presence(self, _: float) -> None:
        if self._presence is None or self._presence.is_idle:
            return
        try:
            changed = set(await self._presence.exchange())
        except ServiceUnavailable:
            return
        topics = {
            (tenant_id, stream.subscriber.topic)
            for tenant_id, tenant in (self._tenants.items() if changed else ())
            for stream in tenant.streams
        }
        for tenant_id, topic in topics:
            if topic and bucket_of(tenant_id, topic) in changed:
                self.tell_presence(tenant_id, topic)

    async def _beat(self, now_s: float) -> None:
        silent = [
            stream
            for tenant in self._tenants.values()
            for stream in tenant.streams
            if now_s - stream.sent_at >= BEAT_EVERY_S
        ]
        for place, stream in enumerate(silent):
            if place % _STREAMS_PER_TURN == 0:
                await asyncio.sleep(0)
            stream.add(_BEAT, now_s)

    async def _check_sessions(self, now_s: float) -> None:
        due = [s for s in self._sessions.values() if now_s - s.checked_at >= CHECK_EVERY_S]
        for session in due:
            session.checked_at = now_s
            stream = next(iter(session.streams), None)
            if stream is not None and not await _is_logged_in(stream.subscriber):
                for each in list(session.streams):
                    each.end()


async def _is_logged_in(subscriber: Subscriber) -> bool:
    try:
        await subscriber.check()
    except ServiceUnavailable:
        return True  # nobody can tell; without the storage there is nothing to send either
    except ApiError:
        return False
    return True
