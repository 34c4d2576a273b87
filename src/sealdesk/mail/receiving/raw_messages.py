"""Raw messages in the storage of attachments: as they arrive, read again later, and deleted."""

import hashlib
import tempfile
from collections.abc import Generator, Iterable
from functools import partial
from pathlib import Path

from sealdesk.crypto import sealed_file
from sealdesk.crypto.encrypted_file import CHUNK_BYTES
from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.receiving import store
from sealdesk.mail.receiving.types import File, RawMessage, ReceivedMessage
from sealdesk.settings import Settings
from sealdesk.state import AppState
from sealdesk.tickets.attachments import files, pruning
from sealdesk.tickets.attachments import rules as attachment_rules
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Content, Kept
from sealdesk.web.request import FileBody

MAX_BYTES = 25 * 1024 * 1024  # of a message, encoded; SEALDESK_MAIL_MAX_MIB can only lower it
_PRUNED_ROWS = 100  # at once


class _KeptMessage:
    """The body of a response with a kept message. first: what was read to see that it opens."""

    part_bytes = CHUNK_BYTES

    def __init__(
        self,
        size: int,
        first: bytes,
        parts: Generator[bytes],
        scratch: "tempfile.TemporaryDirectory[str]",
    ) -> None:
        self.size = size
        self._first = first
        self._parts = parts
        self._scratch = scratch

    async def read_part(self) -> bytes:
        found, self._first = self._first, b""
        return found or await files.in_thread(lambda: next(self._parts, b""))

    async def close(self) -> None:
        self._parts.close()
        self._scratch.cleanup()


async def keep(state: AppState, tenant_id: str, raw: bytes, now_us: int) -> RawMessage:
    """Store a message durably, sealed if the settings say so. Raises ServiceUnavailable."""
    # One that looks sealed is sealed too, so that what is stored tells which it is.
    if not (state.settings.mail.seals_messages or sealed_file.is_sealed(raw)):
        stored = await _store(state.settings, tenant_id, (raw,), now_us)
        return RawMessage(stored.sha256, stored.sha256, stored.size)
    digest = await files.in_thread(lambda: hashlib.sha256(raw).digest())
    parts = sealed_file.seal(state.key_ring, raw, digest, _about(tenant_id))
    stored = await _store(state.settings, tenant_id, parts, now_us)
    return RawMessage(stored.sha256, digest.hex(), len(raw))


async def keep_file(
    settings: Settings,
    tenant_id: str,
    name: str,
    content_type: str,
    parts: Iterable[bytes],
    now_us: int,
) -> File:
    """Store the bytes of a file of a message durably. Raises ServiceUnavailable."""
    stored = await _store(settings, tenant_id, parts, now_us)
    return File(
        name,
        attachment_rules.media_type(content_type),
        attachment_rules.image_type(stored.head),
        stored.size,
        stored.sha256,
    )


async def read(state: AppState, tenant_id: str, sha256: str) -> bytes:
    """A message that is kept. Raises ServiceUnavailable also if it is missing or not opened."""
    content = Content(tenant_id, sha256)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            path = await storage_of(state.settings).local_file(content, Path(scratch))
            return await files.in_thread(lambda: b"".join(_parts(state.key_ring, path, tenant_id)))
        except (FileNotFoundError, UnsealError) as error:
            raise ServiceUnavailable(CONTENT_UNAVAILABLE) from error


async def open_file(state: AppState, message: ReceivedMessage) -> FileBody:
    """A message that is kept, in parts. Raises ServiceUnavailable also if it is not opened."""
    content, scratch = Content(message.tenant_id, message.raw_sha256), tempfile.TemporaryDirectory()
    try:
        path = await storage_of(state.settings).local_file(content, Path(scratch.name))
        parts = _parts(state.key_ring, path, message.tenant_id)
        first = await files.in_thread(lambda: next(parts, b""))
    except (FileNotFoundError, UnsealError) as error:
        scratch.cleanup()
        raise ServiceUnavailable(CONTENT_UNAVAILABLE) from error
    except BaseException:
        scratch.cleanup()
        raise
    return _KeptMessage(message.size_bytes, first, parts, scratch)


async def read_start(state: AppState, message: ReceivedMessage, max_bytes: int) -> bytes:
    """The first bytes of a message that is kept. Raises ServiceUnavailable."""
    file, found = await open_file(state, message), bytearray()
    try:
        while len(found) < max_bytes and (part := await file.read_part()):
            found += part
    finally:
        await file.close()
    return bytes(found[:max_bytes])


async def prune(state: AppState) -> int:
    """Delete the raw messages that are kept no longer; how many."""
    now_us, total = state.clock.now_us(), 0
    while expired := await state.database.read(
        lambda tx: store.list_expired(tx, now_us, _PRUNED_ROWS)
    ):
        # First the bytes: a row whose bytes are gone is found again, bytes without a row are not.
        for each in expired:
            await pruning.delete_unless_used(state, Content(each.tenant_id, each.raw_sha256))
        await state.database.write(partial(store.forget_raw, messages=expired))
        total += len(expired)
    return total


async def _store(settings: Settings, tenant_id: str, parts: Iterable[bytes], now_us: int) -> Kept:
    folder = files.folder_of(settings)
    return await storage_of(settings).keep(folder, tenant_id, parts, now_us)


def _parts(key_ring: KeyRing, path: Path, tenant_id: str) -> Generator[bytes]:
    with path.open("rb") as file:
        is_sealed = sealed_file.is_sealed(file.read(len(sealed_file.MAGIC)))
        file.seek(0)
        if is_sealed:
            yield from sealed_file.open_parts(key_ring, file, _about(tenant_id))
            return
        while part := file.read(CHUNK_BYTES):
            yield part


def _about(tenant_id: str) -> str:
    return f"raw message of {tenant_id}"
