"""Tables of attachments: a row for each upload, and how much of its quota a tenant has used."""

from sealdesk.db.schema.definitions import (
    id_,
    index,
    number,
    of_tenant,
    refers,
    table,
    tenant,
    text_,
    texts,
    time_,
)

# ticket_id: of the ticket that refers to it, NULL until one does. reply_id: of the reply in it.
# macro_id: of the macro that keeps it; replies get copies, which share its bytes.
table(
    "attachments",
    tenant(),
    id_(key=True),
    *texts("name", "content_type", "sha256", "uploader_kind"),
    text_("image_type", null=True),
    number("size_bytes"),
    id_("uploader_id"),
    id_("ticket_id", null=True),
    id_("reply_id", null=True),
    time_("created_at"),
    id_("macro_id", null=True),
    of_tenant(),
    refers("ticket_id", "tickets"),
    index("attachments_sha256", "tenant_id sha256 id"),
    index("attachments_macro", "tenant_id macro_id id", where="macro_id IS NOT NULL"),
    index("attachments_unused", "created_at", where="ticket_id IS NULL"),
    runtime="UPDATE",
    worker="SELECT INSERT UPDATE DELETE",
)
table(
    "attachment_usage",
    tenant(),
    number("used_bytes"),
    of_tenant(),
    runtime="UPDATE",
    worker="SELECT INSERT UPDATE",
)
