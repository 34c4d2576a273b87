"""On PostgreSQL events wait for their positions in a table of their own.

On SQLite they have them when they are recorded, so those of an earlier version get theirs here.
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COLUMNS = "tenant_id, id, type, object, changes, created_at"
_TAKE_OUT = (
    f"INSERT INTO event_outbox ({_COLUMNS}) SELECT {_COLUMNS} FROM events WHERE position IS NULL",
    "DELETE FROM events WHERE position IS NULL",
)
_PLACE = (
    """
INSERT INTO feed_positions (tenant_id, last_position, pruned_position)
SELECT tenant_id, count(*), 0 FROM event_outbox WHERE true GROUP BY tenant_id
ON CONFLICT (tenant_id) DO UPDATE
    SET last_position = feed_positions.last_position + excluded.last_position
""",
    """
INSERT INTO log_positions (name, position)
SELECT 'sequencer', count(*) FROM event_outbox WHERE true HAVING count(*) > 0
ON CONFLICT (name) DO UPDATE SET position = log_positions.position + excluded.position
""",
    f"""
INSERT INTO events ({_COLUMNS}, position, log_position)
SELECT o.tenant_id, o.id, o.type, o.object, o.changes, o.created_at,
    f.last_position + 1 - row_number() OVER (PARTITION BY o.tenant_id ORDER BY o.id DESC),
    l.position + 1 - row_number() OVER (ORDER BY o.id DESC, o.tenant_id DESC)
FROM event_outbox o JOIN feed_positions f ON f.tenant_id = o.tenant_id
JOIN log_positions l ON l.name = 'sequencer'
""",
    "DELETE FROM event_outbox",
)


def upgrade() -> None:
    op.create_table(
        "event_outbox",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("type", _TEXT, nullable=False),
        sa.Column("object", sa.LargeBinary, nullable=False),
        sa.Column("changes", _TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.drop_index("events_pending", "events")
    for statement in _TAKE_OUT:
        op.execute(statement)
    if op.get_bind().dialect.name == "sqlite":
        for statement in _PLACE:
            op.execute(statement)


def downgrade() -> None:
    has_no_position = sa.text("position IS NULL")
    op.create_index(
        "events_pending",
        "events",
        ["tenant_id", "id"],
        sqlite_where=has_no_position,
        postgresql_where=has_no_position,
    )
    op.execute(f"INSERT INTO events ({_COLUMNS}) SELECT {_COLUMNS} FROM event_outbox")
    op.drop_table("event_outbox")
