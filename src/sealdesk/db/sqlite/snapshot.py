"""The snapshot that reads of one iteration of the event loop share, and what outlives it."""

import asyncio
import sqlite3
from collections import OrderedDict
from typing import Generic, TypeVar

from sealdesk.db.sqlite.transaction import SqliteTx

T = TypeVar("T")
_KEY_STAMP = "SELECT stamp FROM key_stamp LIMIT 1"
_TICKET_STAMP = "SELECT stamp FROM ticket_stamps WHERE tenant_id = ?"


class ReadTx(SqliteTx):
    """Reads that share a snapshot of the database for one iteration of the event loop.

    Opening one costs as much as an index lookup. A client that was told of a commit sends its
    next request in a later iteration and sees the commit.
    """

    __slots__ = ("_key_stamp",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._key_stamp: int | None = None

    def open_snapshot(self) -> None:
        """Raises sqlite3.Error."""
        if not self._connection.in_transaction:
            self._key_stamp = None
            self._connection.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._close_snapshot)

    def read_key_stamp(self) -> int | None:
        """The stamp of keys in the snapshot, None if it is missing. Raises sqlite3.Error."""
        self.open_snapshot()
        if self._key_stamp is None:
            row = self._connection.execute(_KEY_STAMP).fetchone()
            self._key_stamp = None if row is None else row["stamp"]
        return self._key_stamp

    def read_ticket_stamp(self, tenant_id: str) -> int | None:
        """The stamp of a tenant's tickets in the snapshot, None without any.

        Raises sqlite3.Error.
        """
        self.open_snapshot()
        row = self._connection.execute(_TICKET_STAMP, (tenant_id,)).fetchone()
        return None if row is None else row["stamp"]

    def _close_snapshot(self) -> None:
        # Nothing was written; unlike COMMIT this cannot fail and keep the old snapshot open.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class KnownRows(Generic[T]):
    """Values by what they were looked up with; above the limit, the one unused longest leaves.

    stamp: a number that every change of the rows replaces; None, and nothing is kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stamp: int | None = None
        self._values: OrderedDict[bytes, T] = OrderedDict()

    def find(self, name: bytes, stamp: int | None) -> T | None:
        """The value made of rows that have not changed until this stamp was read."""
        if stamp is None or stamp != self._stamp:
            self._values.clear()
            self._stamp = stamp
        value = self._values.get(name)
        if value is not None:
            self._values.move_to_end(name)
        return value

    def add(self, name: bytes, value: T, stamp: int | None) -> None:
        """Keep a value. stamp: read before the rows, so that any later change replaces it."""
        if stamp is None or stamp != self._stamp:
            return
        self._values[name] = value
        if len(self._values) > self._limit:
            self._values.popitem(last=False)
