"""A node of Citus is killed, and its standby takes its place, while tickets are written.

The nodes that are given must not be killed, so these are the test's own.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from tests.servers import Postgres, server_directory
from tests.servers.binaries import find_postgres
from tests.support.citus import Cluster, create_empty, migrate
from tests.support.client import Key
from tests.support.service import Service, random_key, running, wait_until

_NAME = "desk"
_SETTINGS: dict[str, str | int | bool] = {
    "shared_preload_libraries": "citus",
    "wal_level": "logical",
    "max_prepared_transactions": 200,
    "max_locks_per_transaction": 256,
    "max_replication_slots": 40,
    "max_wal_senders": 20,
    "max_worker_processes": 40,
    "citus.node_conninfo": "sslmode=prefer",  # Citus gives a certificate to no standby
}
# Nodes connect to each other as the role of the client.
_TRUST = """
local all all trust
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
"""
# docs/citus.md has the same statements.
_UPDATE = """
SELECT citus_update_node(nodeid, '127.0.0.1', {port}, force => true)
FROM pg_dist_node WHERE nodeport = {old_port}
"""
_RECOVER = "SELECT recover_prepared_transactions()"
_WRITERS = 4
_TICKETS = "/api/v1/external/tickets"
_TICKET = {
    "subject": "A subject",
    "description": "A description",
    "customer": {"email": "customer@example.test"},
}
_IDS = "SELECT id FROM tickets WHERE tenant_id = :id LIMIT 1000000"


class Servers(NamedTuple):
    """A coordinator, and a node that has all shards, with its synchronous standby."""

    coordinator: Postgres
    node: Postgres
    standby: Postgres

    def replace_node(self) -> None:
        """What an operator does when the node is lost."""
        self.standby.promote()
        update = _UPDATE.format(port=self.standby.port, old_port=self.node.port)
        self.coordinator.sql(update, _NAME)
        self.coordinator.sql(_RECOVER, _NAME)


@pytest.fixture
def servers() -> Iterator[Servers]:
    if not (find_postgres().parent / "lib" / "citus.so").exists():
        pytest.skip("Citus is installed for another PostgreSQL")
    with server_directory() as directory:
        coordinator, node = (_start(directory / name) for name in ("coordinator", "node"))
        standby = node.standby(directory / "standby")
        yield Servers(coordinator, node, standby)
        coordinator.stop("immediate")
        standby.stop("immediate")


def _start(directory: Path) -> Postgres:
    server = Postgres.start(directory, settings=_SETTINGS)
    (directory / "data" / "pg_hba.conf").write_text(_TRUST)
    server.sql("SELECT pg_reload_conf()")
    return server


@pytest.fixture
def service(servers: Servers, tmp_path: Path) -> Iterator[Service]:
    addresses = [f"127.0.0.1:{server.port}" for server in (servers.coordinator, servers.node)]
    env = create_empty(Cluster(servers.coordinator.superuser_url(), addresses), _NAME)
    migrate(env)
    keys = {"SEALDESK_MASTER_KEY": random_key(), "SEALDESK_JWT_SECRET": random_key()}
    with running(tmp_path, **env, **keys) as service:
        yield service


class Writing:
    """Writes until the end; a request that fails is sent again with its Idempotency-Key."""

    def __init__(self, keys: list[Key]) -> None:
        self._keys = keys
        self.end = threading.Event()
        self.acknowledged: dict[str, list[str]] = {key.id: [] for key in keys}
        self.refused: list[tuple[int, str]] = []

    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def write(self, number: int) -> None:
        key = self._keys[number % len(self._keys)]
        once = str(uuid4())
        while not self.end.is_set():
            answer = key.post(_TICKETS, _TICKET, idempotency_key=once)
            if answer.status_code == 201:
                self.acknowledged[key.id].append(answer.json()["data"]["id"])
                once = str(uuid4())
            else:
                self.refused.append((answer.status_code, answer.text))


def test_a_node_is_killed_and_replaced_by_its_standby_and_no_ticket_is_lost(
    servers: Servers, service: Service
) -> None:
    tenants = [service.tenant() for _ in range(2)]
    keys = [tenant.key() for tenant in tenants]
    writing = Writing(keys)
    with ThreadPoolExecutor(_WRITERS) as pool:
        writers = [pool.submit(writing.write, number) for number in range(_WRITERS)]
        try:
            wait_until(lambda: writing.count() >= 20)
            servers.node.kill()
            wait_until(lambda: bool(writing.refused))
            before = writing.count()
            servers.replace_node()
            wait_until(lambda: writing.count() >= before + 20)
        finally:
            writing.end.set()
        for each in writers:
            each.result()
    assert {status for status, _ in writing.refused} <= {503, 409}, writing.refused
    for tenant, key in zip(tenants, keys, strict=True):
        stored = {row["id"] for row in service.rows(_IDS, id=tenant.id)}
        # The last request of a writer may have been stored without an answer.
        assert {*writing.acknowledged[key.id]} <= stored
        assert len(stored) <= len(writing.acknowledged[key.id]) + _WRITERS
