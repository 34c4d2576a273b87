"""A small installation with webhooks, and the client of the webhook receiver."""

import asyncio
import base64
import hmac
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import msgspec

from bench.databases.build import BenchKey
from bench.databases.webhook_databases import BenchDatabase, Row
from bench.load.clients import RequestMaker, WrongResponse
from bench.load.signer import Signer, TicketBodies
from bench.servers import processes
from bench.servers.receiver import Received, ReceivedWebhook, SignedSample
from sealdesk import ids
from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.types import NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Database, Tx
from sealdesk.db.factory import open_database
from sealdesk.event_log import events
from sealdesk.identity import actions as identity
from sealdesk.settings import from_env
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import NewTicket
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.types import NewWebhook

# The number of events that the deliveries to the dead endpoint refer to.
_DEAD_EVENTS = 1_000
_DEAD_TYPE = "reply.created"
_TYPE: events.EventType = "ticket.created"
_EVENTS_AT_ONCE = 100
_LAST_POSITION = "SELECT coalesce(max(last_position), 0) FROM feed_positions"
ALLOWED = {
    "SEALDESK_WEBHOOK_ALLOWED_CIDRS": "127.0.0.0/8",
    "SEALDESK_WEBHOOK_ALLOW_HTTP": "accept",
}
T = TypeVar("T")
_POLL_EVERY_S = 0.02


class Created(NamedTuple):
    """The created rows. endpoint_id, secret: of the endpoint that works. ticket: its JSON."""

    key: BenchKey
    endpoint_id: str
    dead_ids: list[str]
    secret: str
    ticket: bytes


class Installation:
    """A database with a tenant, a key, an endpoint that works and two that are dead."""

    def __init__(self, database: BenchDatabase, url: str) -> None:
        """database: has empty tables. url: of the endpoint that works."""
        self.env = {**database.env, **ALLOWED}
        self.settings = from_env(self.env)
        self.created = asyncio.run(self._fill(url))
        self._sql = database.sql
        for table in ("events", "event_outbox"):
            database.sql.delete(table, "TRUE")

    async def _fill(self, url: str) -> Created:
        key_ring, now_us = KeyRing(self.settings.master_keys), _now_us()

        async def create(tx: Tx) -> Created:
            tenant = await identity.create_tenant(tx, "Bench", now_us=now_us)
            caller = Caller(tenant.id, SYSTEM, frozenset(), "")
            new_key = NewApiKey("bench", rate_limit=100_000)
            key = await api_keys.create_key(tx, caller, new_key, key_ring=key_ring, now_us=now_us)
            new_ticket = msgspec.json.decode(
                _make_bodies(tenant.id).body(tenant.id), type=NewTicket
            )
            opened = await tickets.open_ticket(tx, caller, new_ticket, source="api", now_us=now_us)
            endpoint, *dead = [
                await webhooks.create_webhook(
                    tx, caller, NewWebhook(url, [kind]), key_ring=key_ring, now_us=now_us
                )
                for kind in (_TYPE, _DEAD_TYPE, _DEAD_TYPE)
            ]
            bench_key = BenchKey(tenant.id, key.api_key, key.api_secret)
            dead_ids = [one.id for one in dead]
            return Created(bench_key, endpoint.id, dead_ids, endpoint.secret, opened.view.json)

        async with self._opened() as database:
            return await database.write(create)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Database]:
        database = open_database(self.settings, name="bench", has_time=True)
        try:
            yield database
        finally:
            await database.close()

    @property
    def make_posts(self) -> RequestMaker:
        """Makes requests that create tickets."""
        return Signer([self.created.key]).make_posts(_make_bodies(self.created.key.tenant_id))

    def add_events(self, count: int) -> set[str]:
        """Add events for the endpoint that works; returns their ids."""
        return asyncio.run(self._record_events(count))

    async def _record_events(self, count: int) -> set[str]:
        tenant_id, ticket = self.created.key.tenant_id, self.created.ticket
        recorded: set[str] = set()

        async def record(tx: Tx) -> list[str]:
            return [
                await events.record(tx, tenant_id, _TYPE, ticket, events.NO_CHANGES, _now_us())
                for _ in range(min(_EVENTS_AT_ONCE, count - len(recorded)))
            ]

        async with self._opened() as database:
            while len(recorded) < count:
                recorded.update(await database.write(record, tenant_id))
        return recorded

    def add_dead_deliveries(self, count: int) -> None:
        """Add pending deliveries to each of the dead endpoints."""
        now_us = _now_us() - count
        dead_events = [self._make_event(now_us + n) for n in range(min(count, _DEAD_EVENTS))]
        last = self._sql.fetch_value(_LAST_POSITION)
        sequenced = [
            {**event, "position": position} for position, event in enumerate(dead_events, last + 1)
        ]
        position_row = {
            "tenant_id": self.created.key.tenant_id,
            "last_position": last + len(dead_events),
            "pruned_position": 0,
        }
        self._sql.insert("events", sequenced)
        self._sql.delete("feed_positions", "TRUE")
        self._sql.insert("feed_positions", [position_row])
        for dead_id in self.created.dead_ids:
            deliveries = self._generate_dead_deliveries(dead_id, dead_events, count, now_us)
            self._sql.insert("deliveries", deliveries)

    def _generate_dead_deliveries(
        self, dead_id: str, dead_events: list[Row], count: int, now_us: int
    ) -> Iterator[Row]:
        for n in range(count):
            yield {
                "tenant_id": self.created.key.tenant_id,
                "id": ids.mint(now_us + n),
                "endpoint_id": dead_id,
                "event_id": dead_events[n % len(dead_events)]["id"],
                "event_type": _DEAD_TYPE,
                "status": "pending",
                "attempt_count": 0,
                "retry_count": 0,
                "due_at": now_us + n,
                "created_at": now_us + n,
            }

    def _make_event(self, at_us: int) -> Row:
        return {
            "tenant_id": self.created.key.tenant_id,
            "id": ids.mint(at_us),
            "type": _DEAD_TYPE,
            "object": self.created.ticket,
            "changes": "{}",
            "created_at": at_us,
        }

    def set_dead_urls(self, urls: Sequence[str]) -> None:
        """Set the URLs of dead endpoints, and reset their failures; the others are inactive."""
        for dead_id, url in zip_longest(self.created.dead_ids, urls):
            due_at = "NULL" if url is None else _now_us()
            self._sql.run(
                f"UPDATE endpoints SET url = '{url}', is_active = {url is not None},"
                " disabled_reason = NULL, failing_since = NULL, leased_until = NULL,"
                f" due_at = {due_at}, wakes = wakes + 1 WHERE id = '{dead_id}'"
            )

    def is_dead_endpoint_failing(self) -> bool:
        """Whether an attempt to the first dead endpoint has failed."""
        statement = f"SELECT failing_since FROM endpoints WHERE id = '{self.created.dead_ids[0]}'"
        return self._sql.fetch_value(statement) is not None

    def count_undelivered(self) -> int:
        """The number of deliveries to the endpoint that works without success."""
        count: int = self._sql.fetch_value(
            f"SELECT count(*) FROM deliveries WHERE endpoint_id = '{self.created.endpoint_id}'"
            " AND status <> 'succeeded'"
        )
        return count


def _make_bodies(tenant_id: str) -> TicketBodies:
    return TicketBodies(Random(4), {tenant_id: ["first@customer.example"]})


def _now_us() -> int:
    return time.time_ns() // 1000


class ReceiverClient:
    """The client of a running receiver.

    refusing_url: refuses connections. hanging_url: never responds. hanging_count: the number of
    requests to hanging_url so far.
    """

    def __init__(self, port: int, refusing_port: int) -> None:
        self.hanging_count = 0
        self._port = port
        self.url = f"http://127.0.0.1:{port}/hook"
        self.hanging_url = f"http://127.0.0.1:{port}/hang"
        self.refusing_url = f"http://127.0.0.1:{refusing_port}/hook"

    def wait_for(self, count: int, within_s: float) -> int:
        """Wait for this many deliveries; returns their number. Raises WrongResponse."""
        deadline = time.monotonic() + within_s
        while (received_count := self._fetch("/count", int)) < count:
            if time.monotonic() > deadline:
                raise WrongResponse(f"{received_count} of {count} deliveries within {within_s:g} s")
            time.sleep(_POLL_EVERY_S)
        return received_count

    def take_deliveries(
        self, secret: str, expected_ids: set[str], find_id: Callable[[ReceivedWebhook], str]
    ) -> list[ReceivedWebhook]:
        """Take all deliveries from the receiver, in order. Raises WrongResponse.

        expected_ids: each must be received exactly once. find_id: returns the id of a delivery.
        """
        received = self._fetch("/received", Received)
        self.hanging_count += received.hanging_count
        found_ids = list(map(find_id, received.deliveries))
        if len(found_ids) != len(expected_ids) or set(found_ids) != expected_ids:
            lost_count = len(expected_ids - set(found_ids))
            repeated_count = len(found_ids) - len(set(found_ids))
            raise WrongResponse(
                f"of {len(expected_ids)} deliveries {lost_count} lost, {repeated_count} twice"
            )
        if not all(_is_signed(sample, secret) for sample in received.samples):
            raise WrongResponse("a delivery has a wrong signature")
        return received.deliveries

    def take_different(self, count: int) -> None:
        """Take all deliveries: as many different ones as `count`. Raises WrongResponse."""
        received = self._fetch("/received", Received)
        webhook_ids = {delivery.webhook_id for delivery in received.deliveries}
        if len(received.deliveries) != count or len(webhook_ids) != count:
            raise WrongResponse(
                f"{len(received.deliveries)} deliveries of {len(webhook_ids)} webhooks, not {count}"
            )

    def _fetch(self, path: str, kind: type[T]) -> T:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", path)
            return msgspec.json.decode(connection.getresponse().read(), type=kind)
        finally:
            connection.close()


@contextmanager
def running_receiver(directory: Path) -> Iterator[ReceiverClient]:
    """Run a receiver. directory: of its log."""
    with processes.webhook_receiver(directory) as receiver, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        yield ReceiverClient(receiver.port, refusing.getsockname()[1])


def _is_signed(sample: SignedSample, secret: str) -> bool:
    """Verify the signature as Standard Webhooks specifies."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{sample.webhook_id}.{sample.timestamp}.".encode() + sample.body
    signature = base64.b64encode(hmac.digest(key, message, sha256)).decode()
    return f"v1,{signature}" in sample.signature.split(" ")
