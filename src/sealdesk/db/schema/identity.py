"""Tables of tenants, users and log-ins."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    Table,
    text,
)

from sealdesk.db.schema.columns import (
    TEXT,
    id_,
    metadata,
    of_tenant,
    refers,
    tenant,
    text_,
    texts,
    time_,
)

# One row for each restore from a backup; see db/epochs.py. restored_to: when the backup was made.
Table(
    "epochs",
    metadata,
    Column("started_at", BigInteger, primary_key=True, autoincrement=False),
    time_("restored_to"),
)
Table("tenants", metadata, id_(key=True), text_("name"), time_("created_at"))
# The tenant of the test keys of another tenant, its live one; a tenant has at most one.
# clock_offset_us: how far its clock is ahead of the real time.
_IS_AHEAD = text("clock_offset_us > 0")
Table(
    "test_tenants",
    metadata,
    tenant(),
    id_("live_id"),
    time_("clock_offset_us"),
    Index("test_tenants_live", "live_id", unique=True),
    # The worker looks there for work that the real time does not yet make due.
    Index("test_tenants_ahead", "tenant_id", sqlite_where=_IS_AHEAD, postgresql_where=_IS_AHEAD),
)

Table(
    "users",
    metadata,
    tenant(),
    id_(key=True),
    *texts("email", "name", "role"),
    text_("password_hash", null=True),
    Column("is_active", Boolean, nullable=False),
    # Only tokens of this version are accepted; a changed password or role increments it.
    Column("token_version", BigInteger, nullable=False),
    time_("created_at"),
    # Of the e-mail address: unique in the tenant, also among the invited.
    Column("email_identity", TEXT, nullable=True),
    of_tenant(),
    Index("users_email", "tenant_id", "email_identity", unique=True),
)
# The addresses with which users log in; who is invited has none here until they accept.
Table(
    "user_directory",
    metadata,
    Column("email_identity", TEXT, primary_key=True),
    id_("tenant_id"),
    id_("user_id"),
)
Table(
    "user_addresses",
    metadata,
    tenant(),
    id_("user_id", key=True),
    # An IPv4 address, or the /64 of an IPv6 address.
    Column("address", TEXT, primary_key=True),
    time_("last_at"),
    refers("user_id", "users"),
)
# recovery_hashes: a JSON list. last_step: the 30-second step of the last accepted code.
Table(
    "second_factors",
    metadata,
    tenant(),
    id_("user_id", key=True),
    Column("sealed_secret", LargeBinary, nullable=False),
    text_("recovery_hashes"),
    Column("last_step", BigInteger, nullable=False),
    time_("created_at"),
    time_("confirmed_at", null=True),
    refers("user_id", "users"),
)
Table(
    "login_failures",
    metadata,
    Column("bucket", TEXT, primary_key=True),
    id_(key=True),
    time_("failed_at"),
    Index("login_failures_failed_at", "failed_at"),
)
Table(
    "ended_tokens",
    metadata,
    id_(key=True),
    time_("expires_at"),
    Index("ended_tokens_expires_at", "expires_at"),
)
Table(
    "reset_links",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    id_("tenant_id"),
    id_("user_id"),
    time_("expires_at"),
    Index("reset_links_expires_at", "expires_at"),
)
