"""Resolves names: in threads, one lookup per name at a time, all of its addresses checked."""

import asyncio
import socket
import threading
from ipaddress import ip_address
from typing import TypeVar

from sealdesk.http_client.addresses import Address, is_permitted, unmapped
from sealdesk.http_client.errors import RequestFailed
from sealdesk.settings import Network

# How long addresses are cached, whatever their TTL.
CACHE_S = 10.0
# getaddrinfo cannot be cancelled and takes up to 30 s when no name server answers. Names whose last
# lookup was slow have few threads of their own, so that they never block the others.
MAX_LOOKUPS = 32
MAX_SLOW_LOOKUPS = 8
SLOW_S = 1.0
_MAX_CACHED_NAMES = 4096

V = TypeVar("V")
Outcome = tuple[Address, ...] | RequestFailed


class Resolver:
    """Resolves names to addresses that requests may go to."""

    def __init__(self, allowed: tuple[Network, ...]) -> None:
        self._allowed = allowed
        self._cached: dict[str, tuple[float, tuple[Address, ...]]] = {}
        self._pending: dict[str, asyncio.Task[Outcome]] = {}
        self._slow: dict[str, None] = {}
        self._slots = asyncio.Semaphore(MAX_LOOKUPS)
        self._slow_slots = asyncio.Semaphore(MAX_SLOW_LOOKUPS)

    async def resolve(self, host: Address | str, deadline: float) -> tuple[Address, ...]:
        """The addresses of a host, at least one. deadline: in the loop's time.

        Raises RequestFailed.
        """
        if not isinstance(host, str):
            return self._check_literal(host)
        at, addresses = self._cached.get(host, (0.0, ()))
        if addresses and asyncio.get_running_loop().time() - at < CACHE_S:
            return addresses
        lookup = self._pending.get(host)
        if lookup is None:
            lookup = self._pending[host] = asyncio.create_task(self._look_up_and_check(host))
            lookup.add_done_callback(lambda _: self._pending.pop(host, None))
        try:
            async with asyncio.timeout_at(deadline):
                outcome = await asyncio.shield(lookup)
        except TimeoutError:
            raise _unresolvable(f"Looking up {host} took too long.") from None
        if isinstance(outcome, RequestFailed):
            raise RequestFailed(outcome.cause, outcome.text)
        return outcome

    def close(self) -> None:
        """Cancel the pending lookups."""
        for lookup in self._pending.values():
            lookup.cancel()

    def _check_literal(self, host: Address) -> tuple[Address, ...]:
        if not is_permitted(host, self._allowed):
            raise RequestFailed("url_forbidden", f"{host} is not a public address.")
        return (unmapped(host),)

    async def _look_up_and_check(self, host: str) -> Outcome:
        loop = asyncio.get_running_loop()
        async with self._slow_slots if host in self._slow else self._slots:
            started_at = loop.time()
            result = await _look_up_in_thread(host)
            self._note_duration(host, loop.time() - started_at)
        outcome = self._check(host, result)
        if isinstance(outcome, tuple):
            _cache(self._cached, host, (loop.time(), outcome))
        return outcome

    def _check(self, host: str, result: list[str] | OSError) -> Outcome:
        if isinstance(result, OSError):
            return _unresolvable(_explain(host, result))
        addresses = tuple(dict.fromkeys(unmapped(ip_address(text)) for text in result))
        if not addresses:
            return _unresolvable(f"{host} has no address.")
        # One forbidden address rejects the name: which address is used would be chance.
        if not all(is_permitted(address, self._allowed) for address in addresses):
            return RequestFailed("url_forbidden", f"{host} has an address that is not public.")
        return addresses

    def _note_duration(self, host: str, took_s: float) -> None:
        if took_s > SLOW_S:
            _cache(self._slow, host, None)
        else:
            self._slow.pop(host, None)


async def _look_up_in_thread(host: str) -> list[str] | OSError:
    loop = asyncio.get_running_loop()
    result: asyncio.Future[list[str] | OSError] = loop.create_future()

    def look_up() -> None:
        addresses = _look_up(host)
        try:
            loop.call_soon_threadsafe(set_result, addresses)
        except RuntimeError:  # the loop was closed
            return

    def set_result(addresses: list[str] | OSError) -> None:
        if not result.done():
            result.set_result(addresses)

    # A daemon thread, so that the process does not wait for a name server when it exits.
    threading.Thread(target=look_up, name="lookup", daemon=True).start()
    return await result


def _look_up(host: str) -> list[str] | OSError:
    if host.endswith(".invalid"):  # never has an address (RFC 6761, section 6.4)
        return OSError(socket.EAI_NONAME, "no such name")
    try:
        # As bytes: Python would encode a str again with IDNA 2003.
        outcome = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    return [str(address[0]) for *_, address in outcome]


def _explain(host: str, error: OSError) -> str:
    if error.errno == socket.EAI_AGAIN:
        return f"The name servers of {host} do not answer."
    return f"{host} has no address."


def _unresolvable(text: str) -> RequestFailed:
    return RequestFailed("url_unresolvable", text)


def _cache(cached: dict[str, V], name: str, value: V) -> None:
    cached.pop(name, None)
    cached[name] = value
    if len(cached) > _MAX_CACHED_NAMES:
        del cached[next(iter(cached))]
