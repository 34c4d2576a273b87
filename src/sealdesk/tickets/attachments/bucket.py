"""Attachments in an S3-compatible bucket.

Every request has a deadline and a slot of its tenant, so a bucket that hangs delays nothing else.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from sealdesk import __version__
from sealdesk.db.fairness import TenantSlots
from sealdesk.errors import ServiceUnavailable
from sealdesk.settings import BucketSettings
from sealdesk.tickets.attachments import files, rules
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE
from sealdesk.tickets.attachments.files import in_thread
from sealdesk.tickets.attachments.types import Content, Kept, StoredContent

T = TypeVar("T")
PART_BYTES = 512 * 1024
_FOLDERS = 256  # by the first two digits of the hash
# Where retention says what it is about to delete: bytes may not be published there meanwhile.
_DELETING = f"{rules.FOLDER}/deleting"
_ABANDONED_S = 3600  # longer than any deletion may take
_CONNECT_S = 2.0
_REQUEST_S = 4.0  # with the rest of the request, a response within 5 s
_MIN_BYTES_PER_S = 512 * 1024
_MULTIPART_BYTES = 5 * 1024 * 1024  # the least that S3 allows
_SLOTS = 32
_SLOTS_OF_TENANT = 8
_SLOT_WAIT_S = 2.0
# A file is sent in parts of 5 MiB, of which the client holds up to three copies (2026-11).
_LARGE_BYTES = 1024 * 1024
_LARGE_SLOTS = 4
_LARGE_SLOTS_OF_TENANT = 2
_LARGE_SLOT_WAIT_S = 10.0
_LISTED = 1000  # objects in a response of S3
_ERROR_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_MAX_REASON = 200


class BucketFailed(Exception):
    """A bucket did not do what it was asked. The text says why, without secrets."""


class StoredObject:
    """A stored object, read in parts by requests of their own: no client keeps one open.

    The last part is held back unless all parts together have the hash.
    """

    part_bytes = PART_BYTES

    def __init__(self, bucket: "Bucket", content: Content, first: bytes, size: int) -> None:
        self.size = size
        self._bucket = bucket
        self._content = content
        self._next = first
        self._offset = 0
        self._digest = hashlib.sha256()

    async def read_part(self) -> bytes:
        if self._offset >= self.size:
            return b""
        part = self._next or (await self._bucket.read(self._content, self._offset))[0]
        self._next = b""
        self._offset += len(part)
        await in_thread(partial(self._digest.update, part))
        if self._offset >= self.size and self._digest.hexdigest() != self._content.sha256:
            raise ServiceUnavailable(CONTENT_UNAVAILABLE) from BucketFailed(
                "an object does not fit its name"
            )
        return part

    async def close(self) -> None:
        self._next = b""


class Bucket:
    """Keeps each content in an object; see Storage."""

    turns = 24 * 60  # each prefix once a day, as the worker prunes every minute

    def __init__(self, settings: BucketSettings) -> None:
        self._store = S3Store(
            settings.name,
            endpoint=settings.url,
            region=settings.region,
            access_key_id=settings.key_id,
            secret_access_key=settings.secret,
            virtual_hosted_style_request=not settings.has_bucket_in_path,
            client_options={
                "allow_http": settings.url.startswith("http://"),
                "connect_timeout": timedelta(seconds=_CONNECT_S),
                "timeout": timedelta(seconds=_seconds_for(_MULTIPART_BYTES)),
                "user_agent": f"sealdesk/{__version__}",
            },
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=_REQUEST_S)},
        )
        self._slots = _slots(_SLOTS, per_tenant=_SLOTS_OF_TENANT)
        self._large_slots = _slots(_LARGE_SLOTS, per_tenant=_LARGE_SLOTS_OF_TENANT)

    async def keep(self, folder: Path, tenant_id: str, parts: Iterable[bytes], now_us: int) -> Kept:
        file, digest = await in_thread(partial(files.take, folder, parts))
        try:
            await self.publish(file.path, Content(tenant_id, digest.sha256), now_us)
        finally:
            file.discard()
        return Kept(digest.sha256, digest.size, file.head)

    async def publish(self, file: Path, content: Content, now_us: int) -> None:
        size = (await in_thread(file.stat)).st_size
        put = partial(
            obstore.put_async,
            self._store,
            rules.path_of(content),
            file,
            chunk_size=_MULTIPART_BYTES,
            max_concurrency=1,
        )
        if size > _LARGE_BYTES:
            async with self._large_slots.hold(content.tenant_id, _LARGE_SLOT_WAIT_S):
                await self._ask(content.tenant_id, put, size)
        else:
            await self._ask(content.tenant_id, put, size)
        # Retention has either not begun to delete it, and then sees that it is new, or is done.
        is_whole = not await self._is_being_deleted(content)
        if not (is_whole and await self.find_size(content) == size):
            raise ServiceUnavailable(CONTENT_UNAVAILABLE) from BucketFailed("it was being deleted")

    async def open(self, content: Content) -> StoredObject:
        try:
            first, size = await self.read(content, 0)
        except FileNotFoundError as error:
            raise ServiceUnavailable(CONTENT_UNAVAILABLE) from error
        return StoredObject(self, content, first, size)

    async def read(self, content: Content, offset: int) -> tuple[bytes, int]:
        """A part of an object, and the size of all of it. Raises FileNotFoundError."""

        async def get() -> tuple[bytes, int]:
            options: Any = {"range": (offset, offset + PART_BYTES)}
            path = rules.path_of(content)
            found = await obstore.get_async(self._store, path, options=options)
            return bytes(await found.bytes_async()), int(found.meta["size"])

        return await self._ask(content.tenant_id, get, PART_BYTES)

    async def find_size(self, content: Content) -> int | None:
        found = await self._find(content)
        return None if found is None else int(found["size"])

    async def local_file(self, content: Content, scratch: Path) -> Path:
        file = scratch / content.sha256
        first, size = await self.read(content, 0)
        source = StoredObject(self, content, first, size)
        with await in_thread(partial(FileIO, file, "wb")) as target:
            while part := await source.read_part():
                await in_thread(partial(target.write, part))
        return file

    async def delete_unused(
        self, content: Content, before_us: int, is_used: Callable[[], Awaitable[bool]]
    ) -> bool:
        if await is_used():
            return False
        mark = f"{_DELETING}/{content.sha256}.{content.tenant_id}/{secrets.token_hex(8)}"
        await self._ask(None, partial(obstore.put_async, self._store, mark, b"-"))
        is_deleted = await self._delete_older(content, before_us, is_used)
        # Left behind when that failed: the bucket may still do what it has not confirmed.
        await self._delete(mark)
        return is_deleted

    async def _delete_older(
        self, content: Content, before_us: int, is_used: Callable[[], Awaitable[bool]]
    ) -> bool:
        found = await self._find(content)
        if found is None or found["last_modified"] >= _instant(before_us) or await is_used():
            return False
        await self._delete(rules.path_of(content))
        return True

    async def list_written(self, turn: int, after_us: int, before_us: int) -> list[Content]:
        after, before, found = _instant(after_us), _instant(before_us), []
        for number in range(turn, _FOLDERS, self.turns):
            async for each in self._list(f"{rules.FOLDER}/{number:02x}"):
                content = rules.content_at(each["path"])
                if content is not None and after <= each["last_modified"] < before:
                    found.append(content)
        return found

    async def list_all(self) -> AsyncIterator[StoredContent]:
        async for each in self._list(rules.FOLDER):
            content = rules.content_at(each["path"])
            if content is not None:
                yield StoredContent(content, each["size"])

    async def delete_abandoned(self, now_us: int) -> None:
        before = _instant(now_us - _ABANDONED_S * 1_000_000)
        async for each in self._list(_DELETING):
            if each["last_modified"] < before:
                await self._delete(each["path"])

    async def try_out(self) -> None:
        """Write, read, list and delete an object, for `sealdesk doctor`."""
        folder = f"{rules.FOLDER}/doctor"
        path = f"{folder}/{secrets.token_hex(8)}"
        for work in (
            partial(obstore.put_async, self._store, path, b"-"),
            partial(obstore.get_async, self._store, path),
            partial(_next_page, obstore.list(self._store, folder)),
            partial(obstore.delete_async, self._store, path),
        ):
            await self._ask(None, work)

    async def _is_being_deleted(self, content: Content) -> bool:
        prefix = f"{_DELETING}/{content.sha256}.{content.tenant_id}"
        async for _ in self._list(prefix, content.tenant_id):
            return True
        return False

    async def _find(self, content: Content) -> Any:
        head = partial(obstore.head_async, self._store, rules.path_of(content))
        with suppress(FileNotFoundError):
            return await self._ask(content.tenant_id, head)
        return None

    async def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            await self._ask(None, partial(obstore.delete_async, self._store, path))

    async def _list(self, prefix: str, tenant_id: str | None = None) -> AsyncIterator[Any]:
        pages = obstore.list(self._store, prefix, chunk_size=_LISTED)
        while True:
            page = await self._ask(tenant_id, partial(_next_page, pages))
            if page is None:
                return
            for each in page:
                yield each

    async def _ask(
        self, tenant_id: str | None, work: Callable[[], Awaitable[T]], size: int = 0
    ) -> T:
        """Do work with the bucket, in time. Raises ServiceUnavailable, FileNotFoundError."""
        async with self._slots.hold(tenant_id, _SLOT_WAIT_S):
            try:
                async with asyncio.timeout(_seconds_for(size)):
                    return await work()
            except FileNotFoundError:
                raise
            except (BaseError, OSError) as error:
                reason = BucketFailed(_reason_of(error))
                raise ServiceUnavailable(CONTENT_UNAVAILABLE) from reason


def _slots(count: int, *, per_tenant: int) -> TenantSlots:
    return TenantSlots(
        count,
        per_tenant=per_tenant,
        max_waiting=_SLOTS_OF_TENANT,
        refusal=partial(ServiceUnavailable, CONTENT_UNAVAILABLE),
    )


async def _next_page(pages: Any) -> Any:
    return await anext(pages, None)


def _seconds_for(size: int) -> float:
    return _REQUEST_S + size / _MIN_BYTES_PER_S


def _instant(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us / 1_000_000, UTC)


def _reason_of(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the bucket did not answer in time"
    text = str(error)
    code = _ERROR_CODE.search(text)
    return code[1] if code else text.partition("\n")[0][:_MAX_REASON]
