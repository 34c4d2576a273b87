"""Attaches the files of received messages; part of a transaction."""

from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.mail.receiving.types import File, Incoming
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.attachments.types import Attachment


class Attached(NamedTuple):
    """The ids of the attachments of a message, and the names of the files without room."""

    ids: list[str]
    left_out: tuple[str, ...]


async def attach(tx: Tx, incoming: Incoming, actor: Actor, now_us: int) -> Attached:
    """Attach the files of a message, as far as there is room."""
    added, left_out = [], list(incoming.left_out)
    for file in incoming.files:
        attachment = attachment_of(incoming.mailbox.tenant_id, file, actor, now_us)
        try:
            await attachments.add(tx, attachment, quota_bytes=incoming.quota_bytes)
        except Conflict:
            left_out.append(file.name)
        else:
            added.append(attachment.id)
    return Attached(added, tuple(left_out))


def attachment_of(tenant_id: str, file: File, actor: Actor, now_us: int) -> Attachment:
    """A file of a message as an attachment that belongs to no ticket yet."""
    return Attachment(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        **file._asdict(),
        uploader_kind=actor.kind,
        uploader_id=actor.id,
        ticket_id=None,
        reply_id=None,
        created_at=now_us,
    )
