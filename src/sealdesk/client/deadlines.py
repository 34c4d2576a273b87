"""Ends an attempt at the deadline of its call, however many parts its response arrives in."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
_here = threading.local()


def find_left_s(request: httpx.Request) -> float | None:
    """How long the call of a request may still take, None for ever. Raises ReadTimeout after it."""
    find: Callable[[], float] | None = request.extensions.get("find_left_s")
    if find is None:
        return None
    left_s = find()
    if left_s <= 0:
        raise _late(request)
    return left_s


@asynccontextmanager
async def async_deadline(request: httpx.Request) -> AsyncIterator[None]:
    """Cancel what is awaited within it at the deadline. Raises ReadTimeout."""
    try:
        async with asyncio.timeout(find_left_s(request)):
            yield
    except TimeoutError as error:
        raise _late(request) from error


async def async_close(response: httpx.Response) -> None:
    """Close a response even if the call is cancelled meanwhile: it would stay open for ever."""
    await asyncio.shield(asyncio.ensure_future(response.aclose()))


def close(response: httpx.Response) -> None:
    """Close a response."""
    response.close()


@contextmanager
def deadline(request: httpx.Request) -> Iterator[None]:
    """Let no read and no write of this thread take longer than is left. Raises ReadTimeout.

    httpx knows only the time of a single read. `trace` is told of each connection that the request
    opens; later ones use it too.
    """
    request.extensions["trace"] = _bound_connection
    _here.request = request
    try:
        yield
    finally:
        _here.request = None


def _late(request: httpx.Request) -> httpx.ReadTimeout:
    return httpx.ReadTimeout("the deadline of the call has passed", request=request)


def _bound_connection(name: str, details: dict[str, Any]) -> None:
    if name.endswith((".connect_tcp.complete", ".start_tls.complete")):
        stream = details["return_value"]
        stream.read, stream.write = _in_time(stream.read), _in_time(stream.write)


def _in_time(act: Callable[[Any, float | None], T]) -> Callable[[Any, float | None], T]:
    def act_in_time(given: Any, timeout: float | None = None) -> T:
        return act(given, _within(timeout))

    return act_in_time


def _within(timeout_s: float | None) -> float | None:
    request: httpx.Request | None = getattr(_here, "request", None)
    left_s = None if request is None else find_left_s(request)
    return min((each for each in (timeout_s, left_s) if each is not None), default=None)
