"""Tables of e-mail: mailboxes, participants, received and outgoing messages, blocks, forms."""

from sealdesk.db.schema.definitions import (
    ONE_SHARD,
    REFERENCE,
    Column,
    blob,
    flag,
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


def _server(protocol: str) -> tuple[Column, ...]:
    """The columns of a server that a mailbox uses; all NULL if it uses none."""
    return (
        text_(f"{protocol}_host", null=True),
        number(f"{protocol}_port", null=True),
        text_(f"{protocol}_security", null=True),
        text_(f"{protocol}_username", null=True),
        blob(f"sealed_{protocol}_password", null=True),
    )


# receives: imap, smtp or no. *_security: tls, starttls or none. oauth_provider: google, microsoft
# or microsoft_application, whose refresh token or secret is sealed; NULL with passwords.
# acknowledgement: the text that answers a new ticket; NULL for none. problem: JSON, what is wrong
# with the connection and since when. uid_validity, last_uid: of the last message that was taken
# from the IMAP folder. read_at: when the folder was read to its end; before the first time, since
# when its messages are taken. aliases: JSON, other addresses whose mail comes in; NULL for none.
# options: JSON, what is done otherwise than usual; NULL for nothing. unverified: JSON, those of its
# addresses that the directory does not list yet, as they may be another tenant's; NULL for none.
table(
    "mailboxes",
    tenant(),
    id_(key=True),
    *texts("address", "address_identity", "display_name", "signature", "receives"),
    text_("team_id", null=True),
    text_("language", null=True),
    text_("imap_folder", null=True),
    *_server("imap"),
    *_server("smtp"),
    text_("oauth_provider", null=True),
    blob("sealed_refresh_token", null=True),
    text_("acknowledgement", null=True),
    number("per_minute"),
    flag("is_paused"),
    text_("problem", null=True),
    number("uid_validity", null=True),
    number("last_uid", null=True),
    time_("created_at"),
    time_("deleted_at", null=True),
    number("version"),
    time_("read_at", null=True),
    text_("aliases", null=True),
    text_("options", null=True),
    text_("unverified", null=True),
    of_tenant(),
    refers("team_id", "teams"),
    index("mailboxes_address", "tenant_id address_identity", is_unique=True),
    runtime="UPDATE",
    worker="SELECT UPDATE",
)
# Read before the tenant is known: whose mailbox an address is, and which process reads its folder
# until when. An address belongs to one mailbox of the installation. receives: as the mailbox,
# alias, or former for an address that it had and that no other tenant gets. A row of an assigned
# domain has @ and the domain for the address, domain for receives, and no mailbox; that of one in
# which every tenant may have addresses has no tenant either.
table(
    "mailbox_directory",
    id_("address_identity", key=True),
    *texts("tenant_id", "mailbox_id", "receives"),
    text_("leased_by", null=True),
    time_("leased_until", null=True),
    index("mailbox_directory_tenant", "tenant_id address_identity"),
    has_rowid=False,
    place=ONE_SHARD,
    runtime="UPDATE DELETE",
)
# Who gets the public replies of a ticket. token: what a reply address of theirs contains.
table(
    "ticket_participants",
    tenant(),
    id_("ticket_id", key=True),
    id_("address_identity", key=True),
    *texts("address", "token", "mailbox_id"),
    text_("name", null=True),
    time_("created_at"),
    refers("ticket_id", "tickets"),
    refers("mailbox_id", "mailboxes"),
    index("ticket_participants_token", "tenant_id token", is_unique=True),
    runtime="DELETE",
    worker="SELECT DELETE",
)
# The ticket of a Message-ID that was sent or received. message_hash: SHA-256 of it, in hex.
table(
    "ticket_message_ids",
    tenant(),
    id_("message_hash", key=True),
    id_("ticket_id"),
    refers("ticket_id", "tickets"),
    has_rowid=False,
    worker="SELECT INSERT",
)
# message_key: the Message-ID, or the hash of a message without one; each has one effect. outcome:
# ticket, reply, note, held, spam, blocked, bounce or ignored. raw_sha256: of the stored bytes of
# the raw message, until raw_until. envelope: JSON, what a release needs of the envelope; NULL where
# that is nothing.
table(
    "received_messages",
    tenant(),
    id_(key=True),
    *texts("mailbox_id", "message_key", "from_identity", "subject", "raw_sha256", "outcome"),
    text_("reason", null=True),
    number("size_bytes"),
    id_("ticket_id", null=True),
    id_("reply_id", null=True),
    time_("received_at"),
    time_("raw_until", null=True),
    text_("envelope", null=True),
    text_("reason_code", null=True),
    refers("mailbox_id", "mailboxes"),
    refers("ticket_id", "tickets"),
    index("received_messages_key", "tenant_id mailbox_id message_key", is_unique=True),
    index("received_messages_from", "tenant_id from_identity received_at"),
    index("received_messages_outcome", "tenant_id outcome id"),
    index("received_messages_ticket", "tenant_id ticket_id id"),
    index("received_messages_raw", "tenant_id raw_sha256 id"),
    index("received_messages_expired", "raw_until tenant_id id", where="raw_until IS NOT NULL"),
    runtime="UPDATE",
    worker="SELECT UPDATE",
)
# kind: reply, shared (by a participant), acknowledgement, confirmation, rating or report.
# about_id: the reply, the ticket that is acknowledged, the submitted form, an id made of that of
# the ticket to rate, or a saved report and its week. ticket_id: NULL until that form is confirmed,
# and for reports.
# state: queued, sent, bounced or failed. due_at: of the next attempt, NULL after the last.
table(
    "outgoing_messages",
    tenant(),
    id_(key=True),
    text_("mailbox_id"),
    text_("ticket_id", null=True),
    *texts("about_id", "kind", "address", "message_id", "state"),
    text_("reason", null=True),
    number("attempt_count"),
    time_("created_at"),
    time_("due_at", null=True),
    time_("leased_until", null=True),
    time_("finished_at", null=True),
    refers("mailbox_id", "mailboxes"),
    refers("ticket_id", "tickets"),
    index("outgoing_messages_about", "tenant_id about_id address", is_unique=True),
    index("outgoing_messages_message_id", "tenant_id message_id"),
    index("outgoing_messages_due", "mailbox_id due_at tenant_id id", where="due_at IS NOT NULL"),
    runtime="UPDATE",
    worker="SELECT INSERT UPDATE DELETE",
)
# pattern: an address, or @ and a domain, in its normal form.
table(
    "mail_blocks",
    tenant(),
    id_("pattern", key=True),
    *texts("actor_id", "actor_name"),
    time_("created_at"),
    of_tenant(),
    has_rowid=False,
    runtime="DELETE",
)
# The form for customers and their pages of tickets; its name is read before the tenant is known.
# base_url: of links in e-mails. field_keys: JSON, the custom fields that the form has.
table(
    "contact_forms",
    id_("path_name", key=True),
    *texts("tenant_id", "mailbox_id", "base_url", "field_keys"),
    flag("is_on"),
    flag("has_ticket_pages"),
    time_("updated_at"),
    index("contact_forms_tenant", "tenant_id", is_unique=True),
    has_rowid=False,
    place=REFERENCE,
    runtime="UPDATE",
    worker="SELECT",
)
# Whether customers are asked by e-mail for ratings, and when. base_url: of the links.
table(
    "rating_settings",
    tenant(),
    flag("is_on"),
    number("delay_hours"),
    text_("base_url"),
    time_("updated_at"),
    of_tenant(),
    runtime="UPDATE",
    worker="SELECT",
)
# Submitted forms that wait for their confirmation. request: JSON, what was typed.
table(
    "form_submissions",
    tenant(),
    id_(key=True),
    *texts("address", "address_identity", "language", "request"),
    time_("created_at"),
    of_tenant(),
    index("form_submissions_address", "address_identity created_at tenant_id id"),
    index("form_submissions_created_at", "created_at tenant_id id"),
    runtime="DELETE",
    worker="SELECT DELETE",
)
