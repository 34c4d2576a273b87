"""Compares rows of attachments with their files, some in each look."""

import asyncio
import hashlib
from pathlib import Path

from sealdesk.db.engine import Row
from sealdesk.installation.store import tenants
from sealdesk.installation.types import Look
from sealdesk.settings import Settings
from sealdesk.telemetry.issues import Issue, Unknown
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Content

ATTACHMENTS = "attachments_missing"
_BEGINNING = ("", "")
_IN_DIRECTORY = 50
_IN_BUCKET = 2  # each is a request that somebody pays for
_MAX_REMEMBERED = 100


class AttachmentWalk:
    """Goes round through all attachments; remembers those whose bytes were missing.

    reads_each: looks at all of them each time, and reads the files.
    """

    def __init__(self, *, reads_each: bool = False) -> None:
        self._reads_each = reads_each
        self._after = _BEGINNING
        self._missing: dict[Content, Row] = {}

    async def attachments_missing(self, look: Look) -> Issue | Unknown | None:
        """Look at the next ones, and again at those that were missing."""
        if not look.sees_all:
            return Unknown(ATTACHMENTS, "a worker looks at attachments, and none has reported")
        await self._look_at_next(look)
        while self._reads_each and self._after != _BEGINNING:
            await self._look_at_next(look)
        return self._issue()

    async def _look_at_next(self, look: Look) -> None:
        at_most = _IN_DIRECTORY if look.settings.attachment_bucket is None else _IN_BUCKET
        rows = await look.read(lambda tx: tenants.list_contents(tx, self._after, at_most))
        self._after = (rows[-1]["tenant_id"], rows[-1]["sha256"]) if rows else _BEGINNING
        again = [] if look.settings.attachment_bucket else list(self._missing.values())
        for row in (*again, *rows):
            await self._compare(look, row)

    async def _compare(self, look: Look, row: Row) -> None:
        content = Content(row["tenant_id"], row["sha256"])
        if await self._is_whole(look.settings, content, row["size_bytes"]):
            self._missing.pop(content, None)
        elif len(self._missing) < _MAX_REMEMBERED:
            self._missing[content] = row

    async def _is_whole(self, settings: Settings, content: Content, size_bytes: int) -> bool:
        storage = storage_of(settings)
        if await storage.find_size(content) != size_bytes:
            return False
        if not self._reads_each or settings.attachment_bucket:
            return True
        file = await storage.local_file(content, settings.data_dir)
        return await asyncio.to_thread(_hash, file) == content.sha256

    def _issue(self) -> Issue | None:
        if not self._missing:
            return None
        content, row = next(iter(self._missing.items()))
        ticket = "an upload" if row["number"] is None else f"ticket {row['number']}"
        return Issue(
            ATTACHMENTS,
            f"Files of {len(self._missing)} attachments are missing, cut or changed; the first is"
            f" {rules.path_of(content)}, of {ticket} of tenant {content.tenant_id}.",
            "Put them back from a backup or from the storage's own copies; `sealdesk backup` names"
            " all of them.",
        )


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
