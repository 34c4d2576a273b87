"""Definitions of custom fields, whose rows replace the stamp of keys (0014, 0016).

The search index of tickets is made anew, with a word for each value of a custom field.
"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TABLE = "field_definitions"
_CHANGES = {"added": "INSERT", "deleted": "DELETE"}


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("label", _TEXT, nullable=False),
        sa.Column("type", _TEXT, nullable=False),
        sa.Column("choices", _TEXT, nullable=False),
        sa.Column("required_on_resolve", sa.Boolean, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    # Guards know of each key whether its tenant has definitions.
    if op.get_context().dialect.name == "sqlite":
        for name, change in _CHANGES.items():
            op.execute(
                f"CREATE TRIGGER key_stamp_field_{name} AFTER {change} ON {_TABLE}"
                " BEGIN UPDATE key_stamp SET stamp = random(); END"
            )
    else:
        op.execute(
            f"CREATE TRIGGER key_stamp AFTER INSERT OR DELETE OR TRUNCATE ON {_TABLE}"
            " FOR EACH STATEMENT EXECUTE FUNCTION replace_key_stamp()"
        )
    # Without its row, the worker makes the index of tickets anew.
    op.execute("DELETE FROM search_rebuilds WHERE consumer = 'ticket_search'")


def downgrade() -> None:
    op.drop_table(_TABLE)
