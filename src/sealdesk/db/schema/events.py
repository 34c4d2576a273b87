"""The outbox, its endpoints and deliveries, and the audit."""

from sqlalchemy import Column, LargeBinary, Table

from sealdesk.db.schema.columns import id_, metadata, tenant, text_, texts, time_

Table(
    "events",
    metadata,
    tenant(),
    id_(key=True),
    text_("type"),
    Column("object", LargeBinary, nullable=False),
    text_("changes"),
    time_("created_at"),
)
Table(
    "audit",
    metadata,
    tenant(),
    id_(key=True),
    *texts("action", "actor_kind"),
    id_("actor_id"),
    *texts("actor_name", "address"),
    id_("object_id", null=True),
    text_("details"),
    time_("created_at"),
)
