"""One order for the events of all tenants, and the position of each consumer in it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

# Webhooks have had every event that has a feed position. Of the search that holds only up to the
# progress of a tenant: what comes behind it is put at the beginning of the log.
_PUT_IN_LOG = """
UPDATE events SET log_position = unread.number FROM (
    SELECT e.tenant_id, e.id, row_number() OVER (ORDER BY e.tenant_id, e.position) AS number
    FROM events e
    JOIN search_progress t ON t.tenant_id = e.tenant_id
    JOIN customer_progress c ON c.tenant_id = e.tenant_id
    WHERE e.position > t.position OR e.position > c.position
) AS unread WHERE events.tenant_id = unread.tenant_id AND events.id = unread.id
"""
_START = """
INSERT INTO log_positions (name, position)
SELECT reader.name, max(e.log_position) FROM events e
CROSS JOIN (SELECT 'sequencer' AS name UNION ALL SELECT 'webhooks') AS reader
WHERE e.log_position IS NOT NULL GROUP BY reader.name
"""
# A rebuild goes on from the first tenant whose objects are not all indexed, or whose unread events
# are pruned.
_KEEP_REBUILD = """
INSERT INTO search_rebuilds (consumer, tenant_id, object_id)
SELECT '{consumer}', t.id, coalesce(p.after_id, '') FROM tenants t
LEFT JOIN {progress} p ON p.tenant_id = t.id
LEFT JOIN feed_positions f ON f.tenant_id = t.id
WHERE p.position IS NULL OR p.after_id IS NOT NULL OR p.position < f.pruned_position
ORDER BY t.id LIMIT 1
"""
_KEEP_FINISHED = """
INSERT INTO search_rebuilds (consumer) SELECT '{consumer}'
WHERE EXISTS (SELECT 1 FROM {progress})
    AND NOT EXISTS (SELECT 1 FROM search_rebuilds WHERE consumer = '{consumer}')
"""
_PROGRESS = {"ticket_search": "search_progress", "customer_search": "customer_progress"}


def upgrade() -> None:
    op.add_column("events", sa.Column("log_position", sa.BigInteger))
    is_placed = sa.text("log_position IS NOT NULL")
    op.create_index(
        "events_log",
        "events",
        ["log_position"],
        sqlite_where=is_placed,
        postgresql_where=is_placed,
    )
    op.create_table(
        "log_positions",
        sa.Column("name", _TEXT, primary_key=True, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "search_rebuilds",
        sa.Column("consumer", _TEXT, primary_key=True, nullable=False),
        sa.Column("tenant_id", _TEXT),
        sa.Column("object_id", _TEXT),
    )
    op.execute(_PUT_IN_LOG)
    op.execute(_START)
    for consumer, progress in _PROGRESS.items():
        op.execute(_KEEP_REBUILD.format(consumer=consumer, progress=progress))
        op.execute(_KEEP_FINISHED.format(consumer=consumer, progress=progress))
        op.drop_table(progress)


def downgrade() -> None:
    """The search index is rebuilt after it. Events that webhooks have not had are not delivered."""
    for progress in _PROGRESS.values():
        op.create_table(
            progress,
            sa.Column("tenant_id", _TEXT, nullable=False),
            sa.Column("after_id", _TEXT),
            sa.Column("position", sa.BigInteger, nullable=False),
            sa.PrimaryKeyConstraint("tenant_id"),
            sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
        )
    op.drop_table("search_rebuilds")
    op.drop_table("log_positions")
    op.drop_index("events_log", "events")
    op.drop_column("events", "log_position")
