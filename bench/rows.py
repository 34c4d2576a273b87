"""The rows of the benchmark's tenants, as the service's own stores would write them."""

from array import array
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

import msgspec

from bench import prose
from sealdesk import ids
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Params, Tx
from sealdesk.db.sqlite.connection import drive
from sealdesk.tickets.store import tickets
from sealdesk.tickets.types import PRIORITIES, Priority, Status, Ticket

HOUR_US = 3600 * 1_000_000
SPAN_US = 2 * 365 * 24 * HOUR_US
_CHUNK_TICKETS = 4_000

Written = dict[str, list[Params]]


class TenantToFill(msgspec.Struct, frozen=True):
    """A tenant, who works there, and how many tickets it gets."""

    id: str
    agents: tuple[str, ...]
    tickets: int


class Chunk(msgspec.Struct, frozen=True):
    """Some rows: statement → the parameters of each, and how many tickets are among them."""

    tickets: int
    written: Written


class Recorder:
    """Of a transaction what adding rows needs: it runs nothing and keeps what would be written."""

    def __init__(self) -> None:
        self.written: Written = {}

    async def execute(self, sql: str, params: Params) -> int:
        self.written.setdefault(sql, []).append(params)
        return 1

    async def execute_one(self, sql: str, params: Params) -> None:
        await self.execute(sql, params)

    async def enqueue(self, sql: str, params: Params) -> None:
        await self.execute(sql, params)


def chunks(tenants: Sequence[TenantToFill], until_us: int, seed: int) -> Iterator[Chunk]:
    """All tickets of two years up to `until_us`, oldest first, the tenants' mixed as in life.

    With each ticket there is a new customer: its own for every second one, else somebody who has
    not written yet.
    """
    random = Random(seed)
    order = array("B", (place for place, t in enumerate(tenants) for _ in range(t.tickets)))
    random.shuffle(order)
    desks = [_Desk(tenant, random) for tenant in tenants]
    step_us = SPAN_US // len(order)
    recorder = Recorder()
    for place, desk in enumerate(order):
        created_at = until_us - SPAN_US + place * step_us + int(random.random() * step_us)
        desks[desk].write_ticket(recorder, created_at, until_us)
        if (place + 1) % _CHUNK_TICKETS == 0:
            yield Chunk(_CHUNK_TICKETS, recorder.written)
            recorder = Recorder()
    yield Chunk(len(order) % _CHUNK_TICKETS, recorder.written)


class _Desk:
    """One tenant while its tickets are made."""

    def __init__(self, tenant: TenantToFill, random: Random) -> None:
        self._tenant = tenant
        self._random = random
        self._customers: list[str] = []
        self._added = 0
        self._last_number = 0

    def write_ticket(self, recorder: Recorder, created_at: int, until_us: int) -> None:
        random = self._random
        self._last_number += 1
        order = 10_000 + self._last_number
        ticket = Ticket(
            tenant_id=self._tenant.id,
            id=ids.mint(created_at),
            number=self._last_number,
            subject=prose.subject(random),
            description=prose.description(random, order),
            priority=_priority(random),
            source="api",
            customer_id=self._customer(recorder, created_at),
            tags=prose.tags(random),
            custom_fields={"order": order, "channel": "web"} if random.random() < 0.3 else {},
            external_id=f"order-{order}" if random.random() < 0.3 else None,
            reply_count=0,
            created_at=created_at,
            first_response_at=None,
            **self._course(created_at, until_us),
        )
        drive(tickets.add(cast(Tx, recorder), ticket))

    def _customer(self, recorder: Recorder, created_at: int) -> str:
        known, new = self._customers, self._add(recorder, created_at)
        if known and self._random.random() < 0.5:
            return known[-1 - prose.recent(self._random, len(known))]
        known.append(new)
        return new

    def _add(self, recorder: Recorder, created_at: int) -> str:
        who = prose.person(self._random, self._added)
        self._added += 1
        customer = Customer(
            tenant_id=self._tenant.id,
            id=ids.mint(created_at),
            email=who.email,
            name=who.name,
            phone=None,
            company=None,
            external_id=None,
            metadata={},
            created_at=created_at,
            updated_at=created_at,
            version=1,
        )
        drive(customers.add(cast(Tx, recorder), customer))
        return customer.id

    def _course(self, created_at: int, until_us: int) -> dict[str, Any]:
        """What became of a ticket since: most are closed after two months, a few never."""
        status = _status(self._random, until_us - created_at)
        moved_at = created_at + int(
            self._random.random() * min(60 * HOUR_US, until_us - created_at)
        )
        is_open = status == "open"
        return {
            "status": status,
            "assignee_id": None if is_open else prose.pick(self._random, self._tenant.agents),
            "updated_at": created_at if is_open else moved_at,
            "resolved_at": moved_at if status in ("resolved", "closed") else None,
            "closed_at": moved_at if status == "closed" else None,
            "version": 1 if is_open else 2,
        }


def _priority(random: Random) -> Priority:
    return prose.pick(random, PRIORITIES) if random.random() < 0.5 else "medium"


def _status(random: Random, age_us: int) -> Status:
    draw = random.random()
    if draw < (0.4 if age_us < 60 * 24 * HOUR_US else 0.01):
        return "open"
    if draw < 0.5:
        return "resolved" if age_us < 60 * 24 * HOUR_US else "closed"
    if draw < 0.52:
        return "pending"
    return "on_hold" if draw < 0.53 else "closed"
