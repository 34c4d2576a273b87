"""On SQLite a stamp for each tenant says that its lists of tickets are as they were (0121)."""

from alembic import op

revision = "0052"
down_revision = "0051"

_CHANGES = {
    "ticket_added": ("INSERT ON tickets", "NEW"),
    "ticket_changed": ("UPDATE ON tickets", "NEW"),
    "ticket_deleted": ("DELETE ON tickets", "OLD"),
    "tag_added": ("INSERT ON ticket_tags", "NEW"),
    "tag_changed": ("UPDATE ON ticket_tags", "NEW"),
    "tag_deleted": ("DELETE ON ticket_tags", "OLD"),
    "follower_added": ("INSERT ON ticket_followers", "NEW"),
    "follower_changed": ("UPDATE ON ticket_followers", "NEW"),
    "follower_deleted": ("DELETE ON ticket_followers", "OLD"),
    "customer_added": ("INSERT ON customers", "NEW"),
    "customer_changed": ("UPDATE ON customers", "NEW"),
    "customer_deleted": ("DELETE ON customers", "OLD"),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute(
        "CREATE TABLE ticket_stamps (tenant_id TEXT NOT NULL PRIMARY KEY, stamp INTEGER NOT NULL)"
        " WITHOUT ROWID"
    )
    for name, (change, row) in _CHANGES.items():
        op.execute(
            f"CREATE TRIGGER ticket_stamps_{name} AFTER {change} BEGIN"
            f" INSERT INTO ticket_stamps VALUES ({row}.tenant_id, random())"
            " ON CONFLICT (tenant_id) DO UPDATE SET stamp = excluded.stamp; END"
        )
