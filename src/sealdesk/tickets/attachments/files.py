"""The files of attachments in the data directory, written and read in threads of their own.

A file is named after the SHA-256 of its content and its tenant: within a tenant equal contents
share a file, and no tenant can notice what another one has.
"""

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TypeVar

from sealdesk.errors import ServiceUnavailable
from sealdesk.settings import Settings, make_private_dir
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE
from sealdesk.tickets.attachments.types import Content
from sealdesk.web.proof import BodyDigest

T = TypeVar("T")
PART_BYTES = 256 * 1024
FOLDER = "attachments"
_INCOMING = "incoming"
_ABANDONED_S = 3600  # longer than any upload may take
# A slow disk must not take the threads in which host names are resolved.
_threads = ThreadPoolExecutor(4, "attachments")


class IncomingFile:
    """A file that is being received, hashed as it is written. It has no name that is served."""

    def __init__(self, folder: Path, path: Path, file: FileIO) -> None:
        self._folder = folder
        self._path = path
        self._file = file
        self._digest = hashlib.sha256()
        self._size = 0
        self.head = b""

    async def write(self, part: bytes) -> None:
        """Append a part. Raises ServiceUnavailable, as on a full disk."""
        if len(self.head) < rules.HEAD_BYTES:
            self.head = (self.head + part[: rules.HEAD_BYTES])[: rules.HEAD_BYTES]
        await _in_thread(partial(self._append, part))

    def _append(self, part: bytes) -> None:
        self._digest.update(part)
        self._size += len(part)
        left = memoryview(part)
        while left:  # a disk that is nearly full takes a part of it
            left = left[self._file.write(left) :]

    async def finish(self) -> BodyDigest:
        """Make it durable; its hash and size. Raises ServiceUnavailable."""
        await _in_thread(self._sync)
        return BodyDigest(self._digest.hexdigest(), self._size)

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    async def publish(self, content: Content, now_us: int) -> None:
        """Give it the name under which it is served. Raises ServiceUnavailable."""
        await _in_thread(partial(self._rename, content, now_us))

    def _rename(self, content: Content, now_us: int) -> None:
        os.utime(self._path, ns=(now_us * 1000, now_us * 1000))
        path = path_of(self._folder, content)
        make_private_dir(path.parent)
        with _locked(self._folder, fcntl.LOCK_SH):
            self._path.replace(path)
        for folder in (path.parent, self._folder):
            _sync_folder(folder)

    def discard(self) -> None:
        """Delete what was received, unless it is published."""
        with suppress(OSError):  # closing writes what is buffered, perhaps to a full disk
            self._file.close()
        self._path.unlink(missing_ok=True)


class StoredFile:
    """A stored file, read in parts."""

    part_bytes = PART_BYTES

    def __init__(self, file: FileIO, size: int) -> None:
        self.size = size
        self._file = file

    async def read_part(self) -> bytes:
        return await _in_thread(partial(self._file.read, PART_BYTES))

    async def close(self) -> None:
        self._file.close()


def folder_of(settings: Settings) -> Path:
    """The directory of all attachments."""
    return settings.data_dir / FOLDER


def path_of(folder: Path, content: Content) -> Path:
    """Where the bytes of an attachment are."""
    return folder / content.sha256[:2] / f"{content.sha256}.{content.tenant_id}"


async def begin(folder: Path) -> IncomingFile:
    """A new file to receive into. Raises ServiceUnavailable."""
    return await _in_thread(partial(_create, folder))


def _create(folder: Path) -> IncomingFile:
    make_private_dir(folder / _INCOMING)
    make_private_dir(folder)
    handle, path = tempfile.mkstemp(dir=folder / _INCOMING)  # readable by its owner only
    return IncomingFile(folder, Path(path), FileIO(handle, "wb"))


async def open_stored(folder: Path, content: Content) -> StoredFile:
    """Open a stored file. Raises ServiceUnavailable, also when it is missing."""

    def open_now() -> StoredFile:
        file = FileIO(path_of(folder, content))
        return StoredFile(file, os.fstat(file.fileno()).st_size)

    return await _in_thread(open_now)


async def delete_older(folder: Path, content: Content, before_us: int) -> bool:
    """Delete a file that no attachment has, unless it was written since; whether it is gone."""

    def delete_now() -> bool:
        path = path_of(folder, content)
        with suppress(FileNotFoundError), _locked(folder, fcntl.LOCK_EX):
            if path.stat().st_mtime_ns >= before_us * 1000:
                return False
            path.unlink()
            return True
        return False

    return await _in_thread(delete_now)


async def list_written(
    folder: Path, turn: int, turns: int, after_us: int, before_us: int
) -> list[Content]:
    """The contents that were written within a time, in every `turns`-th directory."""
    work = partial(_find_written, folder, turn, turns, (after_us * 1000, before_us * 1000))
    return await _in_thread(lambda: list(work()))


def _find_written(
    folder: Path, turn: int, turns: int, span_ns: tuple[int, int]
) -> Iterator[Content]:
    for number in range(turn, 256, turns):
        with suppress(FileNotFoundError), os.scandir(folder / f"{number:02x}") as entries:
            for entry in entries:
                sha256, _, tenant_id = entry.name.partition(".")
                if span_ns[0] <= entry.stat().st_mtime_ns < span_ns[1]:
                    yield Content(tenant_id, sha256)


async def delete_abandoned(folder: Path, now_us: int) -> None:
    """Delete files that were not received to their end, as their process was killed."""

    def delete_now() -> None:
        with suppress(FileNotFoundError), os.scandir(folder / _INCOMING) as entries:
            for entry in entries:
                if now_us // 1_000_000 - entry.stat().st_mtime > _ABANDONED_S:
                    Path(entry.path).unlink(missing_ok=True)

    await _in_thread(delete_now)


async def _in_thread(work: Callable[[], T]) -> T:
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, work)
    except OSError as error:
        raise ServiceUnavailable(CONTENT_UNAVAILABLE) from error


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    """Between processes: nobody replaces a file while it is looked at and deleted."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
