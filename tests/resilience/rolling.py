"""Restarts of two nodes behind HAProxy, one after the other, while clients read and write."""

import asyncio
import csv
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop

from tests.deploy import files
from tests.deploy.files import Certificate, Ports
from tests.resilience.connections import Connection, Key, Response
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import Installation
from tests.resilience.read_after_write import TICKETS, new_ticket
from tests.servers import Haproxy, free_port
from tests.servers.process import START_S, Process, accepts, environment

TARGETS = (
    Target("failed", "=", 0),
    Target("lost_or_doubled", "=", 0),
    Target("not_drained", "=", 0),
    Target("slowest_end_s", "≤", 10.0),
)
_PROGRAM = "import sys; from sealdesk.cli import main; sys.exit(main())"
_CLIENTS = 12
_PAUSE_S = 0.01
_LOOK_S = 0.05


class Node:
    """One serving process, always at the same port."""

    def __init__(self, directory: Path, env: dict[str, str]) -> None:
        self.port = free_port()
        self._log = directory / f"node{self.port}.log"
        path = os.environ.get("PYTHONPATH")
        self._env = environment(**env, **({"PYTHONPATH": path} if path else {}))
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", _PROGRAM, "serve", "--port", str(self.port)]
        self.process = Process("sealdesk serve", command, self._log, env=self._env)

    def is_serving(self) -> bool:
        return accepts(self.port)


class _Load:
    """Clients that run until they are told to stop, and what they observed."""

    def __init__(self, port: int, key: Key) -> None:
        self._port = port
        self._key = key
        self.is_finished = False
        self.requests = self.written = 0
        self.failed: list[str] = []
        self.slowest_s = 0.0

    async def run_client(self, number: int) -> None:
        """Odd clients write; every second pair opens a connection per request."""
        connection = Connection(self._port)
        while not self.is_finished:
            if number % 2:
                body = new_ticket(f"{number} {self.requests}")
                response = await connection.send(self._key.request("POST", TICKETS, body))
                self.written += response.status == 201
            else:
                response = await connection.send(self._key.request("GET", f"{TICKETS}?per_page=5"))
            self._record(response)
            if number // 2 % 2:
                connection.close()
            await asyncio.sleep(_PAUSE_S)
        connection.close()

    def _record(self, response: Response) -> None:
        self.requests += 1
        self.slowest_s = max(self.slowest_s, response.took_s)
        if not response.is_good:
            self.failed.append(f"{response.status} {response.body[:200]!r}")


def run(
    installation: Installation,
    *,
    restarts: int = 10,
    notice_s: int = 3,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Restart both nodes `restarts` times, with the configuration that is shipped; the figures.

    notice_s: SEALDESK_DRAIN_NOTICE_S. HAProxy needs 1.5 s to stop using a node.
    """
    directory = installation.directory
    env = {**installation.env, "SEALDESK_DRAIN_NOTICE_S": str(notice_s)}
    before = _count_tickets(installation)
    nodes = [Node(directory, env) for _ in range(2)]
    try:
        for node in nodes:
            node.process.wait_until(node.is_serving)
        with (
            _haproxy(directory, nodes) as port,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            load = _Load(port, installation.key)
            figures = runner.run(_measure(directory, nodes, load, restarts, progress))
    finally:
        for node in nodes:
            node.process.kill()
    return {
        **figures,
        "lost_or_doubled": abs(_count_tickets(installation) - before - load.written),
    }


def _count_tickets(installation: Installation) -> int:
    (count,) = installation.primary.sql("SELECT count(*) FROM tickets", installation.database)
    return int(count)


@contextmanager
def _haproxy(directory: Path, nodes: list[Node]) -> Iterator[int]:
    """HAProxy before both nodes; its port."""
    ports = Ports(free_port(), free_port(), (nodes[0].port, nodes[1].port))
    more = {  # TLS is not measured here
        f":{ports.tls} ssl crt ": f":{ports.tls} # ssl crt ",
        " v6only ssl crt ": " v6only # ssl crt ",
        "\nglobal\n": f"\nglobal\n    stats socket {directory}/admin\n",
    }
    haproxy = Haproxy.start(
        directory / "haproxy", files.haproxy(Certificate(directory), ports, more)
    )
    try:
        yield ports.tls
    finally:
        haproxy.kill()


async def _measure(
    directory: Path, nodes: list[Node], load: _Load, restarts: int, progress: Progress
) -> dict[str, Any]:
    began_at = time.monotonic()
    clients = [asyncio.create_task(load.run_client(number)) for number in range(_CLIENTS)]
    ends = []
    for number in range(restarts):
        for node in nodes:
            ends.append(await asyncio.to_thread(_end, node))
            node.start()
            await asyncio.to_thread(node.process.wait_until, node.is_serving)
            await asyncio.to_thread(_wait_until_both_are_up, directory)
        progress(number + 1, restarts)
    load.is_finished = True
    await asyncio.gather(*clients)
    return {
        "restarts": restarts,
        "processes_ended": len(ends),
        "requests": load.requests,
        "written": load.written,
        "failed": len(load.failed),
        "first_failed": load.failed[:3],
        "not_drained": sum(code != 0 for code, _ in ends),
        "slowest_end_s": round(max(took_s for _, took_s in ends), 2),
        "slowest_answer_s": round(load.slowest_s, 3),
        "seconds": round(time.monotonic() - began_at, 1),
    }


def _end(node: Node) -> tuple[int | None, float]:
    """Stop a node; its exit code, and how long it took, in seconds."""
    asked_at = time.monotonic()
    node.process.stop()
    return node.process.exit_code(), time.monotonic() - asked_at


def _wait_until_both_are_up(directory: Path) -> None:
    """As HAProxy sees it."""
    until = time.monotonic() + START_S
    while _count_up(directory) < 2:
        assert time.monotonic() < until, "HAProxy does not see both nodes"
        time.sleep(_LOOK_S)


def _count_up(directory: Path) -> int:
    with socket.socket(socket.AF_UNIX) as admin:
        admin.connect(f"{directory}/admin")
        admin.sendall(b"show stat\n")
        text = b"".join(iter(lambda: admin.recv(65536), b"")).decode()
    rows = csv.DictReader(text.removeprefix("# ").splitlines())
    servers = [row for row in rows if row["svname"] in ("one", "two")]
    return sum(row["status"].startswith("UP") for row in servers)
