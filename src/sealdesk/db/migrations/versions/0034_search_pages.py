"""The search for tickets begins at a position, for the pages behind the first."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# As before (0004), but only of tickets before an id.
_SEARCH = """
CREATE FUNCTION search_tickets(of_tenant text, wanted tsquery, before text, at_most integer)
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
            SELECT d.* FROM search_documents d
            WHERE d.tenant_id = of_tenant AND d.ticket_id < before
            ORDER BY d.ticket_id DESC LIMIT 5000
        ) n WHERE n.words @@ wanted ORDER BY n.ticket_id DESC LIMIT at_most;
    GET DIAGNOSTICS found = ROW_COUNT;
    SELECT d.ticket_id INTO walked FROM search_documents d
        WHERE d.tenant_id = of_tenant AND d.ticket_id < before
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
_FUNCTION = "search_tickets(text, tsquery, text, integer)"
_BEFORE = "search_tickets(text, tsquery, integer)"
_AS_BEFORE = _SEARCH.replace("before text, ", "").replace(" AND d.ticket_id < before", "")


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _create(_SEARCH, _FUNCTION)
        op.execute(f"DROP FUNCTION {_BEFORE}")


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _create(_AS_BEFORE, _BEFORE)
        op.execute(f"DROP FUNCTION {_FUNCTION}")


def _create(statement: str, function: str) -> None:
    bind = op.get_bind()
    schema = bind.exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    bind.exec_driver_sql(statement.format(schema=schema))
    bind.exec_driver_sql(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
