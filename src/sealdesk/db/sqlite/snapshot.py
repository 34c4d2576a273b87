"""The read transaction that the reads of one iteration of the event loop share."""

import asyncio
import sqlite3

from sealdesk.db.sqlite.transaction import SqliteTx

_KEY_STAMP = "SELECT stamp FROM key_stamp LIMIT 1"


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
        """The stamp of all API keys in the snapshot, None if it is missing. Raises sqlite3.Error."""
        self.open_snapshot()
        if self._key_stamp is None:
            row = self._connection.execute(_KEY_STAMP).fetchone()
            self._key_stamp = None if row is None else row["stamp"]
        return self._key_stamp

    def _close_snapshot(self) -> None:
        # Nothing was written; unlike COMMIT this cannot fail and keep the old snapshot open.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
