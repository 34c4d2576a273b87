"""Counts the bodies of requests that a server process holds."""

from typing import Any

from sealdesk.rate_limits.byte_budget import ByteBudget, Holding
from sealdesk.settings import Network
from sealdesk.web.client_address import client_address, networks_of
from sealdesk.web.request import Receive, Scope, Send

_HOLDING = "sealdesk.received"


class ReceivedBytes:
    """Counts the bytes of a body for the client's address or /64, until the request has ended."""

    def __init__(self, budget: ByteBudget, trusted_proxies: tuple[Network, ...]) -> None:
        self._budget = budget
        self._trusted_proxies = trusted_proxies

    def try_add(self, scope: Any, size: int) -> bool:
        """Count bytes of a request's body, if there is room. scope: of ASGI."""
        holding: Holding | None = scope.get(_HOLDING)
        if holding is None:
            peer = scope["client"][0] if scope["client"] else ""
            address = client_address(peer, scope["headers"], self._trusted_proxies)
            holding = scope[_HOLDING] = Holding(self._budget, networks_of(address)[0])
        return holding.try_add(size)

    def release(self, scope: Any) -> None:
        """Count the body of a request no longer."""
        holding: Holding | None = scope.get(_HOLDING)
        if holding is not None:
            holding.release()


class ReleasesBytes:
    """An application whose requests hold their bytes until it has ended."""

    def __init__(self, app: Any, received: ReceivedBytes) -> None:
        self._app = app
        self._received = received

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            self._received.release(scope)
