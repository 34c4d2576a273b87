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
)
DELETED = ("login_failures", "reset_links", "refusals", "ticket_tags")
# What the worker's role may do, for all tenants.
OF_WORKER = {
    "events": "SELECT, INSERT, UPDATE, DELETE",
    "feed_positions": "SELECT, INSERT, UPDATE",
    "endpoints": "SELECT, UPDATE, DELETE",
    "deliveries": "SELECT, INSERT, UPDATE, DELETE",
    "attempts": "SELECT, INSERT, DELETE",
    "replays": "SELECT, UPDATE, DELETE",
    "idempotency": "SELECT, DELETE",
    "used_signatures": "SELECT, DELETE",
    "login_failures": "SELECT, DELETE",
    "ended_tokens": "SELECT, DELETE",
    "reset_links": "SELECT, DELETE",
}
VERSION = "alembic_version"
