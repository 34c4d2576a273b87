"""The tables of the conventional service, and how they are filled from those of Sealdesk."""

import time
from collections.abc import Mapping
from datetime import datetime
from random import getrandbits
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    String,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

_SCHEMA = "conventional"
_KEYS = "bench_keys"
_TIMES = "created_at", "updated_at", "first_response_at", "resolved_at", "closed_at"


class Base(DeclarativeBase):
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[str]: ARRAY(Text),
    }


def uuid7() -> UUID:
    """A UUID that begins with the time, so that new index entries are adjacent."""
    at = (time.time_ns() // 1_000_000) << 80
    return UUID(int=at | 0x7 << 76 | getrandbits(12) << 64 | 0b10 << 62 | getrandbits(62))


class Tenant(Base):
    __tablename__ = "tenants"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    name: Mapped[str]


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    email: Mapped[str]


class ApiKey(Base):
    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    key_hash: Mapped[bytes] = mapped_column(unique=True)
    secret: Mapped[str]
    permissions: Mapped[list[str]]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Customer(Base):
    __tablename__ = "customers"
    __table_args__ = (UniqueConstraint("tenant_id", "email"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    email: Mapped[str]
    name: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    tickets: Mapped[list["Ticket"]] = relationship(back_populates="customer")


class Ticket(Base):
    __tablename__ = "tickets"
    __table_args__ = (
        Index("ix_tickets_newest", "tenant_id", "created_at", "id"),
        Index("ix_tickets_status", "tenant_id", "status", "created_at", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    number: Mapped[int] = mapped_column(BigInteger, Identity())
    subject: Mapped[str] = mapped_column(String(255))
    description: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16), default="open")
    priority: Mapped[str] = mapped_column(String(16), default="medium")
    source: Mapped[str] = mapped_column(String(16), default="api")
    customer_id: Mapped[UUID] = mapped_column(ForeignKey("customers.id"), index=True)
    assignee_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    tags: Mapped[list[str]] = mapped_column(default=list)
    custom_fields: Mapped[dict[str, Any]] = mapped_column(default=dict)
    external_id: Mapped[str | None]
    reply_count: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    first_response_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(default=1)

    customer: Mapped[Customer] = relationship(back_populates="tickets")


class OutboxEvent(Base):
    __tablename__ = "outbox_events"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    type: Mapped[str]
    payload: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


def _to_timestamp(column: str) -> str:
    # Integer arithmetic: a float has too few digits for microseconds since 1970.
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
SELECT id::uuid, tenant_id::uuid, email, name, {_to_timestamp("created_at")} FROM public.customers
"""


_TICKETS = f"""
INSERT INTO tickets (id, tenant_id, number, subject, description, status, priority, source,
    customer_id, assignee_id, tags, custom_fields, external_id, reply_count, version,
    {", ".join(_TIMES)})
SELECT id::uuid, tenant_id::uuid, number, subject, description, status,
    (ARRAY['low', 'medium', 'high', 'urgent'])[priority], source, customer_id::uuid,
    assignee_id::uuid, ARRAY(SELECT jsonb_array_elements_text(tags::jsonb)),
    custom_fields::jsonb, external_id, reply_count, version,
    {", ".join(map(_to_timestamp, _TIMES))}
FROM public.tickets
"""


_NUMBERS = """
SELECT setval(pg_get_serial_sequence('tickets', 'number'), (SELECT max(number) FROM tickets))
"""


async def fill_tables(superuser_url: str, secrets: Mapping[str, str], role: str) -> None:
    """Create the tables and copy everything into them.

    secrets: by API key. role: is granted access to the tables.
    """
    engine = create_async_engine(superuser_url.replace("postgresql:", "postgresql+asyncpg:", 1))
    async with engine.begin() as connection:
        for sql in (
            f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE",
            f"CREATE SCHEMA {_SCHEMA}",
            f"SET LOCAL search_path = {_SCHEMA}",
            "SET LOCAL session_replication_role = replica",  # without checks of foreign keys
            f"CREATE TEMP TABLE {_KEYS} (api_key text, secret text) ON COMMIT DROP",
        ):
            await connection.execute(text(sql))
        await connection.execute(
            text(f"INSERT INTO {_KEYS} VALUES (:api_key, :secret)"),
            [{"api_key": key, "secret": secret} for key, secret in secrets.items()],
        )
        await connection.run_sync(Base.metadata.create_all)
        for sql in (_TENANTS, _USERS, _API_KEYS, _CUSTOMERS, _TICKETS, _NUMBERS):
            await connection.exec_driver_sql(sql)
        await connection.execute(text(f"GRANT USAGE ON SCHEMA {_SCHEMA} TO {role}"))
        for kind in ("TABLES", "SEQUENCES"):
            await connection.execute(text(f"GRANT ALL ON ALL {kind} IN SCHEMA {_SCHEMA} TO {role}"))
    await engine.dispose()
