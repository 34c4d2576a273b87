"""What happens to attachments; each action is one transaction's worth of work."""

from collections.abc import Sequence

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid, must_exist
from sealdesk.tickets.attachments import rules, store
from sealdesk.tickets.attachments.errors import ATTACHMENT_QUOTA_EXCEEDED
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.types import AttachmentRef

_MIB = 1024 * 1024
_UNKNOWN = gettext_noop("There is no such attachment, or a ticket or reply refers to it already.")


async def add(tx: Tx, attachment: Attachment, *, quota_bytes: int) -> None:
    """Store an attachment that nothing refers to yet. Raises Conflict."""
    tenant_id, size = attachment.tenant_id, attachment.size_bytes
    if not await store.use_bytes(tx, tenant_id, size, quota_bytes):
        await check_quota(tx, tenant_id, size, quota_bytes=quota_bytes)
    await store.add(tx, attachment)


async def check_quota(tx: Tx, tenant_id: str, size: int, *, quota_bytes: int) -> None:
    """Raises Conflict when the tenant has no space for an attachment of this size."""
    used = await store.used_bytes(tx, tenant_id)
    if used + size > quota_bytes:
        raise Conflict(
            ATTACHMENT_QUOTA_EXCEEDED, used_mib=used // _MIB, quota_mib=quota_bytes // _MIB
        )


async def get_attachment(tx: Tx, tenant_id: str, attachment_id: str) -> Attachment:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, attachment_id))


async def find_attached(tx: Tx, tenant_id: str, ids: Sequence[str]) -> tuple[AttachmentRef, ...]:
    """The attachments that a new ticket or reply names, in its order. Raises ValidationFailed."""
    found = {each.id: each for each in await store.list_unlinked(tx, tenant_id, ids)}
    unknown = [place for place, each in enumerate(ids) if each not in found]
    if unknown:
        raise invalid(
            [Fault(f"/attachment_ids/{at}", "unknown_attachment", _UNKNOWN) for at in unknown]
        )
    return tuple(to_ref(found[each]) for each in dict.fromkeys(ids))


async def list_unsent(tx: Tx, tenant_id: str, ids: Sequence[str]) -> tuple[AttachmentRef, ...]:
    """Of these attachments those that can still be sent, for a form that is shown again."""
    first = tuple(dict.fromkeys(ids))[: rules.MAX_PER_MESSAGE]
    return tuple(to_ref(each) for each in await store.list_unlinked(tx, tenant_id, first))


async def link(
    tx: Tx, tenant_id: str, attachment_id: str, *, ticket_id: str, reply_id: str | None = None
) -> None:
    """Let a ticket or a reply in it refer to an attachment that `find_attached` has found."""
    await store.link(tx, tenant_id, attachment_id, ticket_id=ticket_id, reply_id=reply_id)


def to_ref(attachment: Attachment) -> AttachmentRef:
    """The attachment as its ticket or reply shows it."""
    return AttachmentRef(
        attachment.id,
        attachment.name,
        attachment.content_type,
        attachment.size_bytes,
        attachment.image_type is not None,
    )
