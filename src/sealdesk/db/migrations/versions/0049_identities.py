"""Tags and names are compared by their identity, and the search indexes are made anew."""

import sqlalchemy as sa
from alembic import op

from sealdesk.resources.identity import identity

revision = "0049"
down_revision = "0048"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_LIST_TAGS = sa.text("SELECT DISTINCT tenant_id, tag FROM ticket_tags")
_ADD_IDENTITY = sa.text(
    "INSERT INTO ticket_tags (tenant_id, tag, ticket_id)"
    " SELECT tenant_id, :identity, ticket_id FROM ticket_tags"
    " WHERE tenant_id = :tenant_id AND tag = :tag ON CONFLICT DO NOTHING"
)
_DELETE = sa.text("DELETE FROM ticket_tags WHERE tenant_id = :tenant_id AND tag = :tag")
# (table, column of the identity, column of the text, whose names they are): a row whose identity is
# another one's keeps its old one, so that both are found until one of them gets another name.
_NAMES = (
    ("teams", "name_identity", "name", "''"),
    ("views", "name_identity", "name", "owner_id"),
    ("macros", "shortcut_identity", "shortcut", "''"),
)


def upgrade() -> None:
    op.add_column("tag_renamings", sa.Column("ticket_id", _TEXT, nullable=True))
    connection = op.get_bind()
    for tenant_id, tag in connection.execute(_LIST_TAGS).all():
        if (folded := identity(tag)) != tag:
            of = {"tenant_id": tenant_id, "tag": tag}
            connection.execute(_ADD_IDENTITY, {**of, "identity": folded})
            connection.execute(_DELETE, of)
    for table, column, text, owner in _NAMES:
        _fold_names(connection, table, column, f"{text}, {owner}")
    connection.execute(sa.text("DELETE FROM search_rebuilds"))


def _fold_names(connection: sa.Connection, table: str, column: str, others: str) -> None:
    columns = sa.text(f"SELECT tenant_id, id, {column}, {others} FROM {table}")
    rows = connection.execute(columns).all()
    used = {(tenant_id, owner, stored) for tenant_id, _, stored, _, owner in rows}
    update = sa.text(
        f"UPDATE {table} SET {column} = :folded WHERE tenant_id = :tenant_id AND id = :id"
    )
    for tenant_id, row_id, stored, shown, owner in rows:
        folded = identity(shown or "")
        if stored and stored != row_id and (tenant_id, owner, folded) not in used:
            used.add((tenant_id, owner, folded))
            connection.execute(update, {"folded": folded, "tenant_id": tenant_id, "id": row_id})
