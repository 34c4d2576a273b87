"""The stamp of keys on PostgreSQL, which triggers replace as on SQLite (0014)."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# All columns that the look-up of a key reads, without `last_used_at`, which requests write.
_COLUMNS = (
    "tenant_id, id, name, key_prefix, permissions, rate_limit, allowed_ips, replay_protection,"
    " expires_at, revoked_at, sealed_secret, secret_version, created_at, unconfirmed_since"
)
_CHANGES = {
    "api_keys": f"INSERT OR DELETE OR TRUNCATE OR UPDATE OF {_COLUMNS}",
    "api_key_directory": "INSERT OR DELETE OR TRUNCATE OR UPDATE",
}
# The roles that change keys may only read the stamp.
_FUNCTION = """
CREATE FUNCTION replace_key_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $function$
BEGIN
    UPDATE key_stamp SET stamp = hashtextextended(gen_random_uuid()::text, 0);
    RETURN NULL;
END
$function$
"""


def upgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        return
    schema = op.get_bind().exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    op.execute("CREATE TABLE key_stamp (stamp bigint NOT NULL)")
    op.execute("INSERT INTO key_stamp VALUES (hashtextextended(gen_random_uuid()::text, 0))")
    op.get_bind().exec_driver_sql(_FUNCTION.format(schema=schema))
    op.execute("REVOKE ALL ON FUNCTION replace_key_stamp() FROM PUBLIC")
    for table, changes in _CHANGES.items():
        op.execute(
            f"CREATE TRIGGER key_stamp AFTER {changes} ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION replace_key_stamp()"
        )


def downgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        return
    for table in _CHANGES:
        op.execute(f"DROP TRIGGER key_stamp ON {table}")
    op.execute("DROP FUNCTION replace_key_stamp()")
    op.execute("DROP TABLE key_stamp")
