"""What requests are made of: tickets, cursors and addresses, read from the benchmark's data."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec

from bench.bare import Memory
from bench.data import Data
from bench.plan import Plan
from bench.signed import TICKETS
from sealdesk import ids
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.sqlite.connection import SqliteTx, connect, drive
from sealdesk.paging import DEFAULT_PER_PAGE as PER_PAGE
from sealdesk.paging import Listing, seal_cursor
from sealdesk.tickets import actions
from sealdesk.tickets.types import TicketResponse

_BY_NUMBER = "SELECT id FROM tickets WHERE tenant_id = ? AND number = ?"
_ADDRESSES = """
SELECT email FROM customers WHERE tenant_id = ? AND id < ? ORDER BY id DESC LIMIT ?
"""
_COUNT = 4_000


class Sample:
    """Picks from the database while the server runs; never writes."""

    def __init__(self, plan: Plan, data: Data, random: Random) -> None:
        self._plan = plan
        self._data = data
        self._random = random
        self._ring = KeyRing(data.settings.master_keys)

    def write_memory(self) -> Path:
        """What the bare handler holds: all keys, and the newest tickets of the big tenant."""
        newest = range(self._plan.big_tickets, self._plan.big_tickets - PER_PAGE, -1)
        records = [self._ticket(ticket_id) for ticket_id in self._ticket_ids(newest)]
        secrets = {key.api_key: key.api_secret for key in self._data.stamp.keys}
        path = self._data.settings.data_dir / "memory.json"
        path.write_bytes(msgspec.json.encode(Memory(secrets, records)))
        return path

    def cursor_after(self, depth: int) -> str:
        """The cursor of a client that has read this many of the big tenant's tickets."""
        return self._cursor(self._ticket_ids([self._plan.big_tickets - depth + 1])[0])

    def pages(self) -> list[str]:
        """Targets of pages at any depth."""
        return [
            f"{TICKETS}?cursor={self._cursor(ticket_id)}" for ticket_id in self._some(PER_PAGE + 1)
        ]

    def tickets(self) -> list[str]:
        """Targets of single tickets."""
        return [f"{TICKETS}/{ticket_id}" for ticket_id in self._some(1)]

    def addresses(self) -> dict[str, list[str]]:
        """tenant id → addresses of its customers, the newest last; without those of runs."""
        until = ids.lowest(self._data.stamp.until_us)
        found = {
            tenant: [email for (email,) in self._rows(_ADDRESSES, tenant, until, _COUNT)]
            for tenant in self._data.stamp.tenant_ids
        }
        return {tenant: emails[::-1] for tenant, emails in found.items()}

    def _some(self, lowest: int) -> list[str]:
        numbers = range(lowest, self._plan.big_tickets + 1)
        return self._ticket_ids(self._random.sample(numbers, min(_COUNT, len(numbers))))

    def _ticket(self, ticket_id: str) -> TicketResponse:
        with closing(self._connect()) as connection:
            tx = SqliteTx(connection)
            view = drive(actions.get_view(tx, self._data.big, ticket_id))
        return msgspec.json.decode(view.json, type=TicketResponse)

    def _cursor(self, ticket_id: str) -> str:
        return seal_cursor(self._ring, Listing(self._data.big, TICKETS, {}), [ticket_id])

    def _ticket_ids(self, numbers: Iterable[int]) -> list[str]:
        with closing(self._connect()) as connection:
            return [
                connection.execute(_BY_NUMBER, (self._data.big, number)).fetchone()[0]
                for number in numbers
            ]

    def _rows(self, sql: str, *values: object) -> list[tuple[str, ...]]:
        with closing(self._connect()) as connection:
            return connection.execute(sql, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        return connect(self._data.settings.database_path)
