"""Tables by their access rights on PostgreSQL, and the tables that a move skips."""

# Without row level security: read before the tenant is known, or not about a tenant.
GLOBAL = (
    "epochs",
    "tenants",
    "user_directory",
    "login_failures",
    "ended_tokens",
    "reset_links",
    "api_key_directory",
    "log_positions",
    "search_rebuilds",
    "presence_counters",
)
# The runtime role may SELECT and INSERT everywhere, UPDATE and DELETE only here.
RUNTIME_UPDATES = (
    "users",
    "user_addresses",
    "second_factors",
    "api_keys",
    "idempotency",
    "customers",
    "ticket_numbers",
    "tickets",
    "replies",
    "endpoints",
    "deliveries",
    "answering",
    "viewers",
    "presence_counters",
    "reads",
    "notifications",
    "key_usage",
    "views",
    "field_definitions",
    "macros",
    "teams",
    "team_members",
    "attachments",
    "attachment_usage",
)
RUNTIME_DELETES = (
    "user_directory",
    "login_failures",
    "reset_links",
    "refusals",
    "ticket_tags",
    "ticket_followers",
    "replies",
    "ticket_merges",
    "answering",
    "viewers",
    "reads",
    "notifications",
    "second_factors",
    "views",
    "macros",
    "team_members",
)
# The rights of the worker's role, for the rows of all tenants.
WORKER_GRANTS = {
    "events": "SELECT, INSERT, DELETE",
    "event_outbox": "SELECT, INSERT, DELETE",
    "feed_positions": "SELECT, INSERT, UPDATE",
    "log_positions": "SELECT, INSERT, UPDATE",
    "fan_out_backlogs": "SELECT, INSERT, UPDATE, DELETE",
    "endpoints": "SELECT, UPDATE, DELETE",
    "deliveries": "SELECT, INSERT, UPDATE, DELETE",
    "attempts": "SELECT, INSERT, DELETE",
    "replays": "SELECT, UPDATE, DELETE",
    "answering": "SELECT, DELETE",
    "viewers": "SELECT, DELETE",
    "ticket_merges": "SELECT, DELETE",
    "tag_renamings": "SELECT, UPDATE, DELETE",
    "ticket_tags": "SELECT, INSERT, DELETE",
    "views": "SELECT, UPDATE",
    "key_usage": "SELECT, DELETE",
    "attachments": "SELECT, DELETE",
    "attachment_usage": "SELECT, UPDATE",
    "tickets": "SELECT, UPDATE",
    "ticket_changes": "SELECT, INSERT",
    "notifications": "SELECT, INSERT, DELETE",
    "replies": "SELECT",
    "customers": "SELECT",
    "search_documents": "SELECT, INSERT, UPDATE",
    "customer_documents": "SELECT, INSERT, UPDATE",
    "search_rebuilds": "SELECT, INSERT, UPDATE",
    "idempotency": "SELECT, DELETE",
    "used_signatures": "SELECT, DELETE",
    "login_failures": "SELECT, DELETE",
    "ended_tokens": "SELECT, DELETE",
    "reset_links": "SELECT, DELETE",
}
# The worker rebuilds these from other tables, so a move skips them. It also skips the stamp of
# keys, and on SQLite what begins with one of SQLITE_PREFIXES: the tables of FTS5, triggers.
REBUILT = ("search_documents", "customer_documents", "search_rebuilds")
KEY_STAMP = "key_stamp"
SQLITE_PREFIXES = ("search_index", KEY_STAMP)
# The runtime role searches through these functions: row level security would disable the indexes.
SEARCH_FUNCTIONS = (
    "search_tickets(text, tsquery, integer)",
    "search_customers(text, tsquery, text, integer)",
)
VERSION_TABLE = "alembic_version"
