"""`sealdesk move --tenant` moves one tenant between two installations that serve meanwhile."""

import asyncio
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import httpx
import pytest

from tests.cli.commands import PROGRAM
from tests.cli.terminal import Terminal
from tests.support.client import Key, Person
from tests.support.databases import Template
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service, Tenant, random_key, running, wait_until

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
        self.switched = cells.folder / f"switched-{key.id}"
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


@pytest.fixture(scope="module")
def cells(postgres_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    tmp_path = tmp_path_factory.mktemp("cells")
    master_key = random_key()
    with ExitStack() as stack:
        services = []
        for name in ("source", "target"):
            urls = stack.enter_context(postgres_template.copied())
            env = {**urls, **LOOPBACK, "SEALDESK_MASTER_KEY": master_key}
            (tmp_path / name).mkdir()
            services.append(stack.enter_context(running(tmp_path / name, **env)))
        # A search index that is being built is not moved.
        rebuilt = "SELECT 1 FROM search_rebuilds WHERE tenant_id IS NULL LIMIT 3"
        wait_until(lambda: len(services[0].rows(rebuilt)) == 2)
        (tmp_path / "data").mkdir()
        shell = Terminal(tmp_path / "data", SEALDESK_MASTER_KEY=master_key)
        yield Cells(services[0], services[1], shell, tmp_path)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@contextmanager
def locked(service: Service, table: str) -> Iterator[None]:
    """A table that can be read, and neither written nor altered."""
    url = service.settings.owner_database_url

    async def lock() -> asyncpg.Connection:
        connection = await asyncpg.connect(url)
        await connection.execute(f"BEGIN; LOCK TABLE {table} IN SHARE MODE")
        return connection

    with asyncio.Runner() as runner:
        connection = runner.run(lock())
        try:
            yield
        finally:
            runner.run(connection.close())


@contextmanager
def started(words: list[str], shell: Terminal) -> Iterator[subprocess.Popen[str]]:
    """A command that runs, at the latest until the end of the block."""
    with subprocess.Popen(
        words,
        env={**shell.env, "TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def at(service: Service, key: Key) -> Key:
    return Key(service, key.id, key.api_key, key.api_secret)


@pytest.mark.prove
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


@pytest.mark.prove
def test_a_failed_switch_is_followed_by_the_same_command(cells: Cells, receiver: Receiver) -> None:
    tenant = cells.source.tenant()
    key, user = tenant.key(), tenant.admin()
    hook = {"url": receiver.url, "events": ["ticket.created"]}
    assert user.post("/api/v1/webhooks", hook).status_code == 201
    file = key.attachment("notes.txt", b"the notes")
    first = key.post(TICKETS, {**_NEW, "attachment_ids": [file["id"]]}, idempotency_key="first")
    tickets = [first.json()["data"], *(key.ticket() for _ in range(4))]
    page = key.get(f"{TICKETS}?per_page=2").json()
    failed = cells.shell.run("move", "--tenant", tenant.id, *cells.urls(), "--switch", "kill -9 $$")
    assert failed.returncode == 1
    assert "the command of --switch ended with -9. The target serves" in failed.stderr
    there = at(cells.target, key)
    assert key.post(TICKETS, _NEW).status_code == 503
    assert key.get(f"{TICKETS}/{tickets[0]['id']}").json()["data"] == tickets[0]
    tickets.append(there.ticket())
    assert tickets[-1]["number"] == 6
    wait_until(lambda: len(receiver.got) == 6)
    again = there.post(TICKETS, {**_NEW, "attachment_ids": [file["id"]]}, idempotency_key="first")
    assert again.json() == first.json()
    rest = there.get(f"{TICKETS}?per_page=2&cursor={page['meta']['next_cursor']}").json()
    seen = [row["number"] for row in [*page["data"], *rest["data"]]]
    assert seen == [5, 4, 3, 2]

    folders = (cells.source.settings.data_dir, cells.target.settings.data_dir)
    copy = "cp -r {}/attachments {}".format(*folders)
    assert "closed at the source" in cells.move(tenant, "--switch", copy)
    assert key.get(TICKETS).status_code == 401
    assert user.get("/api/v1/webhooks").status_code == 401
    session = Person(cells.target, user.token)
    assert session.get("/api/v1/webhooks").status_code == 401
    session = cells.target.log_in(tenant.admin_email)
    assert len(session.get("/api/v1/webhooks").json()["data"]) == 1
    target = f"/api/v1/external/attachments/{file['id']}/content"
    assert there.get(target).content == b"the notes"
    assert len(receiver.got) == 6

    cells.shell.out("move", "--tenant", tenant.id, *cells.urls()[:2], "--delete-source")
    assert not cells.source.rows("SELECT 1 FROM tickets WHERE tenant_id = :id", id=tenant.id)
    assert len(there.walk(TICKETS, per_page=100)) == 6


def test_a_move_that_was_stopped_is_abandoned(cells: Cells) -> None:
    tenant = cells.source.tenant()
    key = tenant.key()
    ticket = key.ticket()
    with locked(cells.target, "tickets"):
        words = ["move", "--tenant", tenant.id, *cells.urls(), "--switch", "true"]
        with started([str(PROGRAM), *words], cells.shell) as process:
            schema = f"sealdesk_move_{tenant.id.replace('-', '')}"
            marks = "SELECT 1 FROM pg_policies WHERE policyname = :schema LIMIT 1"
            wait_until(lambda: bool(cells.target.rows(marks, schema=schema)))
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
    assert process.returncode == 130
    assert "run the same command again" in said
    assert "--abandon undoes the move" in said
    key.ticket()
    output = cells.shell.out("move", "--tenant", tenant.id, *cells.urls(), "--abandon")
    assert output == (
        f"The move of {tenant.id} is undone: the source serves it, and the target has no rows.\n"
    )
    for service in (cells.source, cells.target):
        assert not service.rows(marks, schema=schema)
    assert not cells.target.rows("SELECT 1 FROM tenants WHERE id = :id", id=tenant.id)
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket
    assert at(cells.target, key).get(TICKETS).status_code == 401


@pytest.mark.prove
def test_a_person_is_asked_to_switch_the_requests(cells: Cells) -> None:
    tenant = cells.source.tenant()
    key = tenant.key()
    key.ticket()
    words = [str(PROGRAM), "move", "--tenant", tenant.id, *cells.urls()]
    screen = cells.folder / "screen"
    with started(["script", "-qec", shlex.join(words), str(screen)], cells.shell) as process:
        wait_until(lambda: at(cells.target, key).get(TICKETS).status_code == 200)
        process.communicate("\n")
    assert process.returncode == 0
    # The terminal may echo the typed key between the bytes of one drawn character.
    seen = screen.read_text(errors="replace")
    assert "Let the tenant's requests reach the target now, then press Enter:" in seen
    for stage in ("copy", "check"):  # of which table is a question of time
        assert re.search(f"{stage} [a-z_]+", seen)
    assert "closed at the source" in seen
    assert key.get(TICKETS).status_code == 401


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--switch", "true"), "need --tenant"),
        (("--abandon",), "need --tenant"),
        (("--delete-source",), "need --tenant"),
        (("--tenant", "x", "--restart"), "use --abandon"),
        (("--tenant", "x", "--to", "sqlite:///a.db"), "--to must be postgresql://"),
        (("--tenant", "x", "--from", "sqlite:///a.db"), "--from must be postgresql://"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    cells: Cells, options: tuple[str, ...], reason: str
) -> None:
    done = cells.shell.run("move", "--from", "postgresql://a@b/c", *options)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())


def test_without_a_terminal_a_move_needs_its_switch(cells: Cells) -> None:
    reason = cells.refused(cells.source.tenant())
    assert "--switch is missing" in reason
    assert "Only on a terminal" in reason


def test_source_and_target_are_different(cells: Cells) -> None:
    tenant = cells.source.tenant()
    url = cells.source.settings.owner_database_url
    words = ("move", "--tenant", tenant.id, "--from", url, "--to", url, "--switch", "true")
    assert "the source and the target are the same" in cells.shell.refused(*words)
