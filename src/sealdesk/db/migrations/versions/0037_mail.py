"""Mailboxes, participants of tickets, received and outgoing messages."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TABLES = (
    "mailboxes",
    "mailbox_directory",
    "ticket_participants",
    "ticket_message_ids",
    "received_messages",
    "outgoing_messages",
    "mail_blocks",
)
_DELIVERY = (("delivery", _TEXT), ("delivery_reason", _TEXT), ("delivery_at", sa.BigInteger))


def upgrade() -> None:
    _create_mailboxes()
    _create_threads()
    _create_messages()
    for name, kind in _DELIVERY:
        op.add_column("replies", sa.Column(name, kind, nullable=True))


def _create_mailboxes() -> None:
    op.create_table(
        "mailboxes",
        *_texts("tenant_id", "id"),
        *_texts("address", "address_identity", "display_name", "signature", "receives"),
        *_texts("team_id", "language", "imap_folder", null=True),
        *_server("imap"),
        *_server("smtp"),
        *_texts("acknowledgement", null=True),
        *_numbers("per_minute"),
        sa.Column("is_paused", sa.Boolean, nullable=False),
        *_texts("problem", null=True),
        *_numbers("uid_validity", "last_uid", null=True),
        *_numbers("created_at"),
        *_numbers("deleted_at", null=True),
        *_numbers("version"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        _refers("team_id", "teams"),
    )
    unique = ["tenant_id", "address_identity"]
    op.create_index("mailboxes_address", "mailboxes", unique, unique=True)
    op.create_table(
        "mailbox_directory",
        *_texts("address_identity", "tenant_id", "mailbox_id", "receives"),
        *_texts("leased_by", null=True),
        *_numbers("leased_until", null=True),
        sa.PrimaryKeyConstraint("address_identity"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mail_blocks",
        *_texts("tenant_id", "pattern", "actor_id", "actor_name"),
        *_numbers("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "pattern"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        sqlite_with_rowid=False,
    )


def _create_threads() -> None:
    op.create_table(
        "ticket_participants",
        *_texts("tenant_id", "ticket_id", "address_identity", "address", "token", "mailbox_id"),
        *_texts("name", null=True),
        *_numbers("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id", "address_identity"),
        _refers("ticket_id", "tickets"),
        _refers("mailbox_id", "mailboxes"),
    )
    token = ["tenant_id", "token"]
    op.create_index("ticket_participants_token", "ticket_participants", token, unique=True)
    op.create_table(
        "ticket_message_ids",
        *_texts("tenant_id", "message_hash", "ticket_id"),
        sa.PrimaryKeyConstraint("tenant_id", "message_hash"),
        _refers("ticket_id", "tickets"),
        sqlite_with_rowid=False,
    )


def _create_messages() -> None:
    op.create_table(
        "received_messages",
        *_texts("tenant_id", "id", "mailbox_id", "message_key", "from_identity", "subject"),
        *_texts("raw_sha256", "outcome"),
        *_texts("reason", null=True),
        *_numbers("size_bytes"),
        *_texts("ticket_id", "reply_id", null=True),
        *_numbers("received_at"),
        *_numbers("raw_until", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _refers("mailbox_id", "mailboxes"),
        _refers("ticket_id", "tickets"),
    )
    op.create_table(
        "outgoing_messages",
        *_texts("tenant_id", "id", "mailbox_id"),
        *_texts("ticket_id", null=True),
        *_texts("about_id", "kind", "address", "message_id", "state"),
        *_texts("reason", null=True),
        *_numbers("attempt_count", "created_at"),
        *_numbers("due_at", "leased_until", "finished_at", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        _refers("mailbox_id", "mailboxes"),
        _refers("ticket_id", "tickets"),
    )
    _index("received_messages_key", "mailbox_id", "message_key", unique=True)
    _index("received_messages_from", "from_identity", "received_at")
    _index("received_messages_outcome", "outcome", "id")
    _index("received_messages_raw", "raw_sha256", "id")
    _index("received_messages_ticket", "ticket_id", "id")
    _index_where_set("received_messages_expired", "raw_until", first=[])
    _index("outgoing_messages_about", "about_id", "address", unique=True)
    _index("outgoing_messages_message_id", "message_id")
    _index_where_set("outgoing_messages_due", "due_at", first=["mailbox_id"])


def _texts(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, _TEXT, nullable=null) for name in names]


def _numbers(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger, nullable=null) for name in names]


def _server(protocol: str) -> list[sa.Column[Any]]:
    return [
        *_texts(f"{protocol}_host", null=True),
        *_numbers(f"{protocol}_port", null=True),
        *_texts(f"{protocol}_security", f"{protocol}_username", null=True),
        sa.Column(f"sealed_{protocol}_password", sa.LargeBinary, nullable=True),
    ]


def _refers(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", column], [f"{table}.tenant_id", f"{table}.id"])


def _index(name: str, *columns: str, unique: bool = False) -> None:
    op.create_index(name, _table_of(name), ["tenant_id", *columns], unique=unique)


def _index_where_set(name: str, column: str, first: list[str]) -> None:
    is_set = sa.text(f"{column} IS NOT NULL")
    columns = [*first, column, "tenant_id", "id"]
    op.create_index(
        name, _table_of(name), columns, sqlite_where=is_set, postgresql_where=is_set
    )  # fmt: skip


def _table_of(index: str) -> str:
    return "_".join(index.split("_")[:2])


def downgrade() -> None:
    for name, _ in reversed(_DELIVERY):
        op.drop_column("replies", name)
    for name in reversed(_TABLES):
        op.drop_table(name)
