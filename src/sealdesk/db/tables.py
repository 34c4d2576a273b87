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
# The role that serves may add to them, and change nothing.
APPEND_ONLY = ("audit",)
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
