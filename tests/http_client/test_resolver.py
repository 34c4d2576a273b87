"""Resolving names: one lookup at a time, timeouts, and threads for slow names."""

import asyncio
import socket
import threading
import time
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
import uvloop

from sealdesk.http_client import RequestFailed
from sealdesk.http_client import resolver as resolver_module
from sealdesk.http_client.resolver import Resolver


class NameServer:
    """Replaces getaddrinfo. hanging: the prefix of names whose lookup never returns."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.addresses = ["8.8.8.8"]
        self.takes_s = 0.0
        self.hanging = "hanging"
        self.ended = threading.Event()

    def look_up(self, host: bytes, *_: Any, **__: Any) -> list[Any]:
        name = host.decode()
        self.asked.append(name)
        time.sleep(self.takes_s)
        if name.startswith(self.hanging):
            self.ended.wait(120)
        if name.startswith("away"):
            raise socket.gaierror(socket.EAI_AGAIN, "later")
        return [(0, 0, 0, "", (address, 0)) for address in self.addresses]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    names = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", names.look_up)
    yield names
    names.ended.set()


def run(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


async def found(resolver: Resolver, name: str, within_s: float = 5.0) -> str:
    """The first address, or the cause."""
    try:
        addresses = await resolver.resolve(name, asyncio.get_running_loop().time() + within_s)
    except RequestFailed as error:
        return error.cause
    return str(addresses[0])


async def all_found(resolver: Resolver, names: list[str], within_s: float = 5.0) -> set[str]:
    return set(await asyncio.gather(*(found(resolver, name, within_s) for name in names)))


def test_concurrent_and_later_requests_share_one_lookup(names: NameServer) -> None:
    async def ask() -> list[set[str]]:
        resolver = Resolver(())
        return [await all_found(resolver, ["one.example"] * 50) for _ in range(3)]

    names.takes_s = 0.05
    assert run(ask()) == [{"8.8.8.8"}] * 3
    assert names.asked == ["one.example"]


def test_a_name_is_resolved_and_checked_again_after_the_cache_expires(
    names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask() -> list[str]:
        resolver = Resolver(())
        first = await found(resolver, "one.example")
        names.addresses = ["8.8.8.8", "10.0.0.1"]
        kept = await found(resolver, "one.example")
        monkeypatch.setattr(resolver_module, "CACHE_S", 0.0)
        return [first, kept, await found(resolver, "one.example")]

    assert run(ask()) == ["8.8.8.8", "8.8.8.8", "url_forbidden"]


def test_a_lookup_that_hangs_times_out_and_holds_one_thread(names: NameServer) -> None:
    async def ask() -> list[set[str]]:
        resolver = Resolver(())
        return [await all_found(resolver, ["hanging.example"] * 9, 0.05) for _ in range(3)]

    assert run(ask()) == [{"url_unresolvable"}] * 3
    assert names.asked == ["hanging.example"]


def test_slow_names_do_not_delay_other_names(
    names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver_module, "SLOW_S", 0.04)
    monkeypatch.setattr(resolver_module, "CACHE_S", 0.0)
    slow = [f"slow-{number}.example" for number in range(resolver_module.MAX_LOOKUPS)]

    async def ask() -> str:
        resolver = Resolver(())
        names.takes_s = 0.05
        await all_found(resolver, slow)
        names.hanging = "slow"
        again = asyncio.create_task(all_found(resolver, slow))
        await asyncio.sleep(0.1)
        # The others hold their threads for 10 s.
        other = await found(resolver, "other.example", 8.0)
        names.ended.set()
        await again
        return other

    assert run(ask()) == "8.8.8.8"


@pytest.mark.parametrize(
    ("name", "addresses", "cause"),
    [
        ("away.example", [], "url_unresolvable"),
        ("none.example", [], "url_unresolvable"),
        ("mapped.example", ["::ffff:10.0.0.1"], "url_forbidden"),
        ("linked.example", ["fe80::1%3"], "url_forbidden"),
    ],
)
def test_unusable_addresses_have_their_cause(
    names: NameServer, name: str, addresses: list[str], cause: str
) -> None:
    async def ask() -> str:
        return await found(Resolver(()), name)

    names.addresses = addresses
    assert run(ask()) == cause


def test_invalid_has_no_address_and_no_name_server_is_asked(names: NameServer) -> None:
    assert run(found(Resolver(()), "host.invalid")) == "url_unresolvable"
    assert names.asked == []
