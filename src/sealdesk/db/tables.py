"""Which tables are not one tenant's, and who may do what with them on PostgreSQL."""

# Read before the tenant is known, or about no tenant: without row level security.
GLOBAL = (
    "tenants",
    "user_directory",
    "login_failures",
    "ended_tokens",
    "reset_links",
    "api_key_directory",
)
# The role that serves may read and add everywhere, and no more than that but here.
CHANGED = (
    "users",
    "user_addresses",
    "api_keys",
    "idempotency",
    "customers",
    "ticket_numbers",
    "tickets",
    "endpoints",
    "deliveries",
    "answering",
    "key_usage",
)
DELETED = ("login_failures", "reset_links", "refusals", "ticket_tags", "answering")
# What the worker's role may do, for all tenants.
OF_WORKER = {
    "events": "SELECT, INSERT, UPDATE, DELETE",
    "feed_positions": "SELECT, INSERT, UPDATE",
    "endpoints": "SELECT, UPDATE, DELETE",
    "deliveries": "SELECT, INSERT, UPDATE, DELETE",
    "attempts": "SELECT, INSERT, DELETE",
    "replays": "SELECT, UPDATE, DELETE",
    "answering": "SELECT, DELETE",
    "key_usage": "SELECT, DELETE",
    "tickets": "SELECT",
    "replies": "SELECT",
    "customers": "SELECT",
    "search_documents": "SELECT, INSERT, UPDATE",
    "search_progress": "SELECT, INSERT, UPDATE",
    "customer_documents": "SELECT, INSERT, UPDATE",
    "customer_progress": "SELECT, INSERT, UPDATE",
    "idempotency": "SELECT, DELETE",
    "used_signatures": "SELECT, DELETE",
    "login_failures": "SELECT, DELETE",
    "ended_tokens": "SELECT, DELETE",
    "reset_links": "SELECT, DELETE",
}
# Made again from the others by the worker, so a move leaves them out. On SQLite FTS5 keeps its own
# beside them, which begin with the second.
REMADE = ("search_documents", "search_progress", "customer_documents", "customer_progress")
SQLITE_INDEX = "search_index"
# The one way in which the role that serves searches: row level security would hide the indexes.
SEARCHES = (
    "search_tickets(text, tsquery, integer)",
    "search_customers(text, tsquery, text, integer)",
)
VERSION = "alembic_version"
