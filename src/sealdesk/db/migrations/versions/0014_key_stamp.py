"""On SQLite a stamp, which triggers replace when a key changes: guards keep keys until then."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# All columns that the look-up of a key reads, without `last_used_at`, which requests write.
_COLUMNS = (
    "tenant_id, id, name, key_prefix, permissions, rate_limit, allowed_ips, replay_protection,"
    " expires_at, revoked_at, sealed_secret, secret_version, created_at, unconfirmed_since"
)
_CHANGES = {
    "key_stamp_key_added": "INSERT ON api_keys",
    "key_stamp_key_changed": f"UPDATE OF {_COLUMNS} ON api_keys",
    "key_stamp_key_deleted": "DELETE ON api_keys",
    "key_stamp_hash_added": "INSERT ON api_key_directory",
    "key_stamp_hash_changed": "UPDATE ON api_key_directory",
    "key_stamp_hash_deleted": "DELETE ON api_key_directory",
}
# A random number and not a counter: after a database was put back, a counter would come by the same
# numbers again, for other keys.
_REPLACE = "UPDATE key_stamp SET stamp = random()"


def upgrade() -> None:
    if op.get_context().dialect.name != "sqlite":
        return
    op.execute("CREATE TABLE key_stamp (stamp INTEGER NOT NULL)")
    op.execute("INSERT INTO key_stamp VALUES (random())")
    for name, change in _CHANGES.items():
        op.execute(f"CREATE TRIGGER {name} AFTER {change} BEGIN {_REPLACE}; END")


def downgrade() -> None:
    if op.get_context().dialect.name != "sqlite":
        return
    for name in _CHANGES:
        op.execute(f"DROP TRIGGER {name}")
    op.execute("DROP TABLE key_stamp")
