"""Measures the receiver of e-mail: messages a second, and the memory of a large message."""

import asyncio
import base64
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from bench.databases import empty
from bench.databases.empty import NewInstallation
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.mail_client import send_messages
from bench.load.rounds import POSTGRES_SUFFIX, ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores
from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli.installation import Installation, open_database_access
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


class _Rounds(NamedTuple):
    """The figures of all rounds, one list each."""

    messages_per_s: list[float]
    cpu_ms: list[float]
    large_mib: list[float]


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure in installations of their own. Raises WrongResponse."""
    return _build_results(_measure_all(plan, empty.on_sqlite(data), show_progress))


def on_postgres(
    plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress
) -> Results:
    """Measure `sealdesk mail` in databases of their own. Raises WrongResponse."""
    with empty.on_postgres(data, postgres) as new_installation:
        rounds = _measure_all(plan, new_installation, show_progress)
    return _build_results(rounds, POSTGRES_SUFFIX)


def not_measured(_plan: Plan) -> Results:
    """The figures on PostgreSQL without values."""
    return _build_results(_Rounds([], [], []), POSTGRES_SUFFIX)


def _build_results(rounds: _Rounds, suffix: str = "") -> Results:
    rates, cpu_ms, large_mib = rounds
    received = "messages of 20 KiB that are received" + suffix
    cpu = "CPU of the server for such a message" + suffix
    large = "memory that a message of 24 MiB adds" + suffix
    return Results(
        [
            Figure(received, "/s", True, 150, 150, rates),
            Figure(cpu, "ms", False, None, None, cpu_ms),
            Figure(large, "MiB", False, 40, 40, large_mib),
        ],
        {},
    )


def _measure_all(
    plan: Plan, new_installation: NewInstallation, show_progress: ShowProgress
) -> _Rounds:
    rounds = []
    for number in range(1, plan.rounds + 1):
        show_progress(f"messages by SMTP: {number} of {plan.rounds}")
        with new_installation() as env:
            rounds.append(_measure(env, plan.mail_messages))
    return _Rounds(*map(list, zip(*rounds, strict=True)))


def _measure(env: dict[str, str], count: int) -> _Round:
    settings = from_env(env)
    _add_mailbox(settings)
    with Cores() as cores, processes.mail_receiver(settings, cores, env) as server:
        port = server.port
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
    with open_database_access(settings) as access:
        made = Installation(settings, access)
        now_us = made.clock.now_us()
        tenant = made.write(lambda tx: identity.create_tenant(tx, "Bench", now_us=now_us))
        caller = Caller(tenant.id, SYSTEM, frozenset(), "")
        new = NewMailbox(address=_MAILBOX, receives="smtp")
        made.write(
            lambda tx: mailboxes.create_mailbox(
                tx, caller, new, key_ring=made.key_ring, now_us=now_us
            ),
            tenant.id,
        )


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
