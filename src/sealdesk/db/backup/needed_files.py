"""Which files the rows of a database need, read in steps at one moment."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from sealdesk.db.backup.contents import Reader

_ROWS_PER_STEP = 1000
_ATTACHMENTS = f"""
SELECT a.tenant_id, a.sha256, max(a.size_bytes), min(t.number) FROM attachments a
LEFT JOIN tickets t ON t.tenant_id = a.tenant_id AND t.id = a.ticket_id
WHERE (a.tenant_id, a.sha256) > ($1, $2)
GROUP BY a.tenant_id, a.sha256 ORDER BY a.tenant_id, a.sha256 LIMIT {_ROWS_PER_STEP}
"""
# What is stored may be sealed, and larger than the message.
_RAW_MESSAGES = f"""
SELECT m.tenant_id, m.raw_sha256, NULL, min(t.number) FROM received_messages m
LEFT JOIN tickets t ON t.tenant_id = m.tenant_id AND t.id = m.ticket_id
WHERE (m.tenant_id, m.raw_sha256) > ($1, $2) AND m.raw_until > $3
GROUP BY m.tenant_id, m.raw_sha256 ORDER BY m.tenant_id, m.raw_sha256 LIMIT {_ROWS_PER_STEP}
"""


class Needed(NamedTuple):
    """A file that rows need: of an attachment, or of a received message.

    size_bytes: None where rows do not know it. ticket_number: of its ticket, None without one.
    """

    tenant_id: str
    sha256: str
    size_bytes: int | None
    ticket_number: int | None


async def write_list(reader: Reader, file: Path, now_us: int) -> tuple[int, int]:
    """Write what the rows need into a file, a line each.

    Returns the number of files, and the bytes of those whose size is known.
    """
    count = size = 0
    with file.open("wb") as target:
        async for needed in _read_all(reader, now_us):
            target.write(msgspec.json.encode(needed) + b"\n")
            count, size = count + 1, size + (needed.size_bytes or 0)
    return count, size


def read_list(file: Path) -> Iterator[Needed]:
    """What `write_list` wrote."""
    with file.open("rb") as source:
        for line in source:
            yield msgspec.json.decode(line, type=Needed)


async def _read_all(reader: Reader, now_us: int) -> AsyncIterator[Needed]:
    for sql, values in ((_ATTACHMENTS, ()), (_RAW_MESSAGES, (now_us,))):
        after = ("", "")
        while rows := await reader.rows(sql, *after, *values):
            for row in rows:
                yield (needed := Needed(*cast(tuple[str, str, int | None, int | None], row)))
            after = needed.tenant_id, needed.sha256
