"""Servers and processes are killed while messages arrive: none is lost, none has two effects."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.http_client.receivers import Authority
from tests.mail.reading.conftest import LOOPBACK
from tests.mail.reading.support import Desk, Folders, Reading
from tests.mail.receiving import killing
from tests.mail.receiving.killing import Place
from tests.mail.support import message
from tests.servers import Dovecot, free_port, server_directory
from tests.support.databases import SQLITE_FIRST, Kind, Template
from tests.support.service import running, wait_until

_GIVE_UP_S = 1800.0
# How long a process lives. On PostgreSQL it first waits until the lease of the killed one ends.
_LIVES_S = {"sqlite": 2.0, "postgresql": 20.0}


@pytest.fixture
def own_dovecot(authority: Authority) -> Iterator[Dovecot]:
    """A server that may be killed."""
    with server_directory() as directory:
        server = Dovecot.start(directory / "dovecot", authority.certificate("localhost"))
        yield server
        server.kill()


@pytest.fixture
def place(
    own_dovecot: Dovecot,
    authority: Authority,
    kind: Kind,
    template: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Place]:
    """An installation with a mailbox on that server."""
    with ExitStack() as stack:
        env = {**LOOPBACK, "SSL_CERT_FILE": str(authority.file)}
        if kind == "postgresql":
            copied: Template = request.getfixturevalue("postgres_template")
            env |= stack.enter_context(copied.copied())
        own_template = None if kind == "postgresql" else template
        with running(tmp_path / "data", own_template, **env) as service:
            desk = Desk(service, own_dovecot)
        yield Place(tmp_path / "data", env, own_template, desk.address, desk.tenant.id, free_port())


@contextmanager
def killed(dovecot: Dovecot, every_s: float) -> Iterator[list[int]]:
    """Kills the server again and again meanwhile; the list has how often in the end."""
    ended, counts = threading.Event(), list[int]()

    def kill() -> None:
        count = 0
        while not ended.wait(every_s * random.uniform(0.7, 1.3)):
            dovecot.kill()
            dovecot.start_again()
            count += 1
        counts.append(count)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield counts
    finally:
        ended.set()
        thread.join()


def _message(number: int) -> bytes:
    # Of several senders: one of them may open 10 tickets in 10 minutes.
    return message(subject=f"Number {number}", sender=f"person{number}@example.test")


@SQLITE_FIRST
def test_messages_to_a_server_that_is_killed_have_one_effect(
    folders: Folders, reader: Reading, own_dovecot: Dovecot
) -> None:
    desk = folders.desk(imap_port=own_dovecot.tls_port)
    for first in range(0, 40, 8):
        for number in range(first, first + 8):
            own_dovecot.put(desk.address, _message(number))
        # While the others are being fetched; not by time, which a slow machine may not have.
        wait_until(lambda first=first: len(desk.subjects()) > first)  # type: ignore[misc]
        own_dovecot.kill()
        own_dovecot.start_again()
    desk.wait_for(*(f"Number {number}" for number in range(40)))
    assert len(desk.messages()) == 40


@pytest.mark.prove
@pytest.mark.timeout(2 * _GIVE_UP_S)
def test_5000_messages_while_the_server_and_the_process_are_killed(
    place: Place, own_dovecot: Dovecot, kind: Kind
) -> None:
    deadline, process_kills = time.monotonic() + _GIVE_UP_S, 0
    putting = threading.Thread(target=_put_all, args=(own_dovecot, place.address, 5000))
    putting.start()
    with killed(own_dovecot, every_s=2.0) as counts:
        taken = list[str]()
        while len(taken) < 5000:
            assert time.monotonic() < deadline, f"{len(taken)} messages were taken"
            for _ in range(4):
                with killing.received(place):
                    time.sleep(_LIVES_S[kind] * random.uniform(0.7, 1.3))
                process_kills += 1
            taken = place.tickets()
    putting.join()
    doubled = [subject for subject, count in Counter(taken).items() if count > 1]
    assert (sorted(taken), doubled) == (sorted(f"Number {number}" for number in range(5000)), [])
    assert min(counts[0], process_kills) >= 5


def _put_all(dovecot: Dovecot, address: str, count: int) -> None:
    for number in range(count):
        dovecot.put(address, _message(number))
        time.sleep(0.005)
