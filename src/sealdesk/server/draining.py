"""The end of serving: readiness first, then the door, then whoever is left, within 10 s in all."""

import array
import asyncio
import contextlib
import logging
import select
import socket
import struct
import sys
from asyncio import AbstractServer
from collections.abc import Collection, Iterable

from sealdesk.server.http_protocol import Protocol

DRAIN_S = 10  # from the signal to the end of the process
CUT_AFTER_S = 9.5  # what remains is for closing the storage
SETTLE_S = 0.1  # a handshake that has begun is over by then
QUIET_S = 0.25
_LOOK_S = 0.02

_SO_ATTACH_FILTER = 26  # Linux; Python 3.11 has no name for it
_SYN_ACK_BITS, _SYN = 0x12, 0x02
# Classic BPF over the TCP header, as (code, jump if true, jump if false, operand).
_NO_NEW_HANDSHAKE = (
    (0x30, 0, 0, 13),  # load the byte of the flags
    (0x54, 0, 0, _SYN_ACK_BITS),
    (0x15, 0, 1, _SYN),  # the first packet of a handshake has SYN alone:
    (0x06, 0, 0, 0),  # drop it;
    (0x06, 0, 0, 0xFFFFFFFF),  # let everything else in
)


def turn_away(sock: socket.socket) -> None:
    """Let no further handshake begin on a listening socket, while those begun are completed.

    Nothing in sockets does that: closing resets whoever is in the backlog or on the way to it.
    Whoever asks now asks again a second later, and then finds the port closed. The filter stays
    on the socket, for everybody who shares it. Without Linux nothing happens.
    """
    code = array.array("B", b"".join(struct.pack("HBBI", *step) for step in _NO_NEW_HANDSHAKE))
    program = struct.pack("HP", len(_NO_NEW_HANDSHAKE), code.buffer_info()[0])
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


async def close_door(listeners: Iterable[AbstractServer], sockets: Iterable[socket.socket]) -> None:
    """Close listening sockets once those who were already coming in are in."""
    await asyncio.sleep(SETTLE_S)
    for listener in listeners:
        listener.close()
    for sock in sockets:
        sock.close()


async def wait_for_all(connections: Collection[Protocol], tasks: Collection[object]) -> None:
    """Close connections as they fall quiet; returns when none is left, and no task."""
    while connections or tasks:
        for connection in _without_unread(c for c in connections if c.is_quiet(QUIET_S)):
            connection.transport.close()
        await asyncio.sleep(_LOOK_S)


def _without_unread(quiet: Iterable[Protocol]) -> list[Protocol]:
    """Those for which nothing waits in their socket: it may be a request."""
    waiting = select.poll()
    by_descriptor = {}
    for connection in quiet:
        descriptor = connection.transport.get_extra_info("socket").fileno()
        by_descriptor[descriptor] = connection
        waiting.register(descriptor, select.POLLIN)
    for descriptor, _ in waiting.poll(0):
        del by_descriptor[descriptor]
    return list(by_descriptor.values())


async def cut(connections: Iterable[Protocol], tasks: Iterable[asyncio.Task[None]]) -> int:
    """End at once what has not ended; how many requests had begun and get no answer."""
    begun_count = 0
    for connection in list(connections):
        begun_count += not connection.is_quiet(0.0)
        connection.transport.abort()
    # A turn of the loop, in which they learn that nobody listens to them any more.
    await asyncio.sleep(0)
    # A traceback of each request that was cut says less than their number.
    logging.getLogger("uvicorn.error").disabled = True
    for task in list(tasks):
        task.cancel()
    await asyncio.sleep(0)
    return begun_count
