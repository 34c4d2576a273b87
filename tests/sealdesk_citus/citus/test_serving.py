"""Two services, each beside a node of Citus, on one database."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from asyncpg import Connection

from sealdesk_citus import nodes
from tests.support.citus import on_nodes
from tests.support.client import Key
from tests.support.databases import new_on_citus
from tests.support.service import Service, running
from tests.support.tenant_rows import run

_COPIES = 100
_TICKETS = "/api/v1/external/tickets"
_TICKET = {
    "subject": "A subject",
    "description": "A description",
    "customer": {"email": "customer@example.test"},
}
_COUNT = "SELECT count(*) AS count FROM tickets WHERE tenant_id = :id"
_IDS = "SELECT id FROM tickets WHERE tenant_id = :id LIMIT 1000000"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Service]]:
    with ExitStack() as stack:
        envs = on_nodes(stack.enter_context(new_on_citus()))
        yield [stack.enter_context(running(tmp_path_factory.mktemp("data"), **env)) for env in envs]


@pytest.fixture
def keys(services: list[Service]) -> list[Key]:
    """One key of a new tenant, at each service."""
    key = services[0].tenant().key()
    return [Key(service, key.id, key.api_key, key.api_secret) for service in services]


def tenant_of(key: Key) -> str:
    sql = "SELECT tenant_id FROM api_key_directory WHERE key_id = :id"
    return str(key.service.rows(sql, id=key.id)[0]["tenant_id"])


def test_the_services_are_beside_different_nodes(services: list[Service]) -> None:
    ports = {service.settings.database_url.rpartition(":")[2] for service in services}
    assert len(ports) == len(services) == 2


def test_copies_of_a_request_at_two_nodes_make_one_ticket(keys: list[Key]) -> None:
    ready = threading.Barrier(_COPIES)

    def create(number: int) -> int:
        ready.wait()
        key = keys[number % len(keys)]
        return key.post(_TICKETS, _TICKET, idempotency_key="one").status_code

    with ThreadPoolExecutor(_COPIES) as pool:
        statuses = {*pool.map(create, range(_COPIES))}
    assert 201 in statuses <= {201, 409, 503}  # 503: a busy service has no connection left
    assert keys[0].service.rows(_COUNT, id=tenant_of(keys[0]))[0]["count"] == 1


def test_what_one_service_has_acknowledged_the_other_shows(keys: list[Key]) -> None:
    here, there = keys
    for _ in range(10):
        ticket = here.ticket()
        assert there.get(f"{_TICKETS}/{ticket['id']}").json()["data"]["id"] == ticket["id"]
        here, there = there, here


def test_a_tenant_is_moved_under_signed_writes_and_none_is_lost(keys: list[Key]) -> None:
    tenant_id, end = tenant_of(keys[0]), threading.Event()
    acknowledged: list[str] = []
    refused: list[Any] = []

    def write(key: Key) -> None:
        while not end.is_set():
            answer = key.post(_TICKETS, _TICKET)
            if answer.status_code == 201:
                acknowledged.append(answer.json()["data"]["id"])
            else:
                refused.append((answer.status_code, answer.text))

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, key) for key in keys * 2]
        try:
            places = move_twice(keys[0].service.settings.owner_database_url, tenant_id)
        finally:
            end.set()
        for each in writing:
            each.result()
    assert len({*places}) == 2
    assert refused == []
    stored = {row["id"] for row in keys[0].service.rows(_IDS, id=tenant_id)}
    assert stored == {*acknowledged}
    assert len(stored) > 10


def move_twice(owner_url: str, tenant_id: str) -> list[str]:
    """Move the shard of a tenant to another node and back; where it was after each move."""

    async def work() -> list[str]:
        async with nodes.opened(owner_url) as connection:
            shard = await nodes.find_shard(connection, tenant_id)
            listed = await nodes.list_nodes(connection, 0.1)
            others = [each.node for each in listed if not each.is_coordinator]
            reached = [await _place(connection, shard)]
            for _ in range(2):
                target = next(node for node in others if node != reached[-1])
                assert await nodes.move(connection, owner_url, shard, target, lambda *_: None)
                reached.append(await _place(connection, shard))
            return reached[1:]

    return run(work())


async def _place(connection: Connection, shard: int) -> str:
    shards = await nodes.list_shards(connection)
    return str(next(each["node"] for each in shards if each["shard"] == shard))
