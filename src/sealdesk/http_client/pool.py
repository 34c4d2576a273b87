"""The pool of idle connections."""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection
from sealdesk.http_client.urls import Destination

IDLE_S = 10.0
# An endpoint has at most eight requests at a time, but one host may have endpoints of many tenants.
MAX_PER_HOST = 64
MAX_CONNECTIONS = 256
_SWEEP_S = 1.0


class _IdleConnection(NamedTuple):
    connection: Connection
    since: float


Key = tuple[bool, str, int, Address]


class IdleConnections:
    """Idle connections by scheme, name, port and checked address."""

    def __init__(self) -> None:
        self._idle: dict[Key, list[_IdleConnection]] = {}
        self._count = 0
        self._sweep_timer: asyncio.TimerHandle | None = None

    def take(
        self, destination: Destination, addresses: Iterable[Address]
    ) -> tuple[Address, Connection] | None:
        """The most recently used connection to one of these addresses, None when there is none."""
        for address in addresses:
            idle = self._idle.get(_key(destination, address), [])
            while idle:
                self._count -= 1
                connection = idle.pop().connection
                if connection.is_reusable:
                    return address, connection
        return None

    def put(self, destination: Destination, address: Address, connection: Connection) -> None:
        """Add a connection, or close it when the pool is full."""
        idle = self._idle.setdefault(_key(destination, address), [])
        if len(idle) >= MAX_PER_HOST or self._count >= MAX_CONNECTIONS:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        idle.append(_IdleConnection(connection, loop.time()))
        self._count += 1
        if self._sweep_timer is None:
            self._sweep_timer = loop.call_later(_SWEEP_S, self._drop_old)

    def close(self) -> None:
        self._drop_older_than(float("inf"))
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None

    def _drop_old(self) -> None:
        loop = asyncio.get_running_loop()
        self._drop_older_than(loop.time() - IDLE_S)
        self._sweep_timer = loop.call_later(_SWEEP_S, self._drop_old) if self._idle else None

    def _drop_older_than(self, before: float) -> None:
        for key, idle in list(self._idle.items()):
            remaining = [one for one in idle if one.since > before and one.connection.is_reusable]
            for one in idle:
                if one not in remaining:
                    one.connection.abort()
            self._count -= len(idle) - len(remaining)
            if remaining:
                self._idle[key] = remaining
            else:
                del self._idle[key]


def _key(destination: Destination, address: Address) -> Key:
    return destination.is_tls, destination.name, destination.port, address
