"""Copies the bytes of attachments: into a backup, out of one, and between storages."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from sealdesk.clock import Clock
from sealdesk.crypto.encrypted_file import DamagedFile
from sealdesk.db.backup.archive import PackedFile
from sealdesk.settings import Settings
from sealdesk.tickets.attachments import files, rules
from sealdesk.tickets.attachments.storage import Storage, storage_of
from sealdesk.tickets.attachments.types import Content, StoredContent
from sealdesk.web.request import FileBody

_READ_BYTES = 256 * 1024


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


def pack(runner: asyncio.Runner, storage: Storage, scratch: Path) -> Iterator[PackedFile]:
    """Everything that a storage keeps. runner: runs its requests. scratch: an empty directory."""
    listing = storage.list_all()
    while (stored := runner.run(_next(listing))) is not None:
        with suppress(FileNotFoundError):  # retention may have deleted it
            path = runner.run(storage.local_file(stored.content, scratch))
            with path.open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                yield PackedFile(rules.path_of(stored.content), size, source)
            if path.is_relative_to(scratch):
                path.unlink()


async def _next(listing: AsyncIterator[StoredContent]) -> StoredContent | None:
    return await anext(listing, None)


async def unpack(packed: Iterable[PackedFile], settings: Settings) -> None:
    """Put files of a backup into the storage of the settings, unless it has them already.

    Raises DamagedFile for a file that is no attachment, or that does not fit its name.
    """
    storage = storage_of(settings)
    for file in packed:
        content = rules.content_at(file.name)
        if content is None:
            raise DamagedFile("it contains a file that is no attachment")
        if not await storage.has(StoredContent(content, file.size_bytes)):
            await _store(_blocks_of(file.content), content, settings, storage)


async def copy(stored: StoredContent, source: Storage, target: Storage, settings: Settings) -> bool:
    """Copy bytes to another storage; False if it has them already. Raises DamagedFile."""
    if await target.has(stored):
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
