"""Tables of reports: what is counted of each ticket, and the sums of each hour."""

from sealdesk.db.schema.definitions import (
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

# counted: JSON, what the sums have of the ticket. Tickets that were merged into others have no row.
# reopened_at: the last time.
table(
    "ticket_measures",
    tenant(),
    id_("ticket_id", key=True),
    time_("created_at"),
    time_("answered_at", null=True),
    time_("resolved_at", null=True),
    text_("counted"),
    time_("reopened_at", null=True),
    time_("rated_at", null=True),
    refers("ticket_id", "tickets"),
    index("ticket_measures_created_at", "tenant_id created_at ticket_id"),
    index(
        "ticket_measures_answered_at",
        "tenant_id answered_at ticket_id",
        where="answered_at IS NOT NULL",
    ),
    index(
        "ticket_measures_resolved_at",
        "tenant_id resolved_at ticket_id",
        where="resolved_at IS NOT NULL",
    ),
    index(
        "ticket_measures_reopened_at",
        "tenant_id reopened_at ticket_id",
        where="reopened_at IS NOT NULL",
    ),
    index("ticket_measures_rated_at", "tenant_id rated_at ticket_id", where="rated_at IS NOT NULL"),
    has_rowid=False,
    worker="SELECT INSERT UPDATE DELETE",
)
# start: in hours since 1970, in UTC; length: how many hours from then. sums: JSON, key → count.
table(
    "report_sums",
    tenant(),
    text_("dimension", key=True),
    number("length", key=True),
    number("start", key=True),
    text_("value", key=True),
    text_("sums"),
    of_tenant(),
    has_rowid=False,
    worker="SELECT INSERT UPDATE DELETE",
)
# Desks whose tickets are counted anew, by the worker in steps. ticket_id: up to which they are.
table(
    "report_rebuilds",
    tenant(),
    flag("is_clearing"),
    id_("ticket_id"),
    time_("stepped_at"),
    of_tenant(),
    index("report_rebuilds_stepped_at", "stepped_at tenant_id"),
    worker="SELECT INSERT UPDATE DELETE",
)
# Reports that a user gets by e-mail each Monday. query: of the page of the report. due_at: of the
# next one. base_url: what its links begin with.
table(
    "saved_reports",
    tenant(),
    id_(key=True),
    id_("user_id"),
    *texts("query", "language", "base_url"),
    time_("created_at"),
    time_("due_at"),
    refers("user_id", "users"),
    index("saved_reports_user", "tenant_id user_id id"),
    index("saved_reports_due_at", "due_at tenant_id id"),
    runtime="DELETE",
    worker="SELECT UPDATE",
)
