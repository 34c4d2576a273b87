"""Where the bytes of attachments are: the data directory, or an S3-compatible bucket."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from sealdesk.settings import BucketSettings, Settings
from sealdesk.tickets.attachments import files
from sealdesk.tickets.attachments.directory import Directory
from sealdesk.tickets.attachments.types import Content, Kept, StoredContent
from sealdesk.web.request import FileBody

IsUsed = Callable[[], Awaitable[bool]]


class Storage(Protocol):
    """Keeps bytes by their tenant and SHA-256. All methods may raise ServiceUnavailable.

    turns: list_written has gone through everything after so many turns.
    """

    turns: int

    async def publish(self, file: Path, content: Content, now_us: int) -> None:
        """Keep the bytes of a received file, durably, as written now. It may move the file."""

    async def keep(self, folder: Path, tenant_id: str, parts: Iterable[bytes], now_us: int) -> Kept:
        """Keep bytes that are at hand, as `publish` does. folder: that of received files."""

    async def open(self, content: Content) -> FileBody:
        """Open kept bytes. Raises ServiceUnavailable also when they are missing."""

    async def find_size(self, content: Content) -> int | None:
        """How many bytes are kept under this name, None without any."""

    async def local_file(self, content: Content, scratch: Path) -> Path:
        """The file with these bytes, or a copy in `scratch`. Raises FileNotFoundError."""

    async def delete_unused(self, content: Content, before_us: int, is_used: IsUsed) -> bool:
        """Delete bytes that no attachment has and that were not written since; whether it did."""

    async def list_written(self, turn: int, after_us: int, before_us: int) -> list[Content]:
        """What was written within a time, of the part that this turn looks at."""

    def list_all(self) -> AsyncIterator[StoredContent]:
        """Everything that is kept."""

    async def delete_abandoned(self, now_us: int) -> None:
        """Delete what killed processes left behind, other than bytes."""


def storage_of(settings: Settings) -> Storage:
    """The storage that the settings name; a process has one of each."""
    return _open(files.folder_of(settings), settings.attachment_bucket)


@lru_cache(maxsize=64)
def _open(folder: Path, bucket: BucketSettings | None) -> Storage:
    if bucket is None:
        return Directory(folder)
    # With its client 20 ms to import, and 10 MiB (2026-11), which the data directory does not need.
    from sealdesk.tickets.attachments.bucket import Bucket

    return Bucket(bucket)
