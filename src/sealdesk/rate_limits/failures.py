"""The counter of failed authentications per network."""

from collections.abc import Callable, Collection


class FailureCounter:
    """Counts failures per network in fixed minutes."""

    def __init__(self, monotonic_s: Callable[[], float], limit: int) -> None:
        self._monotonic_s = monotonic_s
        self._limit = limit
        self._minute = 0
        self._counts: dict[str, int] = {}

    def note(self, networks: Collection[str]) -> bool:
        """Count one failure of a client; whether one of its networks exceeds the limit."""
        minute = int(self._monotonic_s() // 60)
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        for network in networks:
            self._counts[network] = self._counts.get(network, 0) + 1
        return any(self._counts[network] > self._limit for network in networks)
