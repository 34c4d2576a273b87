"""The search: a text for each ticket, an index of its words, and the one way in on PostgreSQL."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_WORDS = sa.Text().with_variant(TSVECTOR(), "postgresql")
# Ids are one word. The words are prepared by the service, so nothing else is to be done to them:
# "ascii" takes whatever is not ASCII for a letter.
_FTS5 = """
CREATE VIRTUAL TABLE search_index USING fts5(tenant_id, words, content = 'search_documents',
    content_rowid = 'number', columnsize = 0, prefix = '2 3', tokenize = "ascii tokenchars '-'")
"""
# Its parts are put together by the indexer, in small steps, and not while something is added.
# Of eight at a time, which is a third less work than of four, and of 64 whatever may have happened.
_MERGES = {"automerge": 0, "usermerge": 8, "crisismerge": 64}
# Row level security would keep the index from being used: the operator @@ may tell what it sees.
# So this runs as the owner, who sees every row, and names the tenant itself: the one that the
# transaction is of, and no other. Common words stand in the newest tickets: 5,000 are walked
# through in 12 ms. What is then still wanted is so rare that GIN finds all of it at once. The
# planner knows the common words only, and walked through a million tickets for a rare one.
_SEARCH = """
CREATE FUNCTION search_tickets(of_tenant text, wanted tsquery, at_most integer)
RETURNS TABLE (tenant_id text, ticket_id text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $function$
DECLARE
    walked text;
    found integer;
BEGIN
    IF of_tenant IS DISTINCT FROM nullif(current_setting('sealdesk.tenant_id', true), '') THEN
        RAISE insufficient_privilege USING MESSAGE = 'the search is of another tenant';
    END IF;
    RETURN QUERY SELECT n.tenant_id, n.ticket_id FROM (
            SELECT d.* FROM search_documents d WHERE d.tenant_id = of_tenant
            ORDER BY d.ticket_id DESC LIMIT 5000
        ) n WHERE n.words @@ wanted ORDER BY n.ticket_id DESC LIMIT at_most;
    GET DIAGNOSTICS found = ROW_COUNT;
    SELECT d.ticket_id INTO walked FROM search_documents d WHERE d.tenant_id = of_tenant
        ORDER BY d.ticket_id DESC LIMIT 1 OFFSET 4999;
    IF found = at_most OR walked IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE 'WITH older AS MATERIALIZED ('
        || ' SELECT d.tenant_id, d.ticket_id FROM search_documents d'
        || ' WHERE d.tenant_id = $1 AND d.words @@ $2 AND d.ticket_id < $3)'
        || ' SELECT o.tenant_id, o.ticket_id FROM older o ORDER BY o.ticket_id DESC LIMIT $4'
        USING of_tenant, wanted, walked, at_most - found;
END
$function$
"""
_FUNCTION = "search_tickets(text, tsquery, integer)"


def upgrade() -> None:
    op.create_table(
        "search_documents",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("ticket_id", _TEXT, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("words", _WORDS, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "ticket_id"),
    )
    op.create_index("search_documents_number", "search_documents", ["number"])
    op.create_table(
        "search_progress",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("after_id", _TEXT),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    if op.get_bind().dialect.name == "sqlite":
        _on_sqlite()
    else:
        _on_postgresql()


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE search_index")
    else:
        op.execute(f"DROP FUNCTION {_FUNCTION}")
    for name in ("search_progress", "search_documents"):
        op.drop_table(name)


def _on_sqlite() -> None:
    bind = op.get_bind()
    bind.exec_driver_sql(_FTS5)
    for name, value in _MERGES.items():
        bind.exec_driver_sql(
            "INSERT INTO search_index (search_index, rank) VALUES (?, ?)", (name, value)
        )


def _on_postgresql() -> None:
    bind = op.get_bind()
    # What waits to be put into the index is read by each search, so it is to be little.
    bind.exec_driver_sql(
        "CREATE INDEX search_documents_words ON search_documents USING gin (words)"
        " WITH (gin_pending_list_limit = 512)"
    )
    schema = bind.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    bind.exec_driver_sql(_SEARCH.format(schema=schema))
    bind.exec_driver_sql(f"REVOKE ALL ON FUNCTION {_FUNCTION} FROM PUBLIC")
