"""A newer version of Sealdesk beside one that serves, and clients meanwhile."""

import asyncio
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import httpx

from sealdesk.cli.upgrade import target as targets
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.settings import Settings
from tests.cli.commands import Command, start_command
from tests.cli.terminal import Terminal
from tests.support.client import Key
from tests.support.service import Service, wait_until

TICKETS = "/api/v1/external/tickets"
NEW = {"subject": "S", "description": "D", "customer": {"email": "customer@example.test"}}
# Of tables that each request reads and the worker changes.
CHANGES = [
    f'op.add_column("{table}", sa.Column("colour", sa.Text))'
    for table in ("tickets", "api_keys", "events", "tenants", "customers", "replies")
]
WAITS_FOR_TABLE = """
SELECT pid FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND database =
    (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1
"""
MAIN = "import sys; from sealdesk.cli.program import main; sys.exit(main())"


class Load:
    """A client that opens and reads tickets. statuses: of all responses. url: of another node.

    It repeats what is refused with 503, as clients do: a slow machine changes a table for longer
    than requests wait. Once a minute has passed it takes the refusal for the answer.
    """

    def __init__(self, key: Key, url: str = "") -> None:
        self._url = url
        self.statuses: list[int] = []
        self.ids: list[str] = []
        self._key = key

    def _run(self, is_over: threading.Event) -> None:
        while not is_over.wait(0.01):
            opened = self._send("POST", json.dumps(NEW).encode())
            self.statuses.append(opened.status_code)
            if opened.status_code == 201:
                self.ids.append(opened.json()["data"]["id"])
            self.statuses.append(self._send("GET", b"").status_code)

    def _send(self, method: str, content: bytes) -> httpx.Response:
        deadline = time.monotonic() + 60
        while True:
            answer = self._send_once(method, content)
            if answer.status_code != 503 or time.monotonic() > deadline:
                return answer

    def _send_once(self, method: str, content: bytes) -> httpx.Response:
        if not self._url:
            return self._key.call(method, TICKETS, content=content)
        headers = {"content-type": "application/json"} if content else {}
        headers |= self._key.signature_headers(method, TICKETS, content)
        url = f"{self._url}{TICKETS}"
        return httpx.request(method, url, content=content, headers=headers, timeout=120)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        is_over = threading.Event()
        thread = threading.Thread(target=self._run, args=(is_over,))
        thread.start()
        try:
            wait_until(lambda: len(self.ids) >= 5)
            yield self
        finally:
            is_over.set()
            thread.join()


@contextmanager
def background(terminal: Terminal, *commands: str) -> Iterator[list[Command]]:
    """Processes of this version, which end with SIGTERM."""
    running = [start_command(command, env=terminal.env) for command in commands]
    try:
        yield running
    finally:
        for process in running:
            process.terminate()
            process.wait()


def kill_at_random(newer: Terminal) -> None:
    words = ("upgrade", "--yes", "--no-backup")
    with start_command(*words, env=newer.env, is_group=True) as command:
        try:
            command.wait(random.uniform(0, 2))
        except subprocess.TimeoutExpired:
            os.killpg(command.pid, signal.SIGKILL)


@contextmanager
def in_use(service: Service, table: str) -> Iterator[None]:
    """A transaction that reads a table, and goes on."""
    with asyncio.Runner() as runner:
        url = service.settings.owner_database_url
        connection = runner.run(asyncpg.connect(url))
        try:
            runner.run(connection.execute(f"BEGIN; LOCK TABLE {table} IN ACCESS SHARE MODE"))
            yield
        finally:
            runner.run(connection.close())


def refusal_as(uid: int, settings: Settings) -> str:
    """Why a process of another user may not upgrade."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setuid(uid)
            with targets.alone(settings):
                os.write(writing, b"it may")
        except Unusable as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        refusal = told.read()
    os.waitpid(child, 0)
    return refusal
