"""The requests of a run: targets, cursors and addresses from the built data."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from bench.databases.sqlite_data import Data
from bench.load.clients import ExpectedResponse, RequestMaker, WrongResponse, send_all
from bench.load.signer import TICKETS, Signer, TicketBodies
from bench.peers.bare import Memory
from bench.plan import Plan
from bench.servers.processes import Server
from sealdesk import ids
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.resources.paging import DEFAULT_PER_PAGE as PER_PAGE
from sealdesk.resources.paging import Listing, seal_cursor
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import TicketResponse

_IDS = "SELECT id FROM tickets WHERE tenant_id = ? AND id < ? ORDER BY id"
_EMAILS = """
SELECT email FROM customers WHERE tenant_id = ? AND id < ? ORDER BY id DESC LIMIT ?
"""
_OPEN = """
SELECT id FROM tickets WHERE tenant_id = ? AND status = 'open' AND id < ? ORDER BY id DESC LIMIT ?
"""
_SAMPLE_SIZE = 4_000
TICKET_PAGE = ExpectedResponse(200, b'"reply_count":', 25)
ONE_TICKET = ExpectedResponse(200, b'"reply_count":', 1)
CHANGED = ExpectedResponse(200)
CREATED = ExpectedResponse(201)
_CHECKED_PAGES = 4


class Sample:
    """Reads tickets, cursors and addresses from the database while the server runs."""

    def __init__(self, plan: Plan, data: Data, random: Random) -> None:
        self._plan = plan
        self._data = data
        self._random = random
        self._ring = KeyRing(data.settings.master_keys)

    def write_memory(self) -> Path:
        """Write the data of the bare handler: all keys, and the first page of the big tenant."""
        newest = range(self._plan.big_tickets, self._plan.big_tickets - PER_PAGE, -1)
        records = [self._load_ticket(ticket_id) for ticket_id in self._load_ticket_ids(newest)]
        secrets = {key.api_key: key.api_secret for key in self._data.stamp.keys}
        tenants = {key.api_key: key.tenant_id for key in self._data.stamp.keys}
        path = self._data.settings.data_dir / "memory.json"
        path.write_bytes(msgspec.json.encode(Memory(secrets, tenants, records)))
        return path

    def make_cursor_after(self, depth: int) -> str:
        """The cursor of a client that has read this many of the big tenant's tickets."""
        return self._seal_cursor(self._load_ticket_ids([self._plan.big_tickets - depth + 1])[0])

    def list_page_targets(self) -> list[str]:
        """Targets of list pages at random depths."""
        return [
            f"{TICKETS}?cursor={self._seal_cursor(ticket_id)}"
            for ticket_id in self._pick_ticket_ids(PER_PAGE + 1)
        ]

    def list_ticket_targets(self) -> list[str]:
        """Targets of single tickets."""
        return [f"{TICKETS}/{ticket_id}" for ticket_id in self._pick_ticket_ids(1)]

    def list_open_ticket_targets(self) -> list[str]:
        """Targets of built tickets that accept replies."""
        until = ids.lowest(self._data.stamp.until_us)
        found = self._load_rows(_OPEN, self._data.big, until, _SAMPLE_SIZE)
        return [f"{TICKETS}/{ticket_id}" for (ticket_id,) in found]

    def list_customer_emails(self) -> dict[str, list[str]]:
        """Tenant id → e-mail addresses of its customers, the newest last.

        Customers that were created by runs are left out.
        """
        until = ids.lowest(self._data.stamp.until_us)
        newest_first = {
            tenant: [email for (email,) in self._load_rows(_EMAILS, tenant, until, _SAMPLE_SIZE)]
            for tenant in self._data.stamp.tenant_ids
        }
        return {tenant: emails[::-1] for tenant, emails in newest_first.items()}

    def _pick_ticket_ids(self, lowest: int) -> list[str]:
        numbers = range(lowest, self._plan.big_tickets + 1)
        return self._load_ticket_ids(self._random.sample(numbers, min(_SAMPLE_SIZE, len(numbers))))

    def _load_ticket(self, ticket_id: str) -> TicketResponse:
        with closing(self._connect()) as connection:
            tx = SqliteTx(connection)
            view = drive(actions.get_view(tx, self._data.big, ticket_id))
        return msgspec.json.decode(view.json, type=TicketResponse)

    def _seal_cursor(self, ticket_id: str) -> str:
        return seal_cursor(self._ring, Listing(self._data.big, TICKETS, {}), [ticket_id])

    def _load_ticket_ids(self, numbers: Iterable[int]) -> list[str]:
        return [self._ids_by_number[number - 1] for number in numbers]

    @cached_property
    def _ids_by_number(self) -> list[str]:
        """All ids of the big tenant. Numbers have no index; they increase with the ids."""
        until = ids.lowest(self._data.stamp.until_us)
        return [ticket_id for (ticket_id,) in self._load_rows(_IDS, self._data.big, until)]

    def _load_rows(self, sql: str, *values: object) -> list[tuple[str, ...]]:
        with closing(self._connect()) as connection:
            return connection.execute(sql, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        return connect(self._data.settings.database_path)


class Workload:
    """The requests of one run on one set of data."""

    def __init__(self, plan: Plan, data: Data) -> None:
        self.plan = plan
        self.sample = Sample(plan, data, Random(1))
        self.big = Signer(data.keys_of(data.big))
        self.small = Signer(data.keys_of(data.small))
        by_tenant = [data.keys_of(tenant)[: plan.keys_each] for tenant in data.stamp.tenant_ids]
        self._keys_of_all = [key for keys in zip(*by_tenant, strict=True) for key in keys]

    @property
    def first_page(self) -> RequestMaker:
        """The newest 25 tickets of the big tenant."""
        return self.big.make_gets(TICKETS)

    @property
    def deep_page(self) -> RequestMaker:
        return self.big.make_gets(
            f"{TICKETS}?cursor={self.sample.make_cursor_after(self.plan.depth)}"
        )

    def make_ticket_bodies(self) -> TicketBodies:
        """Bodies for one server: existing customers are those that this server has stored."""
        return TicketBodies(Random(2), self.sample.list_customer_emails())

    def make_posts_in_all_tenants(self, new: TicketBodies) -> RequestMaker:
        """New tickets, the same number in each tenant."""
        return Signer(self._keys_of_all).make_posts(new)

    def make_posts_in_one_tenant(self, new: TicketBodies) -> RequestMaker:
        return self.big.make_posts(new)

    def check_cursors(self, server: Server) -> None:
        """Check that the server issues the same cursors as this class. Raises WrongResponse."""
        target = TICKETS
        for page in range(1, _CHECKED_PAGES + 1):
            next_cursor = self.read(server, target)["meta"]["next_cursor"]
            if next_cursor != self.sample.make_cursor_after(25 * page):
                raise WrongResponse(
                    f"the cursor after page {page} differs from the one of the benchmark"
                )
            target = f"{TICKETS}?cursor={next_cursor}"
        deep = self.read(
            server, f"{TICKETS}?cursor={self.sample.make_cursor_after(self.plan.depth)}"
        )
        if deep["data"][0]["number"] != self.plan.big_tickets - self.plan.depth:
            raise WrongResponse("the deep page begins at a wrong ticket")

    def read(self, server: Server, target: str) -> Any:
        """Fetch and decode a list page of the big tenant. Raises WrongResponse."""
        (request,) = self.big.make_gets(target)(1)
        return msgspec.json.decode(send_all(server.port, [request], TICKET_PAGE, 1).body)
