"""One tenant does its worst, and another one is neither refused nor made to wait for it."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import httpx
import pytest

from tests.support.client import Key, Person
from tests.support.databases import SQLITE_FIRST
from tests.support.feed import EVENTS, record
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service, Tenant, wait_until
from tests.support.slow_lists import UNSERVED, never_end

TICKETS = "/api/v1/external/tickets"
THREADS = 12
Flood = Callable[[], object]


class Neighbour(NamedTuple):
    """The tenant that does its worst; its webhook endpoint never answers."""

    tenant: Tenant
    key: Key
    admin: Person


def slow_reads(neighbour: Neighbour) -> object:
    return neighbour.key.get(UNSERVED)


def large_pages(neighbour: Neighbour) -> object:
    return neighbour.key.get(f"{TICKETS}?per_page=100")


def writes(neighbour: Neighbour) -> object:
    body = {"subject": "S", "description": "D", "customer": {"email": "c@example.test"}}
    return neighbour.key.post(TICKETS, body)


def many_changes(neighbour: Neighbour) -> object:
    """As many events as a page of changes in bulk; each goes to an endpoint that never answers."""
    return record(neighbour.tenant, "ticket.created", 100)


def waiting(neighbour: Neighbour) -> object:
    return neighbour.key.get(f"{EVENTS}?wait=1&start=latest")


def log_ins(neighbour: Neighbour) -> object:
    credentials = {"email": neighbour.tenant.admin_email, "password": "a wrong password"}
    return Person(neighbour.key.service, "").post("/api/v1/auth/login", credentials)


AXES = (slow_reads, large_pages, writes, many_changes, waiting, log_ins)


@pytest.fixture
def neighbour(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Neighbour]:
    tenant = start(**LOOPBACK).tenant()
    with receiving() as receiver:
        goes_on = receiver.holds(10_000)
        admin = tenant.admin()
        make_endpoint(admin, receiver)
        key = tenant.key()
        for _ in range(100):
            key.ticket(description="long " * 400)
        never_end(tenant, monkeypatch)
        yield Neighbour(tenant, key, admin)
        goes_on.set()


def make_endpoint(admin: Person, receiver: Receiver) -> None:
    new = {"url": receiver.url, "events": ["ticket.created"]}
    assert admin.post("/api/v1/webhooks", new).status_code == 201


@contextmanager
def flooding(floods: Sequence[Flood]) -> Iterator[list[int]]:
    """Each flood again and again until the end; yields the number of each."""
    is_over, counts = threading.Event(), [0] * len(floods)

    def run(number: int) -> None:
        while not is_over.is_set():
            floods[number]()
            counts[number] += 1
            time.sleep(0.01)  # the clients share the interpreter with the service

    with ThreadPoolExecutor(len(floods)) as pool:
        running = [pool.submit(run, number) for number in range(len(floods))]
        try:
            yield counts
        finally:
            is_over.set()
    for each in running:
        each.result()


def responses(key: Key, rounds: int) -> tuple[list[httpx.Response], list[float]]:
    """Of cheap reads, slow reads and writes of a tenant, and how long they took."""
    body = {"subject": "S", "description": "D", "customer": {"email": "q@example.test"}}
    calls = (
        partial(key.get, TICKETS),
        partial(key.get, UNSERVED),
        partial(key.post, TICKETS, body),
    )
    got, took_s = [], []
    for call in calls * rounds:
        began_at = time.monotonic()
        got.append(call())
        took_s.append(time.monotonic() - began_at)
    return got, took_s


@SQLITE_FIRST
def test_no_request_of_a_tenant_is_refused_while_another_does_its_worst(
    neighbour: Neighbour,
) -> None:
    quiet = neighbour.key.service.tenant().key()
    floods = [partial(axis, neighbour) for axis in AXES] * 2
    with flooding(floods) as counts:
        wait_until(lambda: sum(counts) > len(floods))
        got, _ = responses(quiet, 5)
    assert {each.status_code for each in got} == {200, 201}, [each.text for each in got]


@pytest.mark.prove
@pytest.mark.parametrize("axis", AXES)
def test_no_request_is_refused_on_any_axis(
    axis: Callable[[Neighbour], object], neighbour: Neighbour, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = neighbour.key.service.tenant().key()
    _, alone_s = responses(quiet, 30)
    with flooding([partial(axis, neighbour)] * THREADS) as counts:
        got, beside_s = responses(quiet, 30)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{axis.__name__:12} {sum(counts):6} requests beside it; ms alone and beside:"
            f" median {at(alone_s, 0.5):.1f} {at(beside_s, 0.5):.1f},"
            f" p99 {at(alone_s, 0.99):.1f} {at(beside_s, 0.99):.1f}"
        )
    assert {each.status_code for each in got} == {200, 201}, [each.text for each in got]


def at(seconds: list[float], share: float) -> float:
    """A quantile in milliseconds."""
    return 1000 * sorted(seconds)[int(share * (len(seconds) - 1))]
