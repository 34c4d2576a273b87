"""A small installation with webhooks, and the client of the webhook receiver."""

import asyncio
import base64
import hmac
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import msgspec

from bench import servers
from bench.build import BenchKey
from bench.clients import RequestMaker, WrongResponse
from bench.databases import BenchDatabase, Row
from bench.receiver import Received, ReceivedWebhook, SignedSample
from bench.requests import Signer, TicketBodies
from sealdesk import ids
from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.rules import NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.identity import actions as identity
from sealdesk.settings import from_env
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.types import NewTicket
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.types import NewWebhook

# What the deliveries of the dead endpoint are about; each is about one of so many events.
_DEAD_EVENTS = 1_000
_DEAD_TYPE = "reply.created"
_TYPE = "ticket.created"
_ALLOWED = {
    "SEALDESK_WEBHOOK_ALLOWED_CIDRS": "127.0.0.0/8",
    "SEALDESK_WEBHOOK_ALLOW_HTTP": "accept",
}
T = TypeVar("T")
_POLL_EVERY_S = 0.02


class Created(NamedTuple):
    """What was put in. secret: of the endpoint that works."""

    key: BenchKey
    endpoint_id: str
    dead_id: str
    secret: str


class Installation:
    """One that is ready to be served."""

    def __init__(self, place: BenchDatabase, url: str) -> None:
        """place: has its tables, and nothing in them. url: of the endpoint that works."""
        self.env = {**place.env, **_ALLOWED}
        self.settings = from_env(self.env)
        self.made = asyncio.run(self._fill(url))
        self._beside = place.beside
        self._ticket = place.beside.value(f"SELECT object FROM events WHERE type = '{_TYPE}'")
        place.beside.remove("events", "TRUE")

    async def _fill(self, url: str) -> Created:
        key_ring, now_us = KeyRing(self.settings.master_keys), _now_us()

        async def work(tx: Tx) -> Created:
            tenant = await identity.create_tenant(tx, "Bench", actor=SYSTEM, now_us=now_us)
            caller = Caller(tenant.id, SYSTEM, frozenset(), "")
            wanted = NewApiKey("bench", rate_limit=100_000)
            key = await api_keys.create_key(tx, caller, wanted, key_ring=key_ring, now_us=now_us)
            new = msgspec.json.decode(_new_tickets(tenant.id).body(tenant.id), type=NewTicket)
            await tickets.open_ticket(tx, caller, new, source="api", now_us=now_us)
            endpoint, dead = [
                await webhooks.create_webhook(
                    tx, caller, NewWebhook(url, [kind]), key_ring=key_ring, now_us=now_us
                )
                for kind in (_TYPE, _DEAD_TYPE)
            ]
            held = BenchKey(tenant.id, key.api_key, key.api_secret)
            return Created(held, endpoint.id, dead.id, endpoint.secret)

        database = open_database(self.settings, name="bench", has_time=True)
        try:
            return await database.write(work)
        finally:
            await database.close()

    @property
    def tickets(self) -> RequestMaker:
        """Makes requests for new tickets."""
        return Signer([self.made.key]).posts(_new_tickets(self.made.key.tenant_id))

    def add_events(self, count: int) -> set[str]:
        """Let so many wait for the endpoint, as if their changes had just been made; their ids."""
        now_us = _now_us()
        events = [self._event(_TYPE, now_us + n) for n in range(count)]
        self._beside.add("events", events)
        return {event["id"] for event in events}

    def add_dead(self, count: int) -> None:
        """Let so many deliveries wait for the dead endpoint."""
        now_us = _now_us() - count
        events = [self._event(_DEAD_TYPE, now_us + n) for n in range(min(count, _DEAD_EVENTS))]
        placed = [{**event, "position": place} for place, event in enumerate(events, 1)]
        tenant_id, last = self.made.key.tenant_id, len(events)
        drawn = {"tenant_id": tenant_id, "last_position": last, "pruned_position": 0}
        self._beside.add("events", placed)
        self._beside.add("feed_positions", [drawn])
        self._beside.add("deliveries", self._dead(events, count, now_us))

    def _dead(self, events: list[Row], count: int, now_us: int) -> Iterator[Row]:
        for n in range(count):
            yield {
                "tenant_id": self.made.key.tenant_id,
                "id": ids.mint(now_us + n),
                "endpoint_id": self.made.dead_id,
                "event_id": events[n % len(events)]["id"],
                "event_type": _DEAD_TYPE,
                "status": "pending",
                "attempt_count": 0,
                "retry_count": 0,
                "due_at": now_us + n,
                "created_at": now_us + n,
            }

    def _event(self, kind: str, at_us: int) -> Row:
        return {
            "tenant_id": self.made.key.tenant_id,
            "id": ids.mint(at_us),
            "type": kind,
            "object": self._ticket,
            "changes": "{}",
            "created_at": at_us,
        }

    def turn_dead(self, url: str) -> None:
        """Have the dead endpoint at this address, as one of which nothing is known yet."""
        self._beside.run(
            f"UPDATE endpoints SET url = '{url}', is_active = TRUE, disabled_reason = NULL,"
            f" failing_since = NULL, leased_until = NULL, due_at = {_now_us()}, wakes = wakes + 1"
            f" WHERE id = '{self.made.dead_id}'"
        )

    def is_dead_known(self) -> bool:
        """Whether the dead endpoint has been tried, and was found dead."""
        known = f"SELECT failing_since FROM endpoints WHERE id = '{self.made.dead_id}'"
        return self._beside.value(known) is not None

    def undelivered(self) -> int:
        """How many deliveries of the endpoint that works have not succeeded."""
        count: int = self._beside.value(
            f"SELECT count(*) FROM deliveries WHERE endpoint_id = '{self.made.endpoint_id}'"
            " AND status <> 'succeeded'"
        )
        return count


def _new_tickets(tenant_id: str) -> TicketBodies:
    return TicketBodies(Random(4), {tenant_id: ["first@customer.example"]})


def _now_us() -> int:
    return time.time_ns() // 1000


class ReceiverClient:
    """A running receiver. refusing_url: where nobody listens. hanging_url: never answers.

    held: how many requests to hanging_url have been seen.
    """

    def __init__(self, port: int, refusing_port: int) -> None:
        self.held = 0
        self._port = port
        self.url = f"http://127.0.0.1:{port}/hook"
        self.hanging_url = f"http://127.0.0.1:{port}/hang"
        self.refusing_url = f"http://127.0.0.1:{refusing_port}/hook"

    def wait_for(self, count: int, within_s: float) -> int:
        """How many have come once there are so many. Raises WrongResponse."""
        deadline = time.monotonic() + within_s
        while (come := self._asked("/count", int)) < count:
            if time.monotonic() > deadline:
                raise WrongResponse(f"{come} of {count} deliveries within {within_s:g} s")
            time.sleep(_POLL_EVERY_S)
        return come

    def take(
        self, secret: str, wanted: set[str], about: Callable[[ReceivedWebhook], str]
    ) -> list[ReceivedWebhook]:
        """What has come since, in order. Raises WrongResponse.

        wanted: each must have come exactly once. about: which of them an arrival is.
        """
        taken = self._asked("/taken", Received)
        self.held += taken.held
        come = list(map(about, taken.arrivals))
        if len(come) != len(wanted) or set(come) != wanted:
            lost, doubled = len(wanted - set(come)), len(come) - len(set(come))
            raise WrongResponse(f"of {len(wanted)} deliveries {lost} lost, {doubled} twice")
        if not all(_is_signed(sample, secret) for sample in taken.samples):
            raise WrongResponse("a delivery has a wrong signature")
        return taken.arrivals

    def _asked(self, path: str, kind: type[T]) -> T:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", path)
            return msgspec.json.decode(connection.getresponse().read(), type=kind)
        finally:
            connection.close()


@contextmanager
def running_receiver(directory: Path) -> Iterator[ReceiverClient]:
    """directory: for the receiver's log."""
    with servers.webhook_receiver(directory) as receiver, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        yield ReceiverClient(receiver.port, refusing.getsockname()[1])


def _is_signed(sample: SignedSample, secret: str) -> bool:
    """As Standard Webhooks has it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{sample.webhook_id}.{sample.timestamp}.".encode() + sample.body
    wanted = base64.b64encode(hmac.digest(key, message, sha256)).decode()
    return f"v1,{wanted}" in sample.signature.split(" ")
