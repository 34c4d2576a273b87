"""Which routes have kept the process busy longest in the last hour."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from sealdesk.telemetry.counters import Durations

_HOUR_S = 3600.0
_NOTE_EVERY_S = 300.0


class RouteTime(NamedTuple):
    """How long the requests of a route held the event loop and threads together."""

    route: str
    seconds: float


class LoopTime:
    """Remembers the counters of the last hour, at most thirteen times."""

    def __init__(self) -> None:
        self._noted: deque[tuple[float, dict[str, float]]] = deque()

    def note(self, durations: Mapping[str, Durations], now_s: float) -> None:
        """Remember the counters, if it is time. now_s: monotonic."""
        if not self._noted or now_s - self._noted[-1][0] >= _NOTE_EVERY_S:
            self._noted.append((now_s, _seconds(durations)))
        while len(self._noted) > 1 and now_s - self._noted[1][0] >= _HOUR_S:
            self._noted.popleft()

    def dearest(self, durations: Mapping[str, Durations], at_most: int) -> list[RouteTime]:
        """The routes that took most since the oldest counters, which are of an hour ago."""
        before = self._noted[0][1] if self._noted else {}
        since = [
            RouteTime(route, seconds - before.get(route, 0.0))
            for route, seconds in _seconds(durations).items()
        ]
        since.sort(key=lambda each: each.seconds, reverse=True)
        return [each for each in since[:at_most] if each.seconds > 0]


def _seconds(durations: Mapping[str, Durations]) -> dict[str, float]:
    return {route: each.loop_s + each.beside_s for route, each in durations.items()}
