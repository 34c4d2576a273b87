"""The tables. Every tenant's table has a primary key, unique indexes and foreign keys that begin
with `tenant_id`; what must be found before the tenant is known stands in tables.GLOBAL.

Only migrations and their drift check import this; the service itself runs SQL text.
Times are integer microseconds since the epoch, ids canonical text, JSON is text; JSON that goes
out as it is stands ready in bytes, which spares decoding and encoding it. With `sqlite_with_rowid`
off, SQLite keeps the rows in the primary key itself: one descent fewer for small rows. Not where a
list has further indexes (customers): SQLite would then walk the primary key instead of them.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)

metadata = MetaData()

# PostgreSQL would otherwise sort by the rules of a language, and ids and cursors by no rule at all.
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _id(name: str = "id", *, key: bool = False, null: bool = False) -> Column[str]:
    return Column(name, _TEXT, primary_key=key, nullable=null)


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, _TEXT, nullable=null)


def _texts(*names: str, null: bool = False) -> list[Column[str]]:
    return [_text(name, null=null) for name in names]


def _time(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def _tenant() -> Column[str]:
    return _id("tenant_id", key=True)


def _refers(column: str, table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])


def _index_where_set(name: str, column: str) -> Index:
    is_set = text(f"{column} IS NOT NULL")
    columns = ("tenant_id", column, "id")
    return Index(name, *columns, sqlite_where=is_set, postgresql_where=is_set)


def _of_tenant() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id"], ["tenants.id"])


Table("tenants", metadata, _id(key=True), _text("name"), _time("created_at"))

Table(
    "users",
    metadata,
    _tenant(),
    _id(key=True),
    *_texts("email", "name", "role"),
    _text("password_hash", null=True),
    Column("is_active", Boolean, nullable=False),
    # Tokens issued before this instant are refused: a changed password or role moves it.
    _time("tokens_from"),
    _time("created_at"),
    _of_tenant(),
)
Table(
    "user_directory",
    metadata,
    Column("email_identity", _TEXT, primary_key=True),
    _id("tenant_id"),
    _id("user_id"),
)
Table(
    "user_addresses",
    metadata,
    _tenant(),
    _id("user_id", key=True),
    Column("address", _TEXT, primary_key=True),
    _time("last_at"),
    _refers("user_id", "users"),
)
Table(
    "login_failures",
    metadata,
    Column("bucket", _TEXT, primary_key=True),
    _id(key=True),
    _time("failed_at"),
    Index("login_failures_failed_at", "failed_at"),
)
Table(
    "ended_tokens",
    metadata,
    _id(key=True),
    _time("expires_at"),
    Index("ended_tokens_expires_at", "expires_at"),
)
Table(
    "reset_links",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    _id("tenant_id"),
    _id("user_id"),
    _time("expires_at"),
    Index("reset_links_expires_at", "expires_at"),
)

Table(
    "api_keys",
    metadata,
    _tenant(),
    _id(key=True),
    *_texts("name", "key_prefix", "permissions"),
    Column("rate_limit", BigInteger, nullable=False),
    _text("allowed_ips", null=True),
    _text("replay_protection"),
    _time("expires_at", null=True),
    _time("revoked_at", null=True),
    _time("last_used_at", null=True),
    Column("sealed_secret", LargeBinary, nullable=True),
    Column("secret_version", BigInteger, nullable=False),
    _time("created_at"),
    _of_tenant(),
    sqlite_with_rowid=False,
)
Table(
    "api_key_directory",
    metadata,
    Column("key_hash", LargeBinary, primary_key=True),
    _id("tenant_id"),
    _id("key_id"),
    sqlite_with_rowid=False,
)
Table(
    "used_signatures",
    metadata,
    _tenant(),
    _id("key_id", key=True),
    Column("signature", _TEXT, primary_key=True),
    _time("expires_at"),
    _refers("key_id", "api_keys"),
    Index("used_signatures_expires_at", "expires_at"),
)
Table(
    "refusals",
    metadata,
    _tenant(),
    _id("key_id", key=True),
    _id(key=True),
    _text("code"),
    _text("diagnosis", null=True),
    *_texts("method", "target", "timestamp"),
    _text("body_sha256", null=True),
    Column("body_bytes", BigInteger, nullable=True),
    _time("refused_at"),
    _refers("key_id", "api_keys"),
)
Table(
    "idempotency",
    metadata,
    _tenant(),
    _id("key_id", key=True),
    Column("scope", _TEXT, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _text("headers"),
    _time("stored_at"),
    Index("idempotency_stored_at", "stored_at"),
)

Table(
    "customers",
    metadata,
    _tenant(),
    _id(key=True),
    *_texts("email", "email_identity"),
    *_texts("name", "phone", "company", "external_id", null=True),
    _text("metadata"),
    # {id, email, name} as JSON: what a ticket shows of its customer.
    Column("reference", LargeBinary, nullable=False),
    _time("created_at"),
    _time("updated_at"),
    Column("version", BigInteger, nullable=False),
    _of_tenant(),
    Index("customers_email", "tenant_id", "email_identity", unique=True),
    _index_where_set("customers_external_id", "external_id"),
    Index("customers_updated_at", "tenant_id", "updated_at", "id"),
)

Table(
    "ticket_numbers",
    metadata,
    _tenant(),
    Column("last_number", BigInteger, nullable=False),
    _of_tenant(),
)
Table(
    "tickets",
    metadata,
    _tenant(),
    _id(key=True),
    Column("number", BigInteger, nullable=False),
    *_texts("subject", "description", "status"),
    Column("priority", SmallInteger, nullable=False),  # rank: low 1 … urgent 4
    _text("source"),
    _id("customer_id"),
    _id("assignee_id", null=True),
    _text("tags"),
    _text("custom_fields"),
    _text("external_id", null=True),
    Column("reply_count", BigInteger, nullable=False),
    _time("created_at"),
    _time("updated_at"),
    _time("first_response_at", null=True),
    _time("resolved_at", null=True),
    _time("closed_at", null=True),
    Column("version", BigInteger, nullable=False),
    # The ready JSON of the columns above, without the customer; see decision 0004.
    Column("document", LargeBinary, nullable=False),
    _refers("customer_id", "customers"),
    _refers("assignee_id", "users"),
    Index("tickets_number", "tenant_id", "number", unique=True),
    Index("tickets_status", "tenant_id", "status", "id"),
    Index("tickets_priority", "tenant_id", "priority", "id"),
    Index("tickets_customer", "tenant_id", "customer_id", "id"),
    Index("tickets_updated_at", "tenant_id", "updated_at", "id"),
    _index_where_set("tickets_assignee", "assignee_id"),
    _index_where_set("tickets_external_id", "external_id"),
)
Table(
    "ticket_tags",
    metadata,
    _tenant(),
    Column("tag", _TEXT, primary_key=True),
    _id("ticket_id", key=True),
    _refers("ticket_id", "tickets"),
    Index("ticket_tags_ticket", "tenant_id", "ticket_id"),
    sqlite_with_rowid=False,
)
Table(
    "replies",
    metadata,
    _tenant(),
    _id("ticket_id", key=True),
    _id(key=True),
    _text("body"),
    Column("is_internal", Boolean, nullable=False),
    _text("author_type"),
    _id("author_id"),
    _text("author_name", null=True),
    _time("created_at"),
    _refers("ticket_id", "tickets"),
    Index("replies_is_internal", "tenant_id", "ticket_id", "is_internal", "id"),
)

Table(
    "events",
    metadata,
    _tenant(),
    _id(key=True),
    _text("type"),
    Column("object", LargeBinary, nullable=False),
    _text("changes"),
    _time("created_at"),
)
Table(
    "audit",
    metadata,
    _tenant(),
    _id(key=True),
    *_texts("action", "actor_kind"),
    _id("actor_id"),
    *_texts("actor_name", "address"),
    _id("object_id", null=True),
    _text("details"),
    _time("created_at"),
)
