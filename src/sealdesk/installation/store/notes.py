"""The notes of processes and commands."""

from typing import NamedTuple, Protocol, TypeVar

from sealdesk.db.column_lists import delete_row, insert_once, insert_or_update, select_row
from sealdesk.db.engine import Tx, Work

T = TypeVar("T")

MAX_PROCESSES = 200
_PUT = insert_or_update("installation_notes", "name", "note noted_at expires_at")
_PUT_ONCE = insert_once("installation_notes", "name", "name note noted_at")
_FIND = select_row("installation_notes", "note, noted_at", "name")
_DELETE = delete_row("installation_notes", "name")
_PROCESSES = f"""
SELECT name, note, noted_at FROM installation_notes WHERE name >= 'process ' AND name < 'process!'
ORDER BY name LIMIT {MAX_PROCESSES}
"""
_RECEIVING = """
SELECT 1 FROM mailbox_directory WHERE receives IN ('imap', 'smtp') LIMIT 1
"""


class Read(Protocol):
    """Reads the database in the role of the process that looks."""

    async def __call__(self, work: Work[T], /) -> T: ...


class Note(NamedTuple):
    """A note. text: JSON. noted_at: microseconds."""

    text: str
    noted_at: int


async def put(tx: Tx, name: str, note: str, *, now_us: int, expires_at: int | None) -> None:
    """Note something, in place of an earlier note of this name."""
    params = {"name": name, "note": note, "noted_at": now_us, "expires_at": expires_at}
    await tx.execute(_PUT, params)


async def put_once(tx: Tx, name: str, note: str, now_us: int) -> None:
    """Note something, unless there is a note of this name."""
    await tx.execute(_PUT_ONCE, {"name": name, "note": note, "noted_at": now_us})


async def find(tx: Tx, name: str) -> Note | None:
    row = await tx.fetch_one(_FIND, {"name": name})
    return None if row is None else Note(row["note"], row["noted_at"])


async def delete(tx: Tx, name: str) -> None:
    await tx.execute(_DELETE, {"name": name})


async def list_processes(tx: Tx) -> dict[str, Note]:
    """The notes of processes, by their names."""
    rows = await tx.fetch_all(_PROCESSES, {})
    return {row["name"]: Note(row["note"], row["noted_at"]) for row in rows}


async def has_receiving_mailbox(tx: Tx) -> bool:
    """In the role that serves."""
    return await tx.fetch_one(_RECEIVING, {}) is not None
