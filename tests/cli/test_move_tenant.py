"""`sealdesk move --tenant` moves one tenant between two installations that serve meanwhile."""

import shlex
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.cli.terminal import Terminal
from tests.support.client import Key
from tests.support.databases import Template
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service, Tenant, random_key, running, wait_until

pytestmark = pytest.mark.timeout(240)
TICKETS = "/api/v1/external/tickets"
_NEW = {
    "subject": "A subject",
    "description": "A description",
    "customer": {"email": "customer@example.test"},
}


class Cells(NamedTuple):
    """Two installations with one master key. shell: where commands run. folder: for their files."""

    source: Service
    target: Service
    shell: Terminal
    folder: Path

    def urls(self) -> tuple[str, ...]:
        """The options that name both."""
        here, there = (each.settings.owner_database_url for each in (self.source, self.target))
        return ("--from", here, "--to", there)

    def move(self, tenant: Tenant, *options: str) -> str:
        """Move a tenant; the output."""
        return self.shell.out("move", "--tenant", tenant.id, *self.urls(), *options)

    def refused(self, tenant: Tenant, *options: str) -> str:
        return self.shell.refused("move", "--tenant", tenant.id, *self.urls(), *options)


class Proxy:
    """Sends each request of a key to the installation that a file names when it exists."""

    def __init__(self, cells: Cells, key: Key) -> None:
        self.switched = cells.folder / "switched"
        self.command = f"touch {shlex.quote(str(self.switched))}"
        self._keys = [
            Key(service, key.id, key.api_key, key.api_secret)
            for service in (cells.source, cells.target)
        ]

    @property
    def key(self) -> Key:
        return self._keys[self.switched.exists()]

    def post(self, target: str, body: Any, idempotency_key: str) -> tuple[httpx.Response, int]:
        """Send it until it is not refused because of the move; and how often it was."""
        refused = 0
        while True:
            answer = self.key.post(target, body, idempotency_key=idempotency_key)
            if answer.status_code != 503:
                return answer, refused
            assert "moved" in answer.json()["detail"]
            assert int(answer.headers["retry-after"]) > 0
            refused += 1
            time.sleep(0.02)


@pytest.fixture
def cells(postgres_template: Template, tmp_path: Path) -> Iterator[Cells]:
    master_key = random_key()
    with ExitStack() as stack:
        services = []
        for name in ("source", "target"):
            urls = stack.enter_context(postgres_template.copied())
            env = {**urls, **LOOPBACK, "SEALDESK_MASTER_KEY": master_key}
            (tmp_path / name).mkdir()
            services.append(stack.enter_context(running(tmp_path / name, **env)))
        (tmp_path / "data").mkdir()
        shell = Terminal(tmp_path / "data", SEALDESK_MASTER_KEY=master_key)
        yield Cells(services[0], services[1], shell, tmp_path)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def at(service: Service, key: Key) -> Key:
    return Key(service, key.id, key.api_key, key.api_secret)


def test_a_tenant_is_moved_under_signed_writes(cells: Cells, receiver: Receiver) -> None:
    tenant, other = cells.source.tenant(), cells.source.tenant()
    other_key, proxy = other.key(), Proxy(cells, tenant.key())
    hook = {"url": receiver.url, "events": ["ticket.created"]}
    assert tenant.admin().post("/api/v1/webhooks", hook).status_code == 201
    end = threading.Event()
    made: list[str] = []
    others: list[str] = []

    def write(number: int) -> None:
        count = 0
        while not end.is_set():
            count += 1
            answer, _ = proxy.post(TICKETS, _NEW, f"{number}-{count}")
            assert answer.status_code == 201, answer.text
            made.append(answer.json()["data"]["id"])

    def write_other() -> None:
        while not end.is_set():
            others.append(other_key.ticket()["id"])

    with ThreadPoolExecutor(4) as pool:
        writing = [*(pool.submit(write, number) for number in range(3)), pool.submit(write_other)]
        try:
            wait_until(lambda: len(made) > 20)
            output = cells.move(tenant, "--switch", proxy.command)
            moved_at = len(made)
            wait_until(lambda: len(made) > moved_at + 20)
        finally:
            end.set()
        for each in writing:
            each.result()
    assert "Writes of the tenant were refused for" in output
    stored = [row["id"] for row in proxy.key.walk(TICKETS, per_page=100)]
    assert Counter(stored) == Counter(made)
    numbers = cells.target.rows(
        "SELECT number FROM tickets WHERE tenant_id = :id ORDER BY number LIMIT 100000",
        id=tenant.id,
    )
    assert [row["number"] for row in numbers] == [*range(1, len(made) + 1)]
    wait_until(lambda: len({got.webhook_id for got in receiver.got}) == len(made))
    cells.target.settle()
    assert len(receiver.got) == len(made)
    assert {row["id"] for row in other_key.walk(TICKETS, per_page=100)} == {*others}
