"""The schema of version 0.1.0, of which 0071_tables.sql contains what both databases share.

The steps of development that led to it are gone (decision 0083), so the numbers begin here.
"""

from itertools import product
from pathlib import Path

from alembic import op
from sqlalchemy import Connection

revision = "0071"
down_revision = None

# PostgreSQL would otherwise sort text by the rules of a language, and cursors rely on byte order.
_ON_POSTGRESQL = {"TEXT": 'TEXT COLLATE "C"', "BLOB": "BYTEA", " WITHOUT ROWID": ""}
_ON_SQLITE = {"TSVECTOR": "TEXT"}

# The service prepares the words, and an id is one word: "ascii" takes what is not ASCII for a
# letter. The indexer merges segments in small steps, sixteen at a time, and not while rows are
# added. The prefixes of up to eight letters of customers are stored: a search for "gmail" would
# otherwise put together a list of nearly all customers, which takes 0.1 s for a million.
_FTS5 = (
    """
CREATE VIRTUAL TABLE search_index USING fts5(tenant_id, words, content = 'search_documents',
    content_rowid = 'number', columnsize = 0, prefix = '2 3', tokenize = "ascii tokenchars '-'")
""",
    """
CREATE VIRTUAL TABLE search_index_customers USING fts5(tenant_id, words,
    content = 'customer_documents', content_rowid = 'number', columnsize = 0, detail = column,
    prefix = '1 2 3 4 5 6 7 8', tokenize = "ascii tokenchars '-'")
""",
)
_MERGES = {"automerge": 0, "usermerge": 16, "crisismerge": 64}

# Row level security would disable the index: the operator @@ could leak the rows that it sees. So
# the function runs as the owner, and refuses every tenant but that of the transaction. Common words
# are in the newest rows: 5,000 are read in 12 ms. A word that needs more is so rare that GIN finds
# all its rows at once; the planner, which knows common words only, would read a million rows.
_SEARCH = """
CREATE FUNCTION {function}(of_tenant text, wanted tsquery, before text, at_most integer)
RETURNS TABLE (tenant_id text, {id} text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $function$
DECLARE
    walked text;
    found integer;
BEGIN
    IF of_tenant IS DISTINCT FROM nullif(current_setting('sealdesk.tenant_id', true), '') THEN
        RAISE insufficient_privilege USING MESSAGE = 'the search is of another tenant';
    END IF;
    RETURN QUERY SELECT n.tenant_id, n.{id} FROM (
            SELECT d.* FROM {table} d
            WHERE d.tenant_id = of_tenant AND d.{id} < before
            ORDER BY d.{id} DESC LIMIT 5000
        ) n WHERE n.words @@ wanted ORDER BY n.{id} DESC LIMIT at_most;
    GET DIAGNOSTICS found = ROW_COUNT;
    SELECT d.{id} INTO walked FROM {table} d
        WHERE d.tenant_id = of_tenant AND d.{id} < before
        ORDER BY d.{id} DESC LIMIT 1 OFFSET 4999;
    IF found = at_most OR walked IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE 'WITH older AS MATERIALIZED ('
        || ' SELECT d.tenant_id, d.{id} FROM {table} d'
        || ' WHERE d.tenant_id = $1 AND d.words @@ $2 AND d.{id} < $3)'
        || ' SELECT o.tenant_id, o.{id} FROM older o ORDER BY o.{id} DESC LIMIT $4'
        USING of_tenant, wanted, walked, at_most - found;
END
$function$
"""
# Each search reads the pending list of the index, so it is short.
_WORDS = (
    "CREATE INDEX {table}_words ON {table} USING gin (words) WITH (gin_pending_list_limit = 512)"
)
_SEARCHED = (
    {"function": "search_tickets", "table": "search_documents", "id": "ticket_id"},
    {"function": "search_customers", "table": "customer_documents", "id": "customer_id"},
)

# The stamp of keys changes with them, so processes keep what they have read until then. It is a
# random number: a counter would repeat its values for other keys after a restore. Requests write
# `last_used_at` of a key, the one column that the look-up of a key does not read.
_READ_COLUMNS = (
    "tenant_id, id, name, key_prefix, permissions, rate_limit, allowed_ips, replay_protection,"
    " expires_at, revoked_at, sealed_secret, secret_version, created_at, unconfirmed_since"
)
_STAMP_TRIGGERS = {
    "key_added": "INSERT ON api_keys",
    "key_changed": f"UPDATE OF {_READ_COLUMNS} ON api_keys",
    "key_deleted": "DELETE ON api_keys",
    "hash_added": "INSERT ON api_key_directory",
    "hash_changed": "UPDATE ON api_key_directory",
    "hash_deleted": "DELETE ON api_key_directory",
    "field_added": "INSERT ON field_definitions",
    "field_deleted": "DELETE ON field_definitions",
    "policy_added": "INSERT ON sla_policies",
    "policy_deleted": "DELETE ON sla_policies",
}
_STAMP_CHANGES = (
    f"INSERT OR DELETE OR TRUNCATE OR UPDATE OF {_READ_COLUMNS} ON api_keys",
    "INSERT OR DELETE OR TRUNCATE OR UPDATE ON api_key_directory",
    "INSERT OR DELETE OR TRUNCATE ON field_definitions",
    "INSERT OR DELETE OR TRUNCATE ON sla_policies",
)
# A stamp for each tenant says that its lists of tickets are as they were (decision 0121).
_LISTED = {
    "ticket": "tickets",
    "tag": "ticket_tags",
    "follower": "ticket_followers",
    "customer": "customers",
}
_LIST_CHANGES = {
    "added": ("INSERT", "NEW"),
    "changed": ("UPDATE", "NEW"),
    "deleted": ("DELETE", "OLD"),
}
# The roles that change keys may only read the stamp.
_STAMP_FUNCTION = """
CREATE FUNCTION replace_key_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $function$
BEGIN
    UPDATE key_stamp SET stamp = hashtextextended(gen_random_uuid()::text, 0);
    RETURN NULL;
END
$function$
"""


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        _create_tables(connection, _ON_SQLITE)
        _add_to_sqlite(connection)
    else:
        _create_tables(connection, _ON_POSTGRESQL)
        _add_to_postgresql(connection)


def _create_tables(connection: Connection, words: dict[str, str]) -> None:
    sql = Path(__file__).with_name("0071_tables.sql").read_text(encoding="utf-8")
    for word, replacement in words.items():
        sql = sql.replace(word, replacement)
    _execute(connection, *sql.removesuffix(";\n").split(";\n"))


def _add_to_sqlite(connection: Connection) -> None:
    _execute(connection, *_FTS5)
    for index in ("search_index", "search_index_customers"):
        for name, value in _MERGES.items():
            _execute(connection, f"INSERT INTO {index} ({index}, rank) VALUES ('{name}', {value})")
    _execute(
        connection,
        "CREATE TABLE key_stamp (stamp INTEGER NOT NULL)",
        "INSERT INTO key_stamp VALUES (random())",
    )
    for name, change in _STAMP_TRIGGERS.items():
        _execute(
            connection,
            f"CREATE TRIGGER key_stamp_{name} AFTER {change}"
            " BEGIN UPDATE key_stamp SET stamp = random(); END",
        )
    _execute(
        connection,
        "CREATE TABLE ticket_stamps (tenant_id TEXT NOT NULL PRIMARY KEY, stamp INTEGER NOT NULL)"
        " WITHOUT ROWID",
    )
    for (name, table), (change, (statement, row)) in product(
        _LISTED.items(), _LIST_CHANGES.items()
    ):
        _execute(
            connection,
            f"CREATE TRIGGER ticket_stamps_{name}_{change} AFTER {statement} ON {table} BEGIN"
            f" INSERT INTO ticket_stamps VALUES ({row}.tenant_id, random())"
            " ON CONFLICT (tenant_id) DO UPDATE SET stamp = excluded.stamp; END",
        )


def _add_to_postgresql(connection: Connection) -> None:
    schema = connection.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    for names in _SEARCHED:
        _execute(
            connection,
            _WORDS.format(**names),
            _SEARCH.format(schema=schema, **names),
            f"REVOKE ALL ON FUNCTION {names['function']}(text, tsquery, text, integer) FROM PUBLIC",
        )
    _execute(
        connection,
        "CREATE TABLE key_stamp (stamp bigint NOT NULL)",
        "INSERT INTO key_stamp VALUES (hashtextextended(gen_random_uuid()::text, 0))",
        _STAMP_FUNCTION.format(schema=schema),
        "REVOKE ALL ON FUNCTION replace_key_stamp() FROM PUBLIC",
    )
    for changes in _STAMP_CHANGES:
        _execute(
            connection,
            f"CREATE TRIGGER key_stamp AFTER {changes}"
            " FOR EACH STATEMENT EXECUTE FUNCTION replace_key_stamp()",
        )


def _execute(connection: Connection, *statements: str) -> None:
    for sql in statements:
        connection.exec_driver_sql(sql)
