"""Rows may have one identity, after it has become another one (decision 0141)."""

from alembic import op

revision = "0075"
down_revision = "0074"
oldest_reader = "0071"

_INDEXES = {
    "customers_email": ("customers", ["tenant_id", "email_identity"]),
    "views_name": ("views", ["tenant_id", "owner_id", "name_identity"]),
    "macros_shortcut": ("macros", ["tenant_id", "owner_id", "shortcut_identity"]),
    "teams_name": ("teams", ["tenant_id", "name_identity"]),
}


def upgrade() -> None:
    for name, (table, columns) in _INDEXES.items():
        op.drop_index(name, table)
        op.create_index(name, table, columns)
