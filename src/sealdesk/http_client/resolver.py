"""Looking names up: in threads of its own, one look-up a name, and checked as a whole."""

import asyncio
import socket
import threading
from ipaddress import ip_address
from typing import TypeVar

from sealdesk.http_client.addresses import Address, is_permitted, plain
from sealdesk.http_client.errors import RequestFailed
from sealdesk.settings import Network

# For so long an answer is used again, whatever its time to live.
KEPT_S = 10.0
# A look-up cannot be ended, and takes up to half a minute when no name server answers. Names that
# were slow the last time wait for each other, so that they never take the place of the others.
AT_ONCE = 32
SLOW_AT_ONCE = 8
SLOW_S = 1.0
_NAMES_KEPT = 4096

V = TypeVar("V")
Found = tuple[Address, ...] | RequestFailed


class Resolver:
    """Finds the addresses of names, all of which may be sent to."""

    def __init__(self, allowed: tuple[Network, ...]) -> None:
        self._allowed = allowed
        self._kept: dict[str, tuple[float, tuple[Address, ...]]] = {}
        self._asked: dict[str, asyncio.Task[Found]] = {}
        self._slow: dict[str, None] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._slow_turn = asyncio.Semaphore(SLOW_AT_ONCE)

    async def find(self, host: Address | str, until: float) -> tuple[Address, ...]:
        """The addresses of a host, at least one. until: of the loop's clock. Raises Unsent."""
        if not isinstance(host, str):
            return self._literal(host)
        at, addresses = self._kept.get(host, (0.0, ()))
        if addresses and asyncio.get_running_loop().time() - at < KEPT_S:
            return addresses
        asked = self._asked.get(host)
        if asked is None:
            asked = self._asked[host] = asyncio.create_task(self._ask(host))
            asked.add_done_callback(lambda _: self._asked.pop(host, None))
        try:
            async with asyncio.timeout_at(until):
                found = await asyncio.shield(asked)
        except TimeoutError:
            raise _unresolvable(f"Looking up {host} took too long.") from None
        if isinstance(found, RequestFailed):
            raise RequestFailed(found.cause, found.text)
        return found

    def close(self) -> None:
        """Wait for no look-up any more."""
        for asked in self._asked.values():
            asked.cancel()

    def _literal(self, host: Address) -> tuple[Address, ...]:
        if not is_permitted(host, self._allowed):
            raise RequestFailed("url_forbidden", f"{host} is not a public address.")
        return (plain(host),)

    async def _ask(self, host: str) -> Found:
        loop = asyncio.get_running_loop()
        async with self._slow_turn if host in self._slow else self._turn:
            began = loop.time()
            answer = await _in_a_thread(host)
            self._note_pace(host, loop.time() - began)
        found = self._checked(host, answer)
        if isinstance(found, tuple):
            _put(self._kept, host, (loop.time(), found))
        return found

    def _checked(self, host: str, answer: list[str] | OSError) -> Found:
        if isinstance(answer, OSError):
            return _unresolvable(_why(host, answer))
        addresses = tuple(dict.fromkeys(plain(ip_address(text)) for text in answer))
        if not addresses:
            return _unresolvable(f"{host} has no address.")
        # One bad address spoils all: which of them is connected to would be chance.
        if not all(is_permitted(address, self._allowed) for address in addresses):
            return RequestFailed("url_forbidden", f"{host} has an address that is not public.")
        return addresses

    def _note_pace(self, host: str, took_s: float) -> None:
        if took_s > SLOW_S:
            _put(self._slow, host, None)
        else:
            self._slow.pop(host, None)


async def _in_a_thread(host: str) -> list[str] | OSError:
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[list[str] | OSError] = loop.create_future()

    def look_up() -> None:
        answer = _look_up(host)
        try:
            loop.call_soon_threadsafe(tell, answer)
        except RuntimeError:  # the loop has ended meanwhile
            return

    def tell(answer: list[str] | OSError) -> None:
        if not answered.done():
            answered.set_result(answer)

    # A daemon: the end of the process does not wait for a name server.
    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    return await answered


def _look_up(host: str) -> list[str] | OSError:
    try:
        # As bytes: a str would be encoded anew, by older rules.
        found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    return [str(address[0]) for *_, address in found]


def _why(host: str, error: OSError) -> str:
    if error.errno == socket.EAI_AGAIN:
        return f"The name servers of {host} do not answer."
    return f"{host} has no address."


def _unresolvable(text: str) -> RequestFailed:
    return RequestFailed("url_unresolvable", text)


def _put(kept: dict[str, V], name: str, value: V) -> None:
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > _NAMES_KEPT:
        del kept[next(iter(kept))]
