"""Copies the bytes of attachments: into a backup, out of one, and between storages."""

import asyncio
import errno
import hashlib
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import IO, Literal, NamedTuple

from sealdesk.clock import Clock
from sealdesk.crypto.encrypted_file import DamagedFile
from sealdesk.db.backup.archive import LackingFile, PackedFile
from sealdesk.db.backup.needed_files import Needed
from sealdesk.settings import Settings
from sealdesk.tickets.attachments import files, rules
from sealdesk.tickets.attachments.storage import Storage, storage_of
from sealdesk.tickets.attachments.types import Content, StoredContent
from sealdesk.web.request import FileBody

_READ_BYTES = 256 * 1024
# Faults of one file; others, such as a full disk, are those of the backup.
_UNREADABLE = (errno.EACCES, errno.EPERM, errno.EIO)


class Totals(NamedTuple):
    """How many contents there are, and their size."""

    contents: int
    size_bytes: int


async def measure(storage: Storage) -> Totals:
    """What a storage keeps."""
    contents = size = 0
    async for stored in storage.list_all():
        contents, size = contents + 1, size + stored.size_bytes
    return Totals(contents, size)


def _content_of(needed: Needed) -> Content:
    return Content(needed.tenant_id, needed.sha256)


class Packer:
    """Packs the bytes that rows need. lacking: those that are not as the rows say.

    runner: runs the requests of the storage. scratch: an empty directory.
    """

    def __init__(self, runner: asyncio.Runner, storage: Storage, scratch: Path) -> None:
        self.lacking: list[LackingFile] = []
        self._runner = runner
        self._storage = storage
        self._scratch = scratch

    def pack(self, needed: Iterable[Needed]) -> Iterator[PackedFile]:
        """The files, each compared with its SHA-256 before it is given out."""
        for each in needed:
            try:
                yield from self._pack_one(each)
            except FileNotFoundError:
                self._note("missing", each)
            except OSError as error:
                if error.errno not in _UNREADABLE:
                    raise
                self._note("unreadable", each)

    def look(self, needed: Iterable[Needed]) -> Iterator[PackedFile]:
        """No file: only see whether the storage has each one with its size."""
        for each in needed:
            size = self._runner.run(self._storage.find_size(_content_of(each)))
            if size is None or size != (each.size_bytes or size):
                self._note("missing" if size is None else "damaged", each)
        yield from ()

    def _pack_one(self, needed: Needed) -> Iterator[PackedFile]:
        path = self._runner.run(self._storage.local_file(_content_of(needed), self._scratch))
        with path.open("rb") as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
            size = source.tell()
            source.seek(0)
            if digest == needed.sha256:
                yield PackedFile(rules.path_of(_content_of(needed)), size, source)
            else:
                self._note("damaged", needed)
        if path.is_relative_to(self._scratch):
            path.unlink()

    def _note(self, fault: Literal["missing", "damaged", "unreadable"], needed: Needed) -> None:
        path = rules.path_of(_content_of(needed))
        self.lacking.append(LackingFile(fault, path, needed.tenant_id, needed.ticket_number))


async def unpack(packed: Iterable[PackedFile], settings: Settings) -> None:
    """Put files of a backup into the storage of the settings, unless it has them already.

    Raises DamagedFile for a file that is no attachment, or that does not fit its name.
    """
    storage = storage_of(settings)
    for file in packed:
        content = rules.content_at(file.name)
        if content is None:
            raise DamagedFile("it contains a file that is no attachment")
        if await storage.find_size(content) != file.size_bytes:
            await _store(_blocks_of(file.content), content, settings, storage)


async def copy(stored: StoredContent, source: Storage, target: Storage, settings: Settings) -> bool:
    """Copy bytes to another storage; False if it has them already. Raises DamagedFile."""
    if await target.find_size(stored.content) == stored.size_bytes:
        return False
    await _store(_parts_of(await source.open(stored.content)), stored.content, settings, target)
    return True


async def _store(
    parts: AsyncIterator[bytes], content: Content, settings: Settings, target: Storage
) -> None:
    incoming = await files.begin(files.folder_of(settings))
    try:
        async for part in parts:
            await incoming.write(part)
        if (await incoming.finish()).sha256 != content.sha256:
            raise DamagedFile("an attachment does not fit its name")
        await target.publish(incoming.path, content, Clock().now_us())
    finally:
        incoming.discard()


async def _blocks_of(file: IO[bytes]) -> AsyncIterator[bytes]:
    while block := file.read(_READ_BYTES):
        yield block


async def _parts_of(file: FileBody) -> AsyncIterator[bytes]:
    try:
        while part := await file.read_part():
            yield part
    finally:
        await file.close()
