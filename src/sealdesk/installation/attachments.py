"""Compares rows of attachments with their files, some in each look."""

from sealdesk.db.engine import Row
from sealdesk.installation.store import tenants
from sealdesk.installation.types import Look
from sealdesk.telemetry.issues import Issue, Unknown
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Content

_CODE = "attachments_missing"
_IN_DIRECTORY = 50
_IN_BUCKET = 2  # each is a request that somebody pays for
_MAX_REMEMBERED = 100


class AttachmentWalk:
    """Goes round through all attachments; remembers those whose bytes were missing."""

    def __init__(self) -> None:
        self._after = ("", "")
        self._missing: dict[Content, Row] = {}

    async def attachments_missing(self, look: Look) -> Issue | Unknown | None:
        """Look at the next ones, and again at those that were missing."""
        if not look.sees_all:
            return Unknown(_CODE, "a worker looks at attachments, and none has reported")
        at_most = _IN_DIRECTORY if look.settings.attachment_bucket is None else _IN_BUCKET
        rows = await look.read(lambda tx: tenants.list_contents(tx, self._after, at_most))
        self._after = (rows[-1]["tenant_id"], rows[-1]["sha256"]) if rows else ("", "")
        again = [] if look.settings.attachment_bucket else list(self._missing.values())
        for row in (*again, *rows):
            await self._compare(look, row)
        return self._issue()

    async def look_at_each(self, look: Look) -> Issue | Unknown | None:
        """Go round once."""
        self._after = ("", "")
        found = await self.attachments_missing(look)
        while self._after != ("", ""):
            found = await self.attachments_missing(look)
        return found

    async def _compare(self, look: Look, row: Row) -> None:
        content = Content(row["tenant_id"], row["sha256"])
        if await storage_of(look.settings).find_size(content) == row["size_bytes"]:
            self._missing.pop(content, None)
        elif len(self._missing) < _MAX_REMEMBERED:
            self._missing[content] = row

    def _issue(self) -> Issue | None:
        if not self._missing:
            return None
        content, row = next(iter(self._missing.items()))
        ticket = "an upload" if row["number"] is None else f"ticket {row['number']}"
        return Issue(
            _CODE,
            f"Files of {len(self._missing)} attachments are missing or cut; the first is"
            f" {rules.path_of(content)}, of {ticket} of tenant {content.tenant_id}.",
            "Put them back from a backup or from the storage's own copies; `sealdesk backup` names"
            " all of them.",
        )
