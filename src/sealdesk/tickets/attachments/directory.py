"""Attachments in the data directory."""

import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path

from sealdesk.settings import make_private_dir
from sealdesk.tickets.attachments import files, rules
from sealdesk.tickets.attachments.files import in_thread
from sealdesk.tickets.attachments.types import Content, Kept, StoredContent

PART_BYTES = 256 * 1024
_FOLDERS = 256  # by the first two digits of the hash


class StoredFile:
    """A stored file, read in parts."""

    part_bytes = PART_BYTES

    def __init__(self, file: FileIO, size: int) -> None:
        self.size = size
        self._file = file

    async def read_part(self) -> bytes:
        return await in_thread(partial(self._file.read, PART_BYTES))

    async def close(self) -> None:
        self._file.close()


class Directory:
    """Keeps each content in a file; see Storage. folder: of all attachments."""

    turns = 60  # each directory once an hour, as the worker prunes every minute

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._durable = set[Path]()  # folders whose entries this process has synced

    async def publish(self, file: Path, content: Content, now_us: int) -> None:
        await in_thread(partial(self._rename, file, content, now_us))

    def _rename(self, file: Path, content: Content, now_us: int) -> None:
        os.utime(file, ns=(now_us * 1000, now_us * 1000))
        path = self._path_of(content)
        if path.parent not in self._durable or not path.parent.is_dir():
            make_private_dir(path.parent)
            _sync_folder(self._folder)
            self._durable.add(path.parent)
        with self._locked(fcntl.LOCK_SH):
            file.replace(path)
        _sync_folder(path.parent)

    async def keep(self, folder: Path, tenant_id: str, parts: Iterable[bytes], now_us: int) -> Kept:
        return await in_thread(partial(self._keep, folder, tenant_id, parts, now_us))

    def _keep(self, folder: Path, tenant_id: str, parts: Iterable[bytes], now_us: int) -> Kept:
        file, digest = files.take(folder, parts)
        try:
            self._rename(file.path, Content(tenant_id, digest.sha256), now_us)
        finally:
            file.discard()
        return Kept(digest.sha256, digest.size, file.head)

    async def open(self, content: Content) -> StoredFile:
        def open_now() -> StoredFile:
            file = FileIO(self._path_of(content))
            return StoredFile(file, os.fstat(file.fileno()).st_size)

        return await in_thread(open_now)

    async def find_size(self, content: Content) -> int | None:
        def look() -> int | None:
            with suppress(FileNotFoundError):
                return self._path_of(content).stat().st_size
            return None

        return await in_thread(look)

    async def local_file(self, content: Content, scratch: Path) -> Path:
        path = self._path_of(content)
        if not path.exists():
            raise FileNotFoundError(path)
        return path

    async def delete_unused(
        self, content: Content, before_us: int, is_used: Callable[[], Awaitable[bool]]
    ) -> bool:
        if await is_used():
            return False
        # Whoever uploads it again meanwhile has renewed its time before their row is committed.
        return await in_thread(partial(self._delete_older, content, before_us))

    def _delete_older(self, content: Content, before_us: int) -> bool:
        path = self._path_of(content)
        with suppress(FileNotFoundError), self._locked(fcntl.LOCK_EX):
            if path.stat().st_mtime_ns >= before_us * 1000:
                return False
            path.unlink()
            return True
        return False

    async def list_written(self, turn: int, after_us: int, before_us: int) -> list[Content]:
        span_ns = (after_us * 1000, before_us * 1000)
        return await in_thread(lambda: list(self._find_written(turn, span_ns)))

    def _find_written(self, turn: int, span_ns: tuple[int, int]) -> Iterator[Content]:
        for number in range(turn, _FOLDERS, self.turns):
            for content, stat in self._entries(number):
                if span_ns[0] <= stat.st_mtime_ns < span_ns[1]:
                    yield content

    async def list_all(self) -> AsyncIterator[StoredContent]:
        for number in range(_FOLDERS):
            for content, stat in await in_thread(partial(self._sorted_entries, number)):
                yield StoredContent(content, stat.st_size)

    def _sorted_entries(self, number: int) -> list[tuple[Content, os.stat_result]]:
        return sorted(self._entries(number))

    def _entries(self, number: int) -> Iterator[tuple[Content, os.stat_result]]:
        name = f"{number:02x}"
        with suppress(FileNotFoundError), os.scandir(self._folder / name) as entries:
            for entry in entries:
                content = rules.content_at(f"{rules.FOLDER}/{name}/{entry.name}")
                if content is not None:
                    with suppress(FileNotFoundError):  # it may be deleted meanwhile
                        yield content, entry.stat()

    async def delete_abandoned(self, now_us: int) -> None:
        """Nothing is left behind here."""

    def _path_of(self, content: Content) -> Path:
        return self._folder.parent / rules.path_of(content)

    @contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        """Between processes: nobody replaces a file while it is looked at and deleted."""
        handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
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
