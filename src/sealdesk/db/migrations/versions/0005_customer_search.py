"""The search of customers: a text for each of them, an index of its words, and the way in."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_WORDS = sa.Text().with_variant(TSVECTOR(), "postgresql")
# As of tickets, but for what is asked: beginnings of words, and never what follows what. What
# begins with up to eight letters stands ready; otherwise each search for "gmail" or "example" puts
# together a list of nearly all customers, for 0.1 s of a million.
_FTS5 = """
CREATE VIRTUAL TABLE search_index_customers USING fts5(tenant_id, words,
    content = 'customer_documents', content_rowid = 'number', columnsize = 0, detail = column,
    prefix = '1 2 3 4 5 6 7 8', tokenize = "ascii tokenchars '-'")
"""
_MERGES = {"automerge": 0, "usermerge": 8, "crisismerge": 64}
# As search_tickets, which says why; and from a customer on, for the pages behind the first.
_SEARCH = """
CREATE FUNCTION search_customers(of_tenant text, wanted tsquery, before text, at_most integer)
RETURNS TABLE (tenant_id text, customer_id text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $function$
DECLARE
    walked text;
    found integer;
BEGIN
    IF of_tenant IS DISTINCT FROM nullif(current_setting('sealdesk.tenant_id', true), '') THEN
        RAISE insufficient_privilege USING MESSAGE = 'the search is of another tenant';
    END IF;
    RETURN QUERY SELECT n.tenant_id, n.customer_id FROM (
            SELECT d.* FROM customer_documents d
            WHERE d.tenant_id = of_tenant AND d.customer_id < before
            ORDER BY d.customer_id DESC LIMIT 5000
        ) n WHERE n.words @@ wanted ORDER BY n.customer_id DESC LIMIT at_most;
    GET DIAGNOSTICS found = ROW_COUNT;
    SELECT d.customer_id INTO walked FROM customer_documents d
        WHERE d.tenant_id = of_tenant AND d.customer_id < before
        ORDER BY d.customer_id DESC LIMIT 1 OFFSET 4999;
    IF found = at_most OR walked IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE 'WITH older AS MATERIALIZED ('
        || ' SELECT d.tenant_id, d.customer_id FROM customer_documents d'
        || ' WHERE d.tenant_id = $1 AND d.words @@ $2 AND d.customer_id < $3)'
        || ' SELECT o.tenant_id, o.customer_id FROM older o ORDER BY o.customer_id DESC LIMIT $4'
        USING of_tenant, wanted, walked, at_most - found;
END
$function$
"""
_FUNCTION = "search_customers(text, tsquery, text, integer)"


def upgrade() -> None:
    op.create_table(
        "customer_documents",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("customer_id", _TEXT, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("words", _WORDS, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "customer_id"),
    )
    op.create_index("customer_documents_number", "customer_documents", ["number"])
    op.create_table(
        "customer_progress",
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
        op.execute("DROP TABLE search_index_customers")
    else:
        op.execute(f"DROP FUNCTION {_FUNCTION}")
    for name in ("customer_progress", "customer_documents"):
        op.drop_table(name)


def _on_sqlite() -> None:
    bind = op.get_bind()
    bind.exec_driver_sql(_FTS5)
    for name, value in _MERGES.items():
        bind.exec_driver_sql(
            "INSERT INTO search_index_customers (search_index_customers, rank) VALUES (?, ?)",
            (name, value),
        )


def _on_postgresql() -> None:
    bind = op.get_bind()
    bind.exec_driver_sql(
        "CREATE INDEX customer_documents_words ON customer_documents USING gin (words)"
        " WITH (gin_pending_list_limit = 512)"
    )
    schema = bind.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    bind.exec_driver_sql(_SEARCH.format(schema=schema))
    bind.exec_driver_sql(f"REVOKE ALL ON FUNCTION {_FUNCTION} FROM PUBLIC")
