"""Messages are sent to a receiver that is killed again and again; each gives one ticket."""

import os
import random
import smtplib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from tests.cli.commands import Command, start_command
from tests.mail.support import Desk, message, receiving
from tests.servers import free_port
from tests.servers.process import accepts
from tests.support.service import Service, running

_GIVE_UP_S = 600.0


class Place(NamedTuple):
    """An installation with a mailbox. env: the settings of its processes. template: of SQLite."""

    data_dir: Path
    env: dict[str, str]
    template: Path | None
    address: str
    tenant_id: str
    port: int

    @property
    def command(self) -> list[str]:
        name = "mail" if "SEALDESK_DATABASE_URL" in self.env else "serve"
        return [name, *(["--port", "0"] if name == "serve" else [])]

    def tickets(self) -> list[str]:
        """The subjects of all tickets, of the processes that have ended."""
        with self.looked_at() as service:
            sql = "SELECT subject FROM tickets WHERE tenant_id = :tenant ORDER BY id LIMIT 99999"
            return [row["subject"] for row in service.rows(sql, tenant=self.tenant_id)]

    def has_message(self) -> bool:
        """Whether a message is stored."""
        with self.looked_at() as service:
            return bool(service.rows("SELECT 1 FROM received_messages LIMIT 1"))

    @contextmanager
    def looked_at(self) -> Iterator[Service]:
        with running(self.data_dir, self.template, **self.env) as service:
            yield service


def prepare(data_dir: Path, template: Path | None, env: dict[str, str]) -> Place:
    """A new installation with a mailbox."""
    with (
        running(data_dir, template, **env) as service,
        receiving(service) as receiver,
    ):
        desk = Desk(receiver)
        return Place(data_dir, env, template, desk.address, desk.tenant.id, free_port())


@contextmanager
def received(place: Place) -> Iterator[Command]:
    """A process that receives; killed in the end."""
    bare = {name: it for name, it in os.environ.items() if not name.startswith("SEALDESK_")}
    listen = {"SEALDESK_MAIL_LISTEN": f"127.0.0.1:{place.port}"}
    own = {"SEALDESK_DATA_DIR": str(place.data_dir), **place.env, **listen}
    process = start_command(*place.command, env=bare | own)
    try:
        while not accepts(place.port):
            assert process.poll() is None, "the receiver did not start"
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def send(place: Place, raw: bytes) -> None:
    """Send a message. Raises what smtplib raises, also when the process is killed meanwhile."""
    with smtplib.SMTP("127.0.0.1", place.port, timeout=120) as client:
        client.sendmail("<>", [place.address], raw)


def send_all(place: Place, count: int, *, kill_every_s: float) -> int:
    """Send so many messages, each until it is taken; how often the receiver was killed."""
    waiting: SimpleQueue[bytes] = SimpleQueue()
    for number in range(count):
        # Of several senders: one of them may open 10 tickets in 10 minutes.
        sender = f"person{number}@example.test"
        waiting.put(message(subject=f"Number {number}", sender=sender))
    done = threading.Semaphore(0)
    has_ended = threading.Event()

    def send_some() -> None:
        while not has_ended.is_set():
            try:
                raw = waiting.get_nowait()
            except Empty:
                time.sleep(0.05)
                continue
            try:
                send(place, raw)
            except (OSError, smtplib.SMTPException):
                waiting.put(raw)
                time.sleep(0.05)
            else:
                done.release()

    kills = 0
    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(send_some)
        deadline = time.monotonic() + _GIVE_UP_S
        left = count
        try:
            while left:
                assert time.monotonic() < deadline, f"{left} messages were not taken"
                with received(place):
                    until = time.monotonic() + kill_every_s * random.uniform(0.7, 1.3)
                    while left and (rest := until - time.monotonic()) > 0:
                        left -= done.acquire(timeout=rest)
                kills += 1
        finally:
            has_ended.set()
    return kills


def send_without_reading(place: Place, raw: bytes) -> smtplib.SMTP:
    """Send a message up to its end, and do not read the answer."""
    client = smtplib.SMTP("127.0.0.1", place.port, timeout=120)
    client.ehlo()
    for command in ("MAIL FROM:<ann@example.test>", f"RCPT TO:<{place.address}>", "DATA"):
        client.docmd(command)
    client.send(raw + b".\r\n")
    return client


def close(client: smtplib.SMTP) -> None:
    with suppress(OSError, smtplib.SMTPException):
        client.close()
