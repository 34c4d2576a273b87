"""Tables of customers, tickets and replies."""

from sealdesk.db.schema.definitions import (
    DAY_US,
    Expiry,
    blob,
    flag,
    id_,
    identity_of,
    index,
    number,
    of_tenant,
    refers,
    small,
    table,
    tenant,
    text_,
    texts,
    time_,
)

table(
    "customers",
    tenant(),
    id_(key=True),
    text_("email"),
    identity_of("email"),
    *texts("name", "phone", "company", "external_id", null=True),
    text_("metadata"),
    *texts("other_emails", "other_phones", null=True),  # JSON, NULL without any
    # JSON {id, email, name}: how a ticket shows its customer.
    blob("reference"),
    time_("created_at"),
    time_("updated_at"),
    number("version"),
    of_tenant(),
    index("customers_email", "tenant_id email_identity"),
    index("customers_external_id", "tenant_id external_id id", where="external_id IS NOT NULL"),
    index("customers_updated_at", "tenant_id updated_at id"),
    runtime="UPDATE DELETE",
    worker="SELECT UPDATE",
)

# All e-mail addresses of the customers: each is one customer's.
table(
    "customer_addresses",
    tenant(),
    text_("email_identity", key=True),
    id_("customer_id"),
    refers("customer_id", "customers"),
    index("customer_addresses_customer", "tenant_id customer_id email_identity"),
    has_rowid=False,
    runtime="DELETE",
    worker="SELECT INSERT DELETE",
)
# Customers that were merged into others, and what undoing it needs for a day. customer: JSON, as
# they were. gained: JSON, what the other one got of them. ticket_ids: JSON, of those that moved.
table(
    "customer_merges",
    tenant(),
    id_("source_id", key=True),
    id_("target_id"),
    *texts("customer", "gained", "ticket_ids"),
    text_("external_id", null=True),
    time_("merged_at"),
    of_tenant(),
    index("customer_merges_target", "tenant_id target_id source_id"),
    index(
        "customer_merges_external_id",
        "tenant_id external_id source_id",
        where="external_id IS NOT NULL",
    ),
    runtime="UPDATE DELETE",
    worker="SELECT",
)
table("ticket_numbers", tenant(), number("last_number"), of_tenant(), runtime="UPDATE")
table(
    "tickets",
    tenant(),
    id_(key=True),
    number("number"),
    *texts("subject", "description", "status"),
    small("priority"),  # rank: low 1 … urgent 4
    text_("source"),
    id_("customer_id"),
    id_("assignee_id", null=True),
    id_("team_id", null=True),
    text_("tags"),
    text_("custom_fields"),
    text_("external_id", null=True),
    number("reply_count"),
    text_("last_reply_by", null=True),
    id_("merged_into_id", null=True),
    # A time as the API shows it, or "next_reply", which sorts behind every time.
    text_("snoozed_until", null=True),
    time_("created_at"),
    time_("updated_at"),
    time_("first_response_at", null=True),
    time_("resolved_at", null=True),
    time_("closed_at", null=True),
    time_("last_customer_reply_at", null=True),
    time_("waiting_since", null=True),
    time_("last_message_at", null=True),
    text_("snippet", null=True),
    number("follower_count", default="0"),
    number("version"),
    text_("attachments", null=True),  # JSON, NULL without any
    # The customer's rating from 1 to 5, and JSON with their comment and the time.
    small("rating", null=True),
    text_("satisfaction", null=True),
    # Of an SLA policy: JSON, what is due first, and when the worker announces what is over.
    text_("clocks", null=True),
    time_("due_at", null=True),
    time_("alert_at", null=True),
    id_("key_id", null=True),  # of the API key that created it
    # The ready JSON of the columns above, without the customer; see decision 0004.
    blob("document"),
    refers("customer_id", "customers"),
    refers("assignee_id", "users"),
    index("tickets_number", "tenant_id number", is_unique=True),
    index("tickets_status", "tenant_id status id"),
    index("tickets_priority", "tenant_id priority id"),
    index("tickets_customer", "tenant_id customer_id id"),
    index("tickets_status_updated_at", "tenant_id status updated_at id"),
    index("tickets_unassigned", "tenant_id status updated_at id", where="assignee_id IS NULL"),
    index("tickets_urgent", "tenant_id status updated_at id", where="priority = 4"),
    index("tickets_waiting_since", "tenant_id waiting_since id", where="waiting_since IS NOT NULL"),
    index(
        "tickets_status_assignee",
        "tenant_id status assignee_id id",
        where="assignee_id IS NOT NULL",
    ),
    index(
        "tickets_assignee_updated_at",
        "tenant_id assignee_id status updated_at id",
        where="assignee_id IS NOT NULL",
    ),
    index("tickets_external_id", "tenant_id external_id id", where="external_id IS NOT NULL"),
    index("tickets_rating", "tenant_id rating id", where="rating IS NOT NULL"),
    index("tickets_team", "tenant_id team_id id", where="team_id IS NOT NULL"),
    index(
        "tickets_team_updated_at",
        "tenant_id team_id status updated_at id",
        where="team_id IS NOT NULL",
    ),
    index(
        "tickets_team_unassigned",
        "tenant_id team_id status id",
        where="team_id IS NOT NULL AND assignee_id IS NULL",
    ),
    index(
        "tickets_snoozed", "tenant_id snoozed_until status id", where="snoozed_until IS NOT NULL"
    ),
    index("tickets_due", "snoozed_until tenant_id id", where="snoozed_until IS NOT NULL"),
    index("tickets_due_at", "tenant_id due_at id", where="due_at IS NOT NULL"),
    index("tickets_alert_at", "alert_at tenant_id id", where="alert_at IS NOT NULL"),
    runtime="UPDATE",
    worker="SELECT UPDATE",
)
table(
    "ticket_tags",
    tenant(),
    text_("tag", key=True),
    id_("ticket_id", key=True),
    refers("ticket_id", "tickets"),
    has_rowid=False,
    runtime="DELETE",
    worker="SELECT INSERT DELETE",
)
# Who is notified of what happens to a ticket; each ticket has their number.
table(
    "ticket_followers",
    tenant(),
    id_("user_id", key=True),
    id_("ticket_id", key=True),
    refers("user_id", "users"),
    refers("ticket_id", "tickets"),
    index("ticket_followers_ticket", "tenant_id ticket_id user_id"),
    has_rowid=False,
    runtime="DELETE",
    worker="SELECT INSERT",
)
table(
    "replies",
    tenant(),
    id_("ticket_id", key=True),
    id_(key=True),
    text_("body"),
    flag("is_internal"),
    text_("author_type"),
    id_("author_id"),
    text_("author_name", null=True),
    time_("created_at"),
    text_("attachments", null=True),  # JSON, NULL without any
    # Of its e-mails together: queued, sent, bounced or failed, and why; NULL if it was not mailed.
    *texts("delivery", "delivery_reason", null=True),
    time_("delivery_at", null=True),
    refers("ticket_id", "tickets"),
    index("replies_is_internal", "tenant_id ticket_id is_internal id"),
    runtime="UPDATE DELETE",
    worker="SELECT INSERT UPDATE",
)
# A tag that gets another name on all tickets, by the worker in steps. total: of its tickets at the
# beginning. ticket_id: up to which the tickets have it, where it is another spelling only. view_id:
# up to which the views have it. Finished ones are deleted after a week.
table(
    "tag_renamings",
    tenant(),
    id_(key=True),
    *texts("tag", "new_tag", "actor_id", "actor_name", "view_id"),
    id_("ticket_id", null=True),
    number("total"),
    number("changed_count"),
    time_("created_at"),
    time_("stepped_at"),
    time_("finished_at", null=True),
    of_tenant(),
    index("tag_renamings_unfinished", "stepped_at id", where="finished_at IS NULL"),
    worker="SELECT UPDATE DELETE",
    expiry=Expiry("finished_at", 7 * DAY_US),
)
# What undoing a merge needs; rows are deleted a day after it.
table(
    "ticket_merges",
    tenant(),
    id_("source_id", key=True),
    id_("target_id"),
    # reply_ids: JSON, of the replies that moved.
    *texts("source_status", "opening_reply_id", "reply_ids"),
    time_("merged_at"),
    refers("source_id", "tickets"),
    runtime="DELETE",
    worker="SELECT DELETE",
    expiry=Expiry("merged_at", DAY_US),
)
# How a ticket relates to another one; each link is two rows, one from each side.
table(
    "ticket_links",
    tenant(),
    id_("ticket_id", key=True),
    id_("other_id", key=True),
    text_("relation"),
    time_("created_at"),
    refers("ticket_id", "tickets"),
    refers("other_id", "tickets"),
    has_rowid=False,
    runtime="DELETE",
    worker="SELECT DELETE",
)
# The erasure of a customer, by the worker in steps. texts: JSON, by which rows that name the person
# are found; empty once it is finished. cursor: the last row of its stage.
table(
    "erasures",
    tenant(),
    id_("customer_id", key=True),
    *texts("actor_kind", "actor_id", "actor_name", "texts", "stage", "cursor"),
    number("ticket_count"),
    number("erased_ticket_count"),
    time_("created_at"),
    time_("stepped_at"),
    time_("finished_at", null=True),
    of_tenant(),
    index("erasures_unfinished", "stepped_at tenant_id customer_id", where="finished_at IS NULL"),
    runtime="UPDATE",
    worker="SELECT UPDATE",
)
