"""Behind pgbouncer in transaction mode, tenants that share sessions stay isolated."""

import asyncio
import random
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from sealdesk.db.engine import Row, Tx
from sealdesk.db.postgres import transaction
from sealdesk.db.postgres.database import PostgresDatabase
from tests.servers import PgBouncer, server_directory
from tests.support.databases import Template
from tests.support.service import Service, running
from tests.support.tenant_rows import FilledDatabase, filled_database, run

TENANTS = 50
TRANSACTIONS = 1500  # 30 of each tenant, every third of which writes
_ROWS = "SELECT tenant_id, id FROM events LIMIT 100"
_COUNT = "UPDATE tickets SET version = version + 1, subject = :tenant_id"


@pytest.fixture(scope="module")
def pooler(postgres_template: Template) -> Iterator[PgBouncer]:
    with server_directory() as directory:
        # Fewer connections than tasks: each is passed round between the tenants.
        yield PgBouncer.start(directory / "pooler", postgres_template.access, pool_size=4)


@pytest.fixture(scope="module")
def filled(postgres_template: Template) -> Iterator[FilledDatabase]:
    with filled_database(postgres_template, TENANTS) as filled:
        yield filled


def _through(pooler: PgBouncer, url: str) -> str:
    """The URL with the pooler's port."""
    parts = urlsplit(url)
    return url.replace(f":{parts.port}/", f":{pooler.port}/")


async def _interleave(
    url: str, filled: FilledDatabase, transactions: int = TRANSACTIONS
) -> tuple[int, int]:
    """How many transactions there were, and how many rows of other tenants they read.

    Each tenant writes at least once, so that each of its tickets ends with its id.
    """
    doors = PostgresDatabase(url, 12, name="test", is_pooled=True)
    foreign = done = 0

    async def visit(tenant: str, is_writing: bool) -> None:
        nonlocal foreign, done

        async def read(tx: Tx) -> list[str]:
            return [row["tenant_id"] for row in await tx.fetch_all(_ROWS, {})]

        async def read_and_change(tx: Tx) -> list[str]:
            seen = await read(tx)
            await tx.enqueue(_COUNT, {"tenant_id": tenant})
            return seen

        seen = await (doors.write if is_writing else doors.read)(
            read_and_change if is_writing else read, tenant
        )
        foreign += sum(of != tenant for of in seen) + (tenant not in seen)
        done += 1

    async def visit_many(visits: list[tuple[str, bool]]) -> None:
        for tenant, is_writing in visits:
            await visit(tenant, is_writing)

    turns = range(transactions // TENANTS)
    order = [(tenant, turn % 3 == 0) for turn in turns for tenant in filled.tenants]
    random.shuffle(order)
    await asyncio.gather(*(visit_many(order[first::12]) for first in range(12)))
    await doors.close()
    return done, foreign


def test_fifty_tenants_share_sessions_and_read_only_their_rows(
    pooler: PgBouncer, filled: FilledDatabase
) -> None:
    assert run(_interleave(_through(pooler, filled.runtime), filled)) == (TRANSACTIONS, 0)
    assert run(_misplaced(filled)) == []


async def _misplaced(filled: FilledDatabase) -> list[Row]:
    """The tickets that another tenant changed last: a change leaves the tenant's id in it."""
    sql = "SELECT tenant_id FROM tickets WHERE position(tenant_id IN subject) = 0 LIMIT 9"
    doors = PostgresDatabase(filled.owner, 1, name="test", is_pooled=False)
    rows = await doors.read(lambda tx: tx.fetch_all(sql, {}))
    await doors.close()
    return [*rows]


def test_a_tenant_set_for_the_session_would_be_seen_to_leak(
    pooler: PgBouncer, filled: FilledDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_for_the_session(tx: transaction.PostgresTx) -> None:
        """Set as it might be for a connection of one's own: before, not within, a transaction."""
        if not tx.is_open:
            name = f"SELECT set_config('sealdesk.tenant_id', '{tx.tenant_id or ''}', false)"
            await tx._connection.execute(name)
            await tx._connection.execute("BEGIN")
            tx.is_open = True
        await tx._flush()

    monkeypatch.setattr(transaction.PostgresTx, "open", open_for_the_session)
    done, foreign = run(_interleave(_through(pooler, filled.runtime), filled, 200))
    assert done == 200
    assert foreign > 0


@pytest.fixture(scope="module")
def service(
    pooler: PgBouncer, postgres_template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """The service behind the pooler."""
    with postgres_template.copied() as env:
        through = {**env, "SEALDESK_DATABASE_URL": _through(pooler, env["SEALDESK_DATABASE_URL"])}
        through["SEALDESK_DATABASE_POOLER"] = "transaction"
        # The tests' own doors, as the owner, go straight to the server: see Service.
        with running(tmp_path_factory.mktemp("pooled"), **through) as service:
            yield service


def test_service_works_behind_a_pooler(service: Service) -> None:
    tenant = service.tenant()
    key, admin = tenant.key(), tenant.admin()
    made = [key.ticket(subject=f"number {number}") for number in range(5)]
    assert [ticket["number"] for ticket in made] == [1, 2, 3, 4, 5]
    found = key.walk("/api/v1/external/tickets", per_page=2)
    assert {ticket["id"] for ticket in found} == {ticket["id"] for ticket in made}
    target = f"/api/v1/external/tickets/{made[0]['id']}"
    assert key.post(f"{target}/replies", {"body": "Hello"}).status_code == 201
    assert key.patch(target, {"status": "resolved"}).json()["data"]["reply_count"] == 1
    once = {"idempotency_key": "once"}
    twice = [key.post(f"{target}/replies", {"body": "Again"}, **once) for _ in range(2)]
    assert [answer.status_code for answer in twice] == [201, 201]
    assert twice[0].content == twice[1].content
    assert admin.delete(f"/api/v1/api-keys/{key.id}").status_code in (200, 204)
    assert key.get(target).status_code == 401
