"""Measures POSTs while search, feed and webhooks of all tenants keep up in the same process."""

import time
from contextlib import closing

import msgspec

from bench.databases import sqlite_data
from bench.databases.sqlite_data import Data
from bench.databases.webhook_databases import DirectSqlite
from bench.figures.figure import NO_BOUNDS, Bounds, Figure, Results
from bench.load.indexed import IndexedTickets
from bench.load.requests import CREATED, Workload
from bench.load.rounds import BARE_PROTOCOLS, BARE_SUFFIX, UVICORN_SUFFIX, Rounds, ShowProgress
from bench.plan import Plan
from bench.servers import processes, webhook_installation
from bench.servers.processes import Cores
from bench.servers.webhook_installation import ALLOWED, ReceiverClient
from sealdesk.caller import SYSTEM, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.types import NewWebhook

_NAME = "POST a ticket, with search and webhooks"
_FIGURE = "signed POST with search, feed and a webhook for each ticket ÷"
# The bounds were set when the bare handler ran on uvicorn's protocol (decision 0044).
_BOUNDS = {UVICORN_SUFFIX: (0.15, 0.25), BARE_SUFFIX: NO_BOUNDS}
_EVENT_TYPE = "ticket.created"
_DELIVERED_WITHIN_S = 120.0


def measure(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Each tenant has an endpoint; a round ends when all tickets are indexed and delivered.

    Raises WrongResponse.
    """
    # Long rounds: once no requests arrive, the indexer waits a second before it uses all its time.
    rounds = Rounds(msgspec.structs.replace(plan, round_s=2 * plan.round_s), show_progress)
    workload = Workload(plan, data)
    memory = workload.sample.write_memory()
    try:
        with Cores() as cores, webhook_installation.running_receiver(memory.parent) as receiver:
            _add_endpoints(data, receiver.url)
            with (
                processes.bare_handler(memory, cores, BARE_PROTOCOLS[UVICORN_SUFFIX]) as on_uvicorn,
                processes.bare_handler(memory, cores, BARE_PROTOCOLS[BARE_SUFFIX]) as bare,
                processes.sealdesk(data.settings, cores, ALLOWED) as sealdesk,
            ):
                indexed = IndexedTickets(DirectSqlite(data.settings.database_path))
                consumed = _Consumed(workload, receiver, indexed)
                servers = {UVICORN_SUFFIX: on_uvicorn, BARE_SUFFIX: bare}
                runs = rounds.prepare_each(servers, _NAME, consumed.make_for_bare, CREATED)
                runs[_NAME] = rounds.prepare(sealdesk, consumed.make, CREATED, consumed.wait)
                consumed.wait()
                rounds.run_alternately(_NAME, runs)
    finally:
        # Otherwise the following rounds would deliver webhooks too.
        sqlite_data.delete_rows_of_runs(data)
    figures = [_build_figure(rounds, *each) for each in _BOUNDS.items()]
    return Results(figures, rounds.by_name)


def _build_figure(rounds: Rounds, other: str, bounds: Bounds) -> Figure:
    compared, (floor, aim) = rounds.compare(_NAME, _NAME + other), bounds
    name = f"{_FIGURE}{other[1:]}"
    return Figure(name, "", True, floor, aim, compared.by_rate, by_cpu=compared.by_cpu)


def _add_endpoints(data: Data, url: str) -> None:
    now_us = time.time_ns() // 1000
    key_ring = KeyRing(data.settings.master_keys)

    async def add(tx: Tx) -> None:
        for tenant_id in data.stamp.tenant_ids:
            caller = Caller(tenant_id, SYSTEM, frozenset(), "")
            new = NewWebhook(url, [_EVENT_TYPE])
            await webhooks.create_webhook(tx, caller, new, key_ring=key_ring, now_us=now_us)

    with closing(connect(data.settings.database_path)) as connection:
        run_now(connection, add)


class _Consumed:
    """The requests, and how many of the tickets the consumers have processed."""

    def __init__(
        self, workload: Workload, receiver: ReceiverClient, indexed: IndexedTickets
    ) -> None:
        bodies = workload.make_ticket_bodies()
        self.make_for_bare = workload.make_posts_in_all_tenants(bodies)
        self._make = workload.make_posts_in_all_tenants(bodies)
        self._receiver = receiver
        self._indexed = indexed
        self._undelivered_count, self._made_count = 0, 0

    def make(self, count: int) -> list[bytes]:
        """Make requests for the service."""
        self._made_count += count
        self._undelivered_count += count
        return self._make(count)

    def wait(self) -> None:
        """Wait until each ticket so far is indexed and delivered once. Raises WrongResponse."""
        self._receiver.wait_for(self._undelivered_count, _DELIVERED_WITHIN_S)
        self._indexed.wait_for(self._made_count)
        self._receiver.take_different(self._undelivered_count)
        self._undelivered_count = 0
