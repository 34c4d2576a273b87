"""Which files the rows of attachments need, read in steps from a database at one moment."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from sealdesk.db.backup.contents import Reader

_ROWS_PER_STEP = 1000
_NEEDED = f"""
SELECT a.tenant_id, a.sha256, max(a.size_bytes), min(t.number) FROM attachments a
LEFT JOIN tickets t ON t.tenant_id = a.tenant_id AND t.id = a.ticket_id
WHERE (a.tenant_id, a.sha256) > ($1, $2)
GROUP BY a.tenant_id, a.sha256 ORDER BY a.tenant_id, a.sha256 LIMIT {_ROWS_PER_STEP}
"""


class Needed(NamedTuple):
    """A file that rows need. ticket_number: of a ticket that shows it, None without one."""

    tenant_id: str
    sha256: str
    size_bytes: int
    ticket_number: int | None


async def write_list(reader: Reader, file: Path) -> tuple[int, int]:
    """Write what the rows need into a file, a line each; the number of files, and their bytes."""
    count = size = 0
    with file.open("wb") as target:
        async for needed in _read_all(reader):
            target.write(msgspec.json.encode(needed) + b"\n")
            count, size = count + 1, size + needed.size_bytes
    return count, size


def read_list(file: Path) -> Iterator[Needed]:
    """What `write_list` wrote."""
    with file.open("rb") as source:
        for line in source:
            yield msgspec.json.decode(line, type=Needed)


async def _read_all(reader: Reader) -> AsyncIterator[Needed]:
    after = ("", "")
    while rows := await reader.rows(_NEEDED, *after):
        for row in rows:
            yield (needed := Needed(*cast(tuple[str, str, int, int | None], row)))
        after = needed.tenant_id, needed.sha256
