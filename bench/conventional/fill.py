"""Fills the conventional tables from ours, which lie in the same database."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from bench.build import BenchKey
from bench.conventional.models import Base

SCHEMA = "conventional"
_KEYS = "bench_keys"
_INSTANTS = "created_at", "updated_at", "first_response_at", "resolved_at", "closed_at"


def _instant(column: str) -> str:
    # In whole numbers: a float has not the digits for microseconds of this century.
    return (
        f"timestamptz 'epoch' + ({column} / 1000000) * interval '1 s'"
        f" + ({column} % 1000000) * interval '1 us'"
    )


_TENANTS = "INSERT INTO tenants SELECT id::uuid, name FROM public.tenants"
_USERS = """
INSERT INTO users (id, tenant_id, email) SELECT id::uuid, tenant_id::uuid, email FROM public.users
"""
_API_KEYS = f"""
INSERT INTO api_keys (id, tenant_id, key_hash, secret, permissions)
SELECT d.key_id::uuid, d.tenant_id::uuid, d.key_hash, b.secret,
    ARRAY(SELECT jsonb_array_elements_text(k.permissions::jsonb))
FROM public.api_key_directory d
JOIN public.api_keys k ON k.tenant_id = d.tenant_id AND k.id = d.key_id
JOIN {_KEYS} b ON d.key_hash = sha256(b.api_key::bytea)
"""
_CUSTOMERS = f"""
INSERT INTO customers (id, tenant_id, email, name, created_at)
SELECT id::uuid, tenant_id::uuid, email, name, {_instant("created_at")} FROM public.customers
"""
_TICKETS = f"""
INSERT INTO tickets (id, tenant_id, number, subject, description, status, priority, source,
    customer_id, assignee_id, tags, custom_fields, external_id, reply_count, version,
    {", ".join(_INSTANTS)})
SELECT id::uuid, tenant_id::uuid, number, subject, description, status,
    (ARRAY['low', 'medium', 'high', 'urgent'])[priority], source, customer_id::uuid,
    assignee_id::uuid, ARRAY(SELECT jsonb_array_elements_text(tags::jsonb)),
    custom_fields::jsonb, external_id, reply_count, version,
    {", ".join(map(_instant, _INSTANTS))}
FROM public.tickets
"""
_NUMBERS = """
SELECT setval(pg_get_serial_sequence('tickets', 'number'), (SELECT max(number) FROM tickets))
"""


async def fill(superuser_url: str, keys: list[BenchKey], role: str) -> None:
    """Make the tables and copy everything into them. role: may use them afterwards."""
    engine = create_async_engine(superuser_url.replace("postgresql:", "postgresql+asyncpg:", 1))
    async with engine.begin() as connection:
        for sql in (
            f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE",
            f"CREATE SCHEMA {SCHEMA}",
            f"SET LOCAL search_path = {SCHEMA}",
            "SET LOCAL session_replication_role = replica",  # what is copied refers as it did
            f"CREATE TEMP TABLE {_KEYS} (api_key text, secret text) ON COMMIT DROP",
        ):
            await connection.execute(text(sql))
        await connection.execute(
            text(f"INSERT INTO {_KEYS} VALUES (:api_key, :secret)"),
            [{"api_key": key.api_key, "secret": key.api_secret} for key in keys],
        )
        await connection.run_sync(Base.metadata.create_all)
        for sql in (_TENANTS, _USERS, _API_KEYS, _CUSTOMERS, _TICKETS, _NUMBERS):
            await connection.exec_driver_sql(sql)
        await connection.execute(text(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}"))
        for kind in ("TABLES", "SEQUENCES"):
            await connection.execute(text(f"GRANT ALL ON ALL {kind} IN SCHEMA {SCHEMA} TO {role}"))
    await engine.dispose()
