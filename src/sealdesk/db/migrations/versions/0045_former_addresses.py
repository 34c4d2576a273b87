"""The directory of mailboxes keeps the addresses of deleted mailboxes for their tenants."""

import sqlalchemy as sa
from alembic import op

from sealdesk.resources.representation import email_identity

revision = "0045"
down_revision = "0044"

_LIST_DELETED = sa.text(
    "SELECT address, tenant_id, id FROM mailboxes WHERE deleted_at IS NOT NULL"
    " ORDER BY deleted_at DESC, id"
)
_KEEP = sa.text(
    "INSERT INTO mailbox_directory (address_identity, tenant_id, mailbox_id, receives)"
    " VALUES (:address, :tenant_id, :id, 'former') ON CONFLICT (address_identity) DO NOTHING"
)


def upgrade() -> None:
    op.create_index(
        "mailbox_directory_tenant", "mailbox_directory", ["tenant_id", "address_identity"]
    )
    connection = op.get_bind()
    for address, tenant_id, mailbox_id in connection.execute(_LIST_DELETED).all():
        values = {"address": email_identity(address), "tenant_id": tenant_id, "id": mailbox_id}
        connection.execute(_KEEP, values)
