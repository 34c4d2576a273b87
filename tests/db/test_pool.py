"""How long a request waits for connections of the pool."""

import asyncio
import time
from typing import Any

import asyncpg
import pytest
import uvloop

from sealdesk.db import deadline
from sealdesk.db.deadline import CONNECTION_WAIT_S as WAIT_S
from sealdesk.db.engine import Tx
from sealdesk.db.migrations.schema_version import read_version
from sealdesk.db.postgres.database import PostgresDatabase
from sealdesk.errors import ServiceUnavailable
from tests.support.databases import Template


def test_a_request_waits_once_for_all_its_connections(postgres_template: Template) -> None:
    async def hold(database: PostgresDatabase, for_s: float) -> None:
        async def sleep(tx: Tx) -> None:
            await tx.fetch_one("SELECT pg_sleep(:for_s)", {"for_s": for_s})

        await database.read(sleep)

    async def request(database: PostgresDatabase) -> None:
        deadline.deadline.set(deadline.Deadline())
        await hold(database, 0.0)
        await hold(database, 0.0)

    async def waited_s(url: str) -> float:
        database = PostgresDatabase(url, 1, name="test", is_pooled=False)
        try:
            await hold(database, 0.0)
            # The request has the connection between the first and the second who hold it.
            first = asyncio.create_task(hold(database, 0.6 * WAIT_S))
            await asyncio.sleep(0)
            began_at = time.monotonic()
            asked = asyncio.create_task(request(database))
            await asyncio.sleep(0)
            second = asyncio.create_task(hold(database, 0.8 * WAIT_S))
            with pytest.raises(ServiceUnavailable, match="All connections"):
                await asked
            took_s = time.monotonic() - began_at
            await asyncio.gather(first, second)
        finally:
            await database.close()
        return took_s

    with (
        postgres_template.copied() as env,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as run,
    ):
        took_s = run.run(waited_s(env["SEALDESK_DATABASE_URL"]))
    # Who waited anew behind the second would have waited for less than the longest, and got it.
    assert took_s > 0.9 * WAIT_S


def test_a_request_waits_once_for_all_its_statements(
    postgres_template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_all_s = 3.0

    async def sleep(tx: Tx) -> None:
        await tx.fetch_one("SELECT pg_sleep(:for_s)", {"for_s": next(for_s)})

    async def waited_s(url: str) -> float:
        database = PostgresDatabase(url, 2, name="test", is_pooled=False)
        deadline.deadline.set(deadline.Deadline())
        began_at = time.monotonic()
        try:
            await database.read(sleep)
            for _ in range(4):
                with pytest.raises(ServiceUnavailable):
                    await database.read(sleep)
        finally:
            await database.close()
        return time.monotonic() - began_at

    monkeypatch.setattr(deadline, "REQUEST_S", in_all_s)
    for_s = iter([0.3 * in_all_s, *[60.0] * 4])
    with (
        postgres_template.copied() as env,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as run,
    ):
        took_s = run.run(waited_s(env["SEALDESK_DATABASE_URL"]))
    # Each of four that waited anew would have taken all of it.
    assert 0.9 * in_all_s < took_s < 3 * in_all_s


def test_a_closed_pool_opens_no_connection(postgres_template: Template) -> None:
    """Otherwise a task that goes on would keep the process from ending."""

    async def read_after_close(url: str) -> None:
        database = PostgresDatabase(url, 1, name="test", is_pooled=False)
        await database.close()
        with pytest.raises(ServiceUnavailable):
            await database.read(read_version)

    with (
        postgres_template.copied() as env,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as run,
    ):
        run.run(read_after_close(env["SEALDESK_DATABASE_URL"]))


def test_a_connection_may_be_terminated_before_a_statement_is_sent(
    postgres_template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = vars(asyncpg.Connection)["_get_statement"]

    async def prepare_in_vain(connection: asyncpg.Connection, *args: Any, **named: Any) -> Any:
        statement = await prepare(connection, *args, **named)
        connection.terminate()  # as the deadline does
        return statement

    async def read_and_write(url: str) -> None:
        database = PostgresDatabase(url, 1, name="test", is_pooled=False)
        try:
            with monkeypatch.context() as patch:
                patch.setattr(asyncpg.Connection, "_get_statement", prepare_in_vain)
                for run in (database.read, database.write):
                    with pytest.raises(ServiceUnavailable):
                        await run(read_version)
            await database.read(read_version)
        finally:
            await database.close()

    with (
        postgres_template.copied() as env,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as run,
    ):
        run.run(read_and_write(env["SEALDESK_DATABASE_URL"]))
