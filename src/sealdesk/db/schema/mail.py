"""Tables of e-mail: mailboxes, participants, received and outgoing messages, blocks, forms."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, Table, text

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


def _server(protocol: str) -> tuple[Column[Any], ...]:
    """The columns of a server that a mailbox uses; all NULL if it uses none."""
    return (
        text_(f"{protocol}_host", null=True),
        Column(f"{protocol}_port", BigInteger, nullable=True),
        text_(f"{protocol}_security", null=True),
        text_(f"{protocol}_username", null=True),
        Column(f"sealed_{protocol}_password", LargeBinary, nullable=True),
    )


# receives: imap, smtp or no. *_security: tls, starttls or none. acknowledgement: the text that
# answers a new ticket; NULL for none. problem: JSON, what is wrong with the connection and since
# when. uid_validity, last_uid: of the last message that was taken from the IMAP folder. read_at:
# when the folder was read to its end; before the first time, since when its messages are taken.
Table(
    "mailboxes",
    metadata,
    tenant(),
    id_(key=True),
    *texts("address", "address_identity", "display_name", "signature", "receives"),
    text_("team_id", null=True),
    text_("language", null=True),
    text_("imap_folder", null=True),
    *_server("imap"),
    *_server("smtp"),
    text_("acknowledgement", null=True),
    Column("per_minute", BigInteger, nullable=False),
    Column("is_paused", Boolean, nullable=False),
    text_("problem", null=True),
    Column("uid_validity", BigInteger, nullable=True),
    Column("last_uid", BigInteger, nullable=True),
    time_("created_at"),
    time_("deleted_at", null=True),
    Column("version", BigInteger, nullable=False),
    time_("read_at", null=True),
    of_tenant(),
    refers("team_id", "teams"),
    Index("mailboxes_address", "tenant_id", "address_identity", unique=True),
)
# Read before the tenant is known: whose mailbox an address is, and which process reads its folder
# until when. An address belongs to one mailbox of the installation.
Table(
    "mailbox_directory",
    metadata,
    id_("address_identity", key=True),
    *texts("tenant_id", "mailbox_id", "receives"),
    text_("leased_by", null=True),
    time_("leased_until", null=True),
    sqlite_with_rowid=False,
)
# Who gets the public replies of a ticket. token: what a reply address of theirs contains.
Table(
    "ticket_participants",
    metadata,
    tenant(),
    id_("ticket_id", key=True),
    id_("address_identity", key=True),
    *texts("address", "token", "mailbox_id"),
    text_("name", null=True),
    time_("created_at"),
    refers("ticket_id", "tickets"),
    refers("mailbox_id", "mailboxes"),
    Index("ticket_participants_token", "tenant_id", "token", unique=True),
)
# The ticket of a Message-ID that was sent or received. message_hash: SHA-256 of it, in hex.
Table(
    "ticket_message_ids",
    metadata,
    tenant(),
    id_("message_hash", key=True),
    id_("ticket_id"),
    refers("ticket_id", "tickets"),
    sqlite_with_rowid=False,
)
# message_key: the Message-ID, or the hash of a message without one; each has one effect. outcome:
# ticket, reply, note, held, spam, blocked, bounce or ignored. raw_sha256: of the stored bytes of
# the raw message, until raw_until. envelope: JSON, what a release needs of the envelope; NULL where
# that is nothing.
Table(
    "received_messages",
    metadata,
    tenant(),
    id_(key=True),
    *texts("mailbox_id", "message_key", "from_identity", "subject", "raw_sha256", "outcome"),
    text_("reason", null=True),
    Column("size_bytes", BigInteger, nullable=False),
    id_("ticket_id", null=True),
    id_("reply_id", null=True),
    time_("received_at"),
    time_("raw_until", null=True),
    text_("envelope", null=True),
    refers("mailbox_id", "mailboxes"),
    refers("ticket_id", "tickets"),
    Index("received_messages_key", "tenant_id", "mailbox_id", "message_key", unique=True),
    Index("received_messages_from", "tenant_id", "from_identity", "received_at"),
    Index("received_messages_outcome", "tenant_id", "outcome", "id"),
    Index("received_messages_ticket", "tenant_id", "ticket_id", "id"),
    Index("received_messages_raw", "tenant_id", "raw_sha256", "id"),
    Index(
        "received_messages_expired",
        "raw_until",
        "tenant_id",
        "id",
        sqlite_where=text("raw_until IS NOT NULL"),
        postgresql_where=text("raw_until IS NOT NULL"),
    ),
)
# kind: reply, acknowledgement or confirmation. about_id: the reply, the ticket that is acknowledged
# or the submitted form. ticket_id: NULL until that form is confirmed. state: queued, sent, bounced
# or failed. due_at: of the next attempt, NULL after the last.
Table(
    "outgoing_messages",
    metadata,
    tenant(),
    id_(key=True),
    text_("mailbox_id"),
    text_("ticket_id", null=True),
    *texts("about_id", "kind", "address", "message_id", "state"),
    text_("reason", null=True),
    Column("attempt_count", BigInteger, nullable=False),
    time_("created_at"),
    time_("due_at", null=True),
    time_("leased_until", null=True),
    time_("finished_at", null=True),
    refers("mailbox_id", "mailboxes"),
    refers("ticket_id", "tickets"),
    Index("outgoing_messages_about", "tenant_id", "about_id", "address", unique=True),
    Index("outgoing_messages_message_id", "tenant_id", "message_id"),
    Index(
        "outgoing_messages_due",
        "mailbox_id",
        "due_at",
        "tenant_id",
        "id",
        sqlite_where=text("due_at IS NOT NULL"),
        postgresql_where=text("due_at IS NOT NULL"),
    ),
)
# pattern: an address, or @ and a domain, in its normal form.
Table(
    "mail_blocks",
    metadata,
    tenant(),
    id_("pattern", key=True),
    *texts("actor_id", "actor_name"),
    time_("created_at"),
    of_tenant(),
    sqlite_with_rowid=False,
)
# The form for customers and their pages of tickets; its name is read before the tenant is known.
# base_url: of links in e-mails. field_keys: JSON, the custom fields that the form has.
Table(
    "contact_forms",
    metadata,
    id_("path_name", key=True),
    *texts("tenant_id", "mailbox_id", "base_url", "field_keys"),
    Column("is_on", Boolean, nullable=False),
    Column("has_ticket_pages", Boolean, nullable=False),
    time_("updated_at"),
    Index("contact_forms_tenant", "tenant_id", unique=True),
    sqlite_with_rowid=False,
)
# Submitted forms that wait for their confirmation. request: JSON, what was typed.
Table(
    "form_submissions",
    metadata,
    tenant(),
    id_(key=True),
    *texts("address", "address_identity", "language", "request"),
    time_("created_at"),
    of_tenant(),
    Index("form_submissions_address", "tenant_id", "address_identity", "created_at"),
    Index("form_submissions_created_at", "created_at", "tenant_id", "id"),
)
