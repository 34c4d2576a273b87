"""Counts the bodies of requests that a server process holds."""

from sealdesk.rate_limits.byte_budget import ByteBudget, Holding
from sealdesk.server.exchange import Exchange
from sealdesk.settings import Network
from sealdesk.web.client_address import client_address, networks_of
from sealdesk.web.request import Scope


class ReceivedBytes:
    """Counts the bytes of a body for the client's address or /64, until the request has ended."""

    def __init__(self, budget: ByteBudget, trusted_proxies: tuple[Network, ...]) -> None:
        self._budget = budget
        self._trusted_proxies = trusted_proxies

    def try_add(self, exchange: Exchange, size: int) -> bool:
        """Count bytes of a request's body, if there is room."""
        if exchange.holding is None:
            exchange.holding = Holding(self._budget, self.network_of(exchange.scope))
        return exchange.holding.try_add(size)

    def network_of(self, scope: Scope) -> str:
        """The client's address or /64."""
        peer = scope["client"][0] if scope["client"] else ""
        address = client_address(peer, scope["headers"], self._trusted_proxies)
        return networks_of(address)[0]

    def release(self, exchange: Exchange) -> None:
        """Count the body of a request no longer."""
        if exchange.holding is not None:
            exchange.holding.release()
