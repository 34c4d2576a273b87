"""Tables of API keys and of signed requests."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, SmallInteger, Table

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

Table(
    "api_keys",
    metadata,
    tenant(),
    id_(key=True),
    *texts("name", "key_prefix", "permissions"),
    Column("rate_limit", BigInteger, nullable=False),
    text_("allowed_ips", null=True),
    text_("replay_protection"),
    time_("expires_at", null=True),
    time_("revoked_at", null=True),
    time_("last_used_at", null=True),
    Column("sealed_secret", LargeBinary, nullable=True),
    Column("secret_version", BigInteger, nullable=False),
    time_("created_at"),
    # Of a key that was restored from a backup: it is refused until an administrator confirms it.
    time_("unconfirmed_since", null=True),
    of_tenant(),
    sqlite_with_rowid=False,
)
Table(
    "api_key_directory",
    metadata,
    Column("key_hash", LargeBinary, primary_key=True),
    id_("tenant_id"),
    id_("key_id"),
    sqlite_with_rowid=False,
)
Table(
    "used_signatures",
    metadata,
    tenant(),
    id_("key_id", key=True),
    Column("signature", TEXT, primary_key=True),
    time_("expires_at"),
    refers("key_id", "api_keys"),
    Index("used_signatures_expires_at", "expires_at"),
)
Table(
    "refusals",
    metadata,
    tenant(),
    id_("key_id", key=True),
    id_(key=True),
    text_("code"),
    text_("diagnosis", null=True),
    *texts("method", "target", "timestamp"),
    text_("body_sha256", null=True),
    Column("body_bytes", BigInteger, nullable=True),
    time_("refused_at"),
    refers("key_id", "api_keys"),
)
Table(
    "idempotency",
    metadata,
    tenant(),
    id_("key_id", key=True),
    Column("scope", TEXT, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    text_("headers"),
    time_("stored_at"),
    Index("idempotency_stored_at", "stored_at"),
)
