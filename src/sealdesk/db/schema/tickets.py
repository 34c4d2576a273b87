"""Tables of customers, tickets and replies."""

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, SmallInteger, Table, text

from sealdesk.db.schema.columns import (
    TEXT,
    id_,
    index_by_change,
    index_of_assignee,
    index_of_snoozed,
    index_of_team,
    index_of_unfinished,
    index_where_set,
    metadata,
    of_tenant,
    refers,
    tenant,
    text_,
    texts,
    time_,
)

Table(
    "customers",
    metadata,
    tenant(),
    id_(key=True),
    *texts("email", "email_identity"),
    *texts("name", "phone", "company", "external_id", null=True),
    text_("metadata"),
    # JSON {id, email, name}: how a ticket shows its customer.
    Column("reference", LargeBinary, nullable=False),
    time_("created_at"),
    time_("updated_at"),
    Column("version", BigInteger, nullable=False),
    of_tenant(),
    Index("customers_email", "tenant_id", "email_identity", unique=True),
    index_where_set("customers_external_id", "external_id"),
    Index("customers_updated_at", "tenant_id", "updated_at", "id"),
)

Table(
    "ticket_numbers",
    metadata,
    tenant(),
    Column("last_number", BigInteger, nullable=False),
    of_tenant(),
)
Table(
    "tickets",
    metadata,
    tenant(),
    id_(key=True),
    Column("number", BigInteger, nullable=False),
    *texts("subject", "description", "status"),
    Column("priority", SmallInteger, nullable=False),  # rank: low 1 … urgent 4
    text_("source"),
    id_("customer_id"),
    id_("assignee_id", null=True),
    id_("team_id", null=True),
    text_("tags"),
    text_("custom_fields"),
    text_("external_id", null=True),
    Column("reply_count", BigInteger, nullable=False),
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
    Column("follower_count", BigInteger, nullable=False, server_default="0"),
    Column("version", BigInteger, nullable=False),
    text_("attachments", null=True),  # JSON, NULL without any
    # The ready JSON of the columns above, without the customer; see decision 0004.
    Column("document", LargeBinary, nullable=False),
    refers("customer_id", "customers"),
    refers("assignee_id", "users"),
    Index("tickets_number", "tenant_id", "number", unique=True),
    Index("tickets_status", "tenant_id", "status", "id"),
    Index("tickets_priority", "tenant_id", "priority", "id"),
    Index("tickets_customer", "tenant_id", "customer_id", "id"),
    Index("tickets_status_updated_at", "tenant_id", "status", "updated_at", "id"),
    index_by_change("tickets_unassigned", "assignee_id IS NULL"),
    index_by_change("tickets_urgent", "priority = 4"),
    index_where_set("tickets_waiting_since", "waiting_since"),
    index_where_set("tickets_status_assignee", "assignee_id", ("status",)),
    index_of_assignee("tickets_assignee_updated_at"),
    index_where_set("tickets_external_id", "external_id"),
    index_of_team("tickets_team"),
    index_of_team("tickets_team_updated_at", "status", "updated_at"),
    index_of_team("tickets_team_unassigned", "status", where=" AND assignee_id IS NULL"),
    index_of_snoozed("tickets_snoozed", "tenant_id", "snoozed_until", "status", "id"),
    index_of_snoozed("tickets_due", "snoozed_until", "tenant_id", "id"),
)
Table(
    "ticket_tags",
    metadata,
    tenant(),
    Column("tag", TEXT, primary_key=True),
    id_("ticket_id", key=True),
    refers("ticket_id", "tickets"),
    sqlite_with_rowid=False,
)
# Who is notified of what happens to a ticket; each ticket has their number.
Table(
    "ticket_followers",
    metadata,
    tenant(),
    id_("user_id", key=True),
    id_("ticket_id", key=True),
    refers("user_id", "users"),
    refers("ticket_id", "tickets"),
    Index("ticket_followers_ticket", "tenant_id", "ticket_id", "user_id"),
    sqlite_with_rowid=False,
)
Table(
    "replies",
    metadata,
    tenant(),
    id_("ticket_id", key=True),
    id_(key=True),
    text_("body"),
    Column("is_internal", Boolean, nullable=False),
    text_("author_type"),
    id_("author_id"),
    text_("author_name", null=True),
    time_("created_at"),
    text_("attachments", null=True),  # JSON, NULL without any
    # Of its e-mails together: queued, sent, bounced or failed, and why; NULL if it was not mailed.
    *texts("delivery", "delivery_reason", null=True),
    time_("delivery_at", null=True),
    refers("ticket_id", "tickets"),
    Index("replies_is_internal", "tenant_id", "ticket_id", "is_internal", "id"),
)
# A tag that gets another name on all tickets, by the worker in steps. total: of its tickets at the
# beginning. view_id: up to which the views have it too. Finished ones are deleted after a week.
Table(
    "tag_renamings",
    metadata,
    tenant(),
    id_(key=True),
    *texts("tag", "new_tag", "actor_id", "actor_name", "view_id"),
    Column("total", BigInteger, nullable=False),
    Column("changed_count", BigInteger, nullable=False),
    time_("created_at"),
    time_("stepped_at"),
    time_("finished_at", null=True),
    of_tenant(),
    index_of_unfinished("tag_renamings_unfinished", "stepped_at"),
)
# What undoing a merge needs; rows are deleted a day after it.
Table(
    "ticket_merges",
    metadata,
    tenant(),
    id_("source_id", key=True),
    id_("target_id"),
    # reply_ids: JSON, of the replies that moved.
    *texts("source_status", "opening_reply_id", "reply_ids"),
    time_("merged_at"),
    refers("source_id", "tickets"),
)
# The erasure of a customer, by the worker in steps. texts: JSON, by which rows that name the person
# are found; empty once it is finished. cursor: the last row of its stage.
Table(
    "erasures",
    metadata,
    tenant(),
    id_("customer_id", key=True),
    *texts("actor_kind", "actor_id", "actor_name", "texts", "stage", "cursor"),
    Column("ticket_count", BigInteger, nullable=False),
    Column("erased_ticket_count", BigInteger, nullable=False),
    time_("created_at"),
    time_("stepped_at"),
    time_("finished_at", null=True),
    of_tenant(),
    Index(
        "erasures_unfinished",
        "stepped_at",
        "tenant_id",
        "customer_id",
        sqlite_where=text("finished_at IS NULL"),
        postgresql_where=text("finished_at IS NULL"),
    ),
)
