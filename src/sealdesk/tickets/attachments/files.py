"""Files of attachments that are being received, written in threads of their own."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TypeVar

from sealdesk.db import threads
from sealdesk.errors import ServiceUnavailable
from sealdesk.settings import Settings, make_private_dir
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE
from sealdesk.web.proof import BodyDigest

T = TypeVar("T")
_INCOMING = "incoming"
_ABANDONED_S = 3600  # longer than any upload may take
# A slow disk must not take the threads in which host names are resolved.
_threads = ThreadPoolExecutor(4, "attachments")
_private = set[Path]()  # folders that were made private, or found so


class IncomingFile:
    """A file that is being received, hashed as it is written. It has no name that is served."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path = path
        self._file = file
        self._digest = hashlib.sha256()
        self._size = 0
        self.head = b""

    async def write(self, part: bytes) -> None:
        """Append a part. Raises ServiceUnavailable, as on a full disk."""
        await in_thread(partial(self.append, part))

    def append(self, part: bytes) -> None:
        """As `write`, in this thread. Raises OSError."""
        if len(self.head) < rules.HEAD_BYTES:
            self.head = (self.head + part[: rules.HEAD_BYTES])[: rules.HEAD_BYTES]
        self._digest.update(part)
        self._size += len(part)
        left = memoryview(part)
        while left:  # a disk that is nearly full takes a part of it
            left = left[self._file.write(left) :]

    async def finish(self) -> BodyDigest:
        """Make it durable; its hash and size. Raises ServiceUnavailable."""
        return await in_thread(self.sync)

    def sync(self) -> BodyDigest:
        """As `finish`, in this thread. Raises OSError."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return BodyDigest(self._digest.hexdigest(), self._size)

    def discard(self) -> None:
        """Delete what was received, unless a storage has moved it."""
        with suppress(OSError):  # closing writes what is buffered, perhaps to a full disk
            self._file.close()
        self.path.unlink(missing_ok=True)


def folder_of(settings: Settings) -> Path:
    """The directory of attachments, also of those that are received for a bucket."""
    return settings.data_dir / rules.FOLDER


async def begin(folder: Path) -> IncomingFile:
    """A new file to receive into. Raises ServiceUnavailable."""
    return await in_thread(partial(_create, folder))


def _create(folder: Path) -> IncomingFile:
    incoming = folder / _INCOMING
    if incoming not in _private or not incoming.is_dir():
        make_private_dir(incoming)
        make_private_dir(folder)
        _private.add(incoming)
    handle, path = tempfile.mkstemp(dir=incoming)  # readable by its owner only
    return IncomingFile(Path(path), FileIO(handle, "wb"))


def take(folder: Path, parts: Iterable[bytes]) -> tuple[IncomingFile, BodyDigest]:
    """A file with these parts, durable, written in this thread. Raises OSError."""
    incoming = _create(folder)
    try:
        for part in parts:
            incoming.append(part)
        return incoming, incoming.sync()
    except BaseException:
        incoming.discard()
        raise


async def delete_abandoned(folder: Path, now_us: int) -> None:
    """Delete files that were not received to their end, as their process was killed."""

    def delete_now() -> None:
        with suppress(FileNotFoundError), os.scandir(folder / _INCOMING) as entries:
            for entry in entries:
                if now_us // 1_000_000 - entry.stat().st_mtime > _ABANDONED_S:
                    Path(entry.path).unlink(missing_ok=True)

    await in_thread(delete_now)


async def in_thread(work: Callable[[], T]) -> T:
    """Run work with files. Raises ServiceUnavailable in place of OSError."""
    try:
        return await threads.run_in(_threads, work)
    except OSError as error:
        raise ServiceUnavailable(CONTENT_UNAVAILABLE) from error
