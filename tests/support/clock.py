"""A clock that tests set."""

from sealdesk.clock import Clock


class SettableClock(Clock):
    """The real time plus an offset; `advance` moves wall clock and monotonic time together."""

    def __init__(self) -> None:
        self._offset_us = 0

    def now_us(self) -> int:
        return super().now_us() + self._offset_us

    def monotonic_s(self) -> float:
        return super().monotonic_s() + self._offset_us / 1_000_000

    def advance(self, seconds: float) -> None:
        self._offset_us += round(seconds * 1_000_000)
