"""Measures the receiver of e-mail: messages a second, and the memory of a large message."""

import asyncio
import base64
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.mail_client import send_messages
from bench.load.rounds import ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server
from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli.installation import Installation, open_database_access, prepare_sqlite
from sealdesk.identity import actions as identity
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import NewMailbox
from sealdesk.settings import Settings, from_env

_MIB = 1024 * 1024
_CONNECTIONS = 16
_SIZE = 20 * 1024
_LARGE_SIZE = 24 * _MIB  # just below the limit of the receiver
_MAILBOX = "support@bench.test"
_LINE = b"The bowl arrived broken, and I would like to have another one.\r\n"


class _Round(NamedTuple):
    messages_per_s: float
    cpu_ms: float
    large_mib: float


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure in an installation of its own. Raises WrongResponse."""
    rounds = []
    for number in range(1, plan.rounds + 1):
        show_progress(f"messages by SMTP: {number} of {plan.rounds}")
        with tempfile.TemporaryDirectory(dir=data.settings.data_dir.parent) as directory:
            rounds.append(_measure(Path(directory), plan.mail_messages))
    rates, cpu_ms, large_mib = map(list, zip(*rounds, strict=True))
    return Results(
        [
            Figure("messages of 20 KiB that are received", "/s", True, 150, 150, rates),
            Figure("CPU of the server for such a message", "ms", False, None, None, cpu_ms),
            Figure("memory that a message of 24 MiB adds", "MiB", False, 40, 40, large_mib),
        ],
        {},
    )


def _measure(directory: Path, count: int) -> _Round:
    settings = from_env({"SEALDESK_DATA_DIR": str(directory)})
    _add_mailbox(settings)
    with _receiving(settings) as (server, port):
        warm_up, measured = _messages(count // 10), _messages(count, start=count)
        asyncio.run(send_messages(port, _MAILBOX, warm_up, _CONNECTIONS))
        started_s, started_cpu_s = time.perf_counter(), server.precise_cpu_s()
        asyncio.run(send_messages(port, _MAILBOX, measured, _CONNECTIONS))
        elapsed_s = time.perf_counter() - started_s
        cpu_ms = (server.precise_cpu_s() - started_cpu_s) / count * 1000
        before_mib = server.rss_mib()
        asyncio.run(send_messages(port, _MAILBOX, iter([_large_message()]), 1))
        return _Round(count / elapsed_s, cpu_ms, server.peak_rss_mib() - before_mib)


def _add_mailbox(settings: Settings) -> None:
    prepare_sqlite(settings)
    with open_database_access(settings) as access:
        made = Installation(settings, access)
        now_us = made.clock.now_us()
        tenant = made.write(
            lambda tx: identity.create_tenant(tx, "Bench", actor=SYSTEM, now_us=now_us)
        )
        caller = Caller(tenant.id, SYSTEM, frozenset(), "")
        new = NewMailbox(address=_MAILBOX, receives="smtp")
        made.write(
            lambda tx: mailboxes.create_mailbox(
                tx, caller, new, key_ring=made.key_ring, now_us=now_us
            )
        )


@contextmanager
def _receiving(settings: Settings) -> Iterator[tuple[Server, int]]:
    """A server that receives e-mail, and the port where it does."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    env = {"SEALDESK_MAIL_LISTEN": f"127.0.0.1:{port}"}
    with Cores() as cores, processes.sealdesk(settings, cores, env) as server:
        yield server, port


def _messages(count: int, start: int = 0) -> Iterator[bytes]:
    """Messages of different people, of whom none writes too many."""
    text = _LINE * (_SIZE // len(_LINE))
    for number in range(start, start + count):
        yield _head(f"{number}@example.test") + b"\r\n" + text


def _large_message() -> bytes:
    """A message with a file, in base64."""
    encoded = base64.encodebytes(os.urandom(_LARGE_SIZE * 3 // 4)).replace(b"\n", b"\r\n")
    head = _head("large@example.test") + b"Content-Type: application/zip; name=a.zip\r\n"
    return head + b"Content-Transfer-Encoding: base64\r\n\r\n" + encoded


def _head(sender: str) -> bytes:
    lines = (
        f"From: {sender}",
        f"To: {_MAILBOX}",
        "Subject: A broken bowl",
        f"Message-ID: <{sender}>",
    )
    return "".join(f"{line}\r\n" for line in lines).encode()
