"""The SQL of reading folders: positions, and messages that were taken before."""

from collections.abc import Sequence

from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.reading.types import Known, Position

# Of the settings with which the folder was read: others may be of another folder.
_SET_POSITION = """
UPDATE mailboxes SET uid_validity = :uid_validity, last_uid = :last_uid, read_at = :read_at
WHERE tenant_id = :tenant_id AND id = :id AND version = :version AND deleted_at IS NULL
"""
_FIND_KNOWN = """
SELECT message_key, subject FROM received_messages
WHERE tenant_id = :tenant_id AND mailbox_id = :mailbox_id AND message_key = :message_key
LIMIT :limit
"""


async def set_position(tx: Tx, mailbox: Mailbox, position: Position) -> bool:
    """Store how far the folder has been read; False if the settings have changed since."""
    params = {"tenant_id": mailbox.tenant_id, "id": mailbox.id, "version": mailbox.version}
    return await tx.execute(_SET_POSITION, params | position._asdict()) == 1


async def find_known(tx: Tx, mailbox: Mailbox, keys: Sequence[str]) -> set[Known]:
    """Messages of the mailbox with these keys that were taken."""
    params = {"tenant_id": mailbox.tenant_id, "mailbox_id": mailbox.id, "limit": 1}
    found = await tx.fetch_for_each(_FIND_KNOWN, [{**params, "message_key": each} for each in keys])
    names = Known._fields
    return {Known(*(row[name] for name in names)) for rows in found for row in rows}
