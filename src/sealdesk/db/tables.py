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
)
DELETED = ("login_failures", "reset_links", "refusals", "ticket_tags")
# The worker's role reads and deletes these for all tenants.
OF_WORKER = (
    "events",
    "idempotency",
    "used_signatures",
    "login_failures",
    "ended_tokens",
    "reset_links",
)
VERSION = "alembic_version"
