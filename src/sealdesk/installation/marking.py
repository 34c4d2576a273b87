"""Marks the data directory that all hosts share: in a file, and in the database."""

import secrets
from pathlib import Path

from sealdesk.db.engine import Database
from sealdesk.installation.store import notes

FILE = "installation.id"
_NAME = "directory"


async def find_mark(read: notes.Read) -> str | None:
    """The mark of the directory that hosts should share, None before the first process."""
    noted = await read(lambda tx: notes.find(tx, _NAME))
    return None if noted is None else noted.text


def read_mark(data_dir: Path) -> str | None:
    """The mark in a directory, None without one."""
    try:
        return (data_dir / FILE).read_text("utf-8").strip()
    except (OSError, ValueError):
        return None


async def mark(database: Database, data_dir: Path, now_us: int, *, is_forced: bool = False) -> None:
    """Make this the directory that all share, unless there is one. Raises OSError.

    is_forced: also if there is another.
    """
    text = secrets.token_hex(16)
    if is_forced:
        await database.write(lambda tx: notes.put(tx, _NAME, text, now_us=now_us, expires_at=None))
    elif await find_mark(database.read) is None:
        await database.write(lambda tx: notes.put_once(tx, _NAME, text, now_us))
    if await find_mark(database.read) == text:
        (data_dir / FILE).write_text(text, "utf-8")
