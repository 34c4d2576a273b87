"""Draining a server: closes the port, then connections as they become idle, within 10 s."""

import array
import asyncio
import contextlib
import select
import socket
import struct
import sys
from asyncio import AbstractServer
from collections.abc import Collection, Iterable

from sealdesk.server.http_protocol import Protocol

DRAIN_S = 10  # from the signal to the exit of the process
ABORT_AFTER_S = 9.5  # the rest is for closing the database
SETTLE_S = 0.1  # handshakes that have begun are complete by then
IDLE_S = 0.25
_POLL_S = 0.02

_SO_ATTACH_FILTER = 26  # Linux; Python 3.11 has no name for it
_SYN_ACK_MASK, _SYN = 0x12, 0x02
# Classic BPF over the TCP header, as (code, jump if true, jump if false, operand).
_DROP_SYN = (
    (0x30, 0, 0, 13),  # load the flags byte
    (0x54, 0, 0, _SYN_ACK_MASK),
    (0x15, 0, 1, _SYN),  # the first packet of a handshake has only SYN:
    (0x06, 0, 0, 0),  # drop it;
    (0x06, 0, 0, 0xFFFFFFFF),  # accept everything else
)


def drop_new_handshakes(sock: socket.socket) -> None:
    """Drop the SYN packets of new connections, while handshakes in progress are completed.

    The socket API has no call for this: close() resets connections in the backlog and those whose
    handshake is in progress. A dropped client sends its SYN again after a second and is refused,
    because the port is closed by then. Only on Linux; elsewhere it does nothing.
    """
    code = array.array("B", b"".join(struct.pack("HBBI", *step) for step in _DROP_SYN))
    program = struct.pack("HP", len(_DROP_SYN), code.buffer_info()[0])
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


async def close_listeners(
    listeners: Iterable[AbstractServer], sockets: Collection[socket.socket]
) -> None:
    """Close the listening sockets once handshakes in progress are accepted."""
    await asyncio.sleep(SETTLE_S)
    # A busy machine may have let this process sleep meanwhile, and close() resets what is queued.
    while _have_queued(sockets):  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(_POLL_S)
    for listener in listeners:
        listener.close()
    for sock in sockets:
        sock.close()


def _have_queued(sockets: Iterable[socket.socket]) -> bool:
    """Whether connections wait to be accepted."""
    poll = select.poll()
    for sock in sockets:
        poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


async def wait_until_closed(connections: Collection[Protocol], tasks: Collection[object]) -> None:
    """Close connections as they become idle; returns when no connection and no task is left."""
    while connections or tasks:
        for connection in _without_pending_data(c for c in connections if c.is_idle(IDLE_S)):
            connection.transport.close()
        await asyncio.sleep(_POLL_S)


def _without_pending_data(idle: Iterable[Protocol]) -> list[Protocol]:
    """The connections whose socket has no unread data, which may be a request."""
    poll = select.poll()
    by_descriptor = {}
    for connection in idle:
        descriptor = connection.transport.get_extra_info("socket").fileno()
        by_descriptor[descriptor] = connection
        poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll(0):
        del by_descriptor[descriptor]
    return list(by_descriptor.values())


async def abort(connections: Iterable[Protocol], tasks: Iterable[asyncio.Task[None]]) -> int:
    """Close all connections now; returns how many open requests get no response."""
    aborted_count = 0
    for connection in list(connections):
        aborted_count += not connection.is_idle(0.0)
        connection.transport.abort()
    # One iteration of the loop, in which the applications see the disconnect.
    await asyncio.sleep(0)
    for task in list(tasks):
        task.cancel()
    await asyncio.sleep(0)
    return aborted_count
