"""What happens to attachments; each action is one transaction's worth of work."""

from collections.abc import Sequence

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid, must_exist
from sealdesk.tickets.attachments import rules, store
from sealdesk.tickets.attachments.errors import ATTACHMENT_QUOTA_EXCEEDED
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.ticket.types import AttachmentRef

_MIB = 1024 * 1024
_UNBOUNDED = 2**62  # a reply is not refused for a file of its macro
_TOO_MANY = gettext_noop("At most 20 files can be attached.")
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


async def find_attached(
    tx: Tx, tenant_id: str, attachment_ids: Sequence[str], now_us: int
) -> tuple[AttachmentRef, ...]:
    """The attachments that a new ticket or reply names, in its order, as copies where a macro
    keeps them. Raises ValidationFailed."""
    found = await _get_unlinked(tx, tenant_id, attachment_ids)
    return tuple(
        [to_ref(await _copy(tx, each, now_us) if each.macro_id else each) for each in found]
    )


async def keep_for_macro(
    tx: Tx, tenant_id: str, macro_id: str, attachment_ids: Sequence[str]
) -> bool:
    """Let a macro keep these attachments and no others; whether others were kept before.

    Raises ValidationFailed.
    """
    kept = {each.id for each in await store.list_of_macro(tx, tenant_id, macro_id)}
    wanted = await _get_unlinked(tx, tenant_id, attachment_ids)
    if len(wanted) > rules.MAX_PER_MESSAGE:
        raise invalid([Fault("/attachment_ids", "too_many", _TOO_MANY)])
    new = [each.id for each in wanted if each.id not in kept]
    if any(each.macro_id for each in wanted if each.id in new):
        raise invalid([Fault("/attachment_ids", "unknown_attachment", _UNKNOWN)])
    ended = kept.difference(each.id for each in wanted)
    await store.keep(tx, tenant_id, sorted(ended), None)
    await store.keep(tx, tenant_id, new, macro_id)
    return bool(new or ended)


async def list_of_macro(tx: Tx, tenant_id: str, macro_id: str) -> tuple[AttachmentRef, ...]:
    """The attachments that a macro keeps."""
    return tuple(map(to_ref, await store.list_of_macro(tx, tenant_id, macro_id)))


async def _get_unlinked(tx: Tx, tenant_id: str, attachment_ids: Sequence[str]) -> list[Attachment]:
    found = {each.id: each for each in await store.list_unlinked(tx, tenant_id, attachment_ids)}
    unknown = [place for place, each in enumerate(attachment_ids) if each not in found]
    if unknown:
        raise invalid(
            [Fault(f"/attachment_ids/{at}", "unknown_attachment", _UNKNOWN) for at in unknown]
        )
    return [found[each] for each in dict.fromkeys(attachment_ids)]


async def _copy(tx: Tx, kept: Attachment, now_us: int) -> Attachment:
    # Its bytes count once more, so that the quota does not depend on what is deleted first. They
    # are counted last: that also sends the row, which is linked to a message next.
    copy = msgspec.structs.replace(kept, id=ids.mint(now_us), macro_id=None, created_at=now_us)
    await store.add(tx, copy)
    await store.use_bytes(tx, kept.tenant_id, kept.size_bytes, _UNBOUNDED)
    return copy


async def list_unsent(
    tx: Tx, tenant_id: str, attachment_ids: Sequence[str]
) -> tuple[AttachmentRef, ...]:
    """Of these attachments those that can still be sent, for a form that is shown again."""
    first = tuple(dict.fromkeys(attachment_ids))[: rules.MAX_PER_MESSAGE]
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
