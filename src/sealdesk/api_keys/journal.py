"""A journal of changes of keys in the data directory, outside the database and its backups.

After a restore it tells which keys were created, rotated or revoked after the backup, as far as
this machine saw it.
"""

import errno
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from sealdesk import clock
from sealdesk.api_keys.errors import JOURNAL_UNWRITABLE
from sealdesk.db import epochs
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.web.request import Request

FILE = "keys.journal"
_MAX_BYTES = 4 * 1024 * 1024  # about 20,000 changes; then the oldest are forgotten
_SEARCHED_BYTES = 64 * 1024  # at the end, which takes 0.05 ms

log = logging.getLogger("sealdesk.api_keys")

ChangeType = Literal["created", "rotated", "revoked"]


class Change(msgspec.Struct, frozen=True):
    """A change of a key. at: ISO 8601. name: of a new key."""

    at: str
    type: ChangeType
    tenant_id: str
    key_id: str
    name: str = ""


_decode = msgspec.json.Decoder(Change).decode


def record(
    data_dir: Path, kind: ChangeType, tenant_id: str, key_id: str, *, now_us: int, name: str = ""
) -> None:
    """Append a committed change, if there is a data directory: PostgreSQL needs none.

    Raises ServiceUnavailable for a revocation that cannot be written, as a restore could undo it.
    """
    if not data_dir.is_dir():
        return
    change = msgspec.json.encode(Change(clock.iso(now_us), kind, tenant_id, key_id, name))
    line = b"\n" + change + b"\n"  # the one before may be cut
    path = data_dir / FILE
    try:
        handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            if os.write(handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            is_full = os.fstat(handle).st_size > _MAX_BYTES
        finally:
            os.close(handle)
    except OSError as error:
        log.warning("a change of a key is not in the journal", extra={"reason": error.strerror})
        if kind == "revoked":
            raise ServiceUnavailable(JOURNAL_UNWRITABLE) from error
        return
    if is_full:
        with suppress(OSError):  # the change is in it; it grows until it can be renamed
            path.replace(path.with_name(f"{FILE}.old"))


def record_request(request: Request, kind: ChangeType, key_id: str, *, name: str = "") -> None:
    """Append a change that a request has committed."""
    tenant_id = request.caller.tenant_id
    data_dir = request.state.settings.data_dir
    record(data_dir, kind, tenant_id, key_id, now_us=request.now_us, name=name)


def read_since(data_dir: Path, since: str) -> list[Change] | None:
    """The changes after a time, in order; None when nothing is known, because there is no journal.

    since: ISO 8601. Raises OSError.
    """
    paths = [path for path in (data_dir / f"{FILE}.old", data_dir / FILE) if path.exists()]
    if not paths:
        return None
    lines = [line for path in paths for line in path.read_bytes().splitlines()]
    found = [change for change in map(_parse, lines) if change is not None]
    return [change for change in found if change.at > since]


def find_rotation(data_dir: Path, key_id: str) -> str | None:
    """When a key was rotated last, if the newest changes of this machine tell."""
    with suppress(OSError), (data_dir / FILE).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _SEARCHED_BYTES))
        lines = (line for line in reversed(file.read().splitlines()) if key_id.encode() in line)
        changes = (change for change in map(_parse, lines) if change is not None)
        return next((each.at for each in changes if each.type == "rotated"), None)
    return None


async def known_revoked(tx: Tx, data_dir: Path) -> set[str]:
    """The keys that were revoked after the backup that was restored last, as far as is known.

    Raises ServiceUnavailable while the journal cannot be read.
    """
    restored_to = await epochs.find_restored_time(tx)
    if restored_to is None:
        return set()
    try:
        changes = read_since(data_dir, clock.iso(restored_to)) or ()
    except OSError as error:  # which a transaction would take for a lost connection
        raise ServiceUnavailable from error
    return {change.key_id for change in changes if change.type == "revoked"}


def _parse(line: bytes) -> Change | None:
    """A line, None for one that a crash has cut."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        return None
