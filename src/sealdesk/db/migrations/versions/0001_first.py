"""The first schema."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# In the order of creation: a table comes after those it refers to.
_TABLES = (
    "tenants",
    "users",
    "user_directory",
    "user_addresses",
    "login_failures",
    "ended_tokens",
    "reset_links",
    "api_keys",
    "api_key_directory",
    "used_signatures",
    "refusals",
    "idempotency",
    "customers",
    "ticket_numbers",
    "tickets",
    "ticket_tags",
    "replies",
    "events",
    "audit",
)


def upgrade() -> None:
    _tenants_and_users()
    _log_ins()
    _api_keys()
    _what_keys_leave()
    _customers()
    _tickets()
    _tickets_parts()
    _records()


def downgrade() -> None:
    for name in reversed(_TABLES):
        op.drop_table(name)


def _tenants_and_users() -> None:
    op.create_table(
        "tenants", *_text("id", "name"), *_integer("created_at"), sa.PrimaryKeyConstraint("id")
    )
    op.create_table(
        "users",
        *_text("tenant_id", "id", "email", "name", "role"),
        *_text("password_hash", null=True),
        *_flag("is_active"),
        *_integer("tokens_from", "created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _of_tenant(),
    )
    op.create_table(
        "user_directory",
        *_text("email_identity", "tenant_id", "user_id"),
        sa.PrimaryKeyConstraint("email_identity"),
    )
    op.create_table(
        "user_addresses",
        *_text("tenant_id", "user_id", "address"),
        *_integer("last_at"),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "address"),
        _refers("user_id", "users"),
    )


def _log_ins() -> None:
    op.create_table(
        "login_failures",
        *_text("bucket", "id"),
        *_integer("failed_at"),
        sa.PrimaryKeyConstraint("bucket", "id"),
    )
    op.create_index("login_failures_failed_at", "login_failures", ["failed_at"])
    op.create_table(
        "ended_tokens", *_text("id"), *_integer("expires_at"), sa.PrimaryKeyConstraint("id")
    )
    op.create_index("ended_tokens_expires_at", "ended_tokens", ["expires_at"])
    op.create_table(
        "reset_links",
        *_bytes("token_hash"),
        *_text("tenant_id", "user_id"),
        *_integer("expires_at"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("reset_links_expires_at", "reset_links", ["expires_at"])


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        *_text("tenant_id", "id", "name", "key_prefix", "permissions"),
        *_integer("rate_limit"),
        *_text("allowed_ips", null=True),
        *_text("replay_protection"),
        *_integer("expires_at", "revoked_at", "last_used_at", null=True),
        *_bytes("sealed_secret", null=True),
        *_integer("secret_version", "created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _of_tenant(),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "api_key_directory",
        *_bytes("key_hash"),
        *_text("tenant_id", "key_id"),
        sa.PrimaryKeyConstraint("key_hash"),
        sqlite_with_rowid=False,
    )


def _what_keys_leave() -> None:
    op.create_table(
        "used_signatures",
        *_text("tenant_id", "key_id", "signature"),
        *_integer("expires_at"),
        sa.PrimaryKeyConstraint("tenant_id", "key_id", "signature"),
        _refers("key_id", "api_keys"),
    )
    op.create_index("used_signatures_expires_at", "used_signatures", ["expires_at"])
    op.create_table(
        "refusals",
        *_text("tenant_id", "key_id", "id", "code"),
        *_text("diagnosis", null=True),
        *_text("method", "target", "timestamp"),
        *_text("body_sha256", null=True),
        *_integer("body_bytes", null=True),
        *_integer("refused_at"),
        sa.PrimaryKeyConstraint("tenant_id", "key_id", "id"),
        _refers("key_id", "api_keys"),
    )
    op.create_table(
        "idempotency",
        *_text("tenant_id", "key_id", "scope"),
        *_bytes("fingerprint"),
        *_small("status"),
        *_bytes("body"),
        *_text("headers"),
        *_integer("stored_at"),
        sa.PrimaryKeyConstraint("tenant_id", "key_id", "scope"),
    )
    op.create_index("idempotency_stored_at", "idempotency", ["stored_at"])


def _customers() -> None:
    op.create_table(
        "customers",
        *_text("tenant_id", "id", "email", "email_identity"),
        *_text("name", "phone", "company", "external_id", null=True),
        *_text("metadata"),
        *_bytes("reference"),
        *_integer("created_at", "updated_at", "version"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _of_tenant(),
    )
    op.create_index("customers_email", "customers", ["tenant_id", "email_identity"], unique=True)
    _index_where_set("customers_external_id", "customers", ["tenant_id", "external_id", "id"])
    op.create_index("customers_updated_at", "customers", ["tenant_id", "updated_at", "id"])


def _tickets() -> None:
    op.create_table(
        "ticket_numbers",
        *_text("tenant_id"),
        *_integer("last_number"),
        sa.PrimaryKeyConstraint("tenant_id"),
        _of_tenant(),
    )
    op.create_table(
        "tickets",
        *_text("tenant_id", "id"),
        *_integer("number"),
        *_text("subject", "description", "status"),
        *_small("priority"),
        *_text("source", "customer_id"),
        *_text("assignee_id", null=True),
        *_text("tags", "custom_fields"),
        *_text("external_id", null=True),
        *_integer("reply_count", "created_at", "updated_at"),
        *_integer("first_response_at", "resolved_at", "closed_at", null=True),
        *_integer("version"),
        *_bytes("document"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _refers("assignee_id", "users"),
        _refers("customer_id", "customers"),
    )
    _index_where_set("tickets_assignee", "tickets", ["tenant_id", "assignee_id", "id"])
    op.create_index("tickets_customer", "tickets", ["tenant_id", "customer_id", "id"])
    _index_where_set("tickets_external_id", "tickets", ["tenant_id", "external_id", "id"])
    op.create_index("tickets_number", "tickets", ["tenant_id", "number"], unique=True)
    op.create_index("tickets_priority", "tickets", ["tenant_id", "priority", "id"])
    op.create_index("tickets_status", "tickets", ["tenant_id", "status", "id"])
    op.create_index("tickets_updated_at", "tickets", ["tenant_id", "updated_at", "id"])


def _tickets_parts() -> None:
    op.create_table(
        "ticket_tags",
        *_text("tenant_id", "tag", "ticket_id"),
        sa.PrimaryKeyConstraint("tenant_id", "tag", "ticket_id"),
        _refers("ticket_id", "tickets"),
        sqlite_with_rowid=False,
    )
    op.create_index("ticket_tags_ticket", "ticket_tags", ["tenant_id", "ticket_id"])
    op.create_table(
        "replies",
        *_text("tenant_id", "ticket_id", "id", "body"),
        *_flag("is_internal"),
        *_text("author_type", "author_id"),
        *_text("author_name", null=True),
        *_integer("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "id"),
        _refers("ticket_id", "tickets"),
    )
    op.create_index(
        "replies_is_internal", "replies", ["tenant_id", "ticket_id", "is_internal", "id"]
    )


def _records() -> None:
    op.create_table(
        "events",
        *_text("tenant_id", "id", "type"),
        *_bytes("object"),
        *_text("changes"),
        *_integer("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_table(
        "audit",
        *_text("tenant_id", "id", "action", "actor_kind", "actor_id", "actor_name", "address"),
        *_text("object_id", null=True),
        *_text("details"),
        *_integer("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )


Columns = Iterator[sa.Column[Any]]
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _text(*names: str, null: bool = False) -> Columns:
    return (sa.Column(name, _TEXT, nullable=null) for name in names)


def _integer(*names: str, null: bool = False) -> Columns:
    return (sa.Column(name, sa.BigInteger, nullable=null) for name in names)


def _small(*names: str) -> Columns:
    return (sa.Column(name, sa.SmallInteger, nullable=False) for name in names)


def _flag(*names: str) -> Columns:
    return (sa.Column(name, sa.Boolean, nullable=False) for name in names)


def _bytes(*names: str, null: bool = False) -> Columns:
    return (sa.Column(name, sa.LargeBinary, nullable=null) for name in names)


def _of_tenant() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"])


def _refers(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])


def _index_where_set(name: str, table: str, columns: list[str]) -> None:
    """An index of the rows in which the column after the tenant has a value."""
    is_set = sa.text(f"{columns[1]} IS NOT NULL")
    op.create_index(name, table, columns, sqlite_where=is_set, postgresql_where=is_set)
