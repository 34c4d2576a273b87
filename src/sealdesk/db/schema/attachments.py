"""Tables of attachments: a row for each upload, and how much of its quota a tenant has used."""

from sqlalchemy import BigInteger, Column, Index, Table, text

from sealdesk.db.schema.columns import (
    id_,
    metadata,
    of_tenant,
    refers,
    tenant,
    text_,
    texts,
    time_,
)

# ticket_id: of the ticket that refers to it, NULL until one does. reply_id: of the reply in it.
Table(
    "attachments",
    metadata,
    tenant(),
    id_(key=True),
    *texts("name", "content_type", "sha256", "uploader_kind"),
    text_("image_type", null=True),
    Column("size_bytes", BigInteger, nullable=False),
    id_("uploader_id"),
    id_("ticket_id", null=True),
    id_("reply_id", null=True),
    time_("created_at"),
    of_tenant(),
    refers("ticket_id", "tickets"),
    Index("attachments_sha256", "tenant_id", "sha256", "id"),
    Index(
        "attachments_unused",
        "created_at",
        sqlite_where=text("ticket_id IS NULL"),
        postgresql_where=text("ticket_id IS NULL"),
    ),
)
Table(
    "attachment_usage",
    metadata,
    tenant(),
    Column("used_bytes", BigInteger, nullable=False),
    of_tenant(),
)
