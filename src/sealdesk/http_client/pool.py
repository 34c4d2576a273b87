"""Connections that wait for their next request: few, and not for long."""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.connection import Connection
from sealdesk.http_client.urls import Destination

IDLE_S = 10.0
OF_ONE_HOST = 8  # as many as one endpoint has requests under way
IN_ALL = 256
_SWEEP_S = 1.0


class _Waiting(NamedTuple):
    connection: Connection
    since: float


Key = tuple[bool, str, int, Address]


class Idle:
    """Kept by scheme, name, port and the address that was checked: a name alone finds nothing."""

    def __init__(self) -> None:
        self._waiting: dict[Key, list[_Waiting]] = {}
        self._count = 0
        self._sweep: asyncio.TimerHandle | None = None

    def take(
        self, destination: Destination, addresses: Iterable[Address]
    ) -> tuple[Address, Connection] | None:
        """The connection to one of these addresses that was used last."""
        for address in addresses:
            waiting = self._waiting.get(_key(destination, address), [])
            while waiting:
                self._count -= 1
                connection = waiting.pop().connection
                if connection.is_reusable:
                    return address, connection
        return None

    def put(self, destination: Destination, address: Address, connection: Connection) -> None:
        """Keep a connection for the next request, or drop it when there are enough."""
        waiting = self._waiting.setdefault(_key(destination, address), [])
        if len(waiting) >= OF_ONE_HOST or self._count >= IN_ALL:
            connection.drop()
            return
        loop = asyncio.get_running_loop()
        waiting.append(_Waiting(connection, loop.time()))
        self._count += 1
        if self._sweep is None:
            self._sweep = loop.call_later(_SWEEP_S, self._drop_old)

    def close(self) -> None:
        """Drop all of them."""
        self._drop_since(float("inf"))
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    def _drop_old(self) -> None:
        loop = asyncio.get_running_loop()
        self._drop_since(loop.time() - IDLE_S)
        self._sweep = loop.call_later(_SWEEP_S, self._drop_old) if self._waiting else None

    def _drop_since(self, until: float) -> None:
        for key, waiting in list(self._waiting.items()):
            kept = [one for one in waiting if one.since > until and one.connection.is_reusable]
            for one in waiting:
                if one not in kept:
                    one.connection.drop()
            self._count -= len(waiting) - len(kept)
            if kept:
                self._waiting[key] = kept
            else:
                del self._waiting[key]


def _key(destination: Destination, address: Address) -> Key:
    return destination.is_tls, destination.name, destination.port, address
