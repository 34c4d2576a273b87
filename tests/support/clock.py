"""A clock that tests set."""

from sealdesk.clock import Clock


class SettableClock(Clock):
    """The real time plus an offset; `advance` moves wall clock and monotonic time together."""

    def __init__(self) -> None:
        self._offset_us = 0
        self._correction_us = 0
        self._stopped: tuple[int, float] | None = None

    def now_us(self) -> int:
        real_us = self._stopped[0] if self._stopped else super().now_us()
        return real_us + self._offset_us + self._correction_us

    def monotonic_s(self) -> float:
        real_s = self._stopped[1] if self._stopped else super().monotonic_s()
        return real_s + self._offset_us / 1_000_000

    def advance(self, seconds: float) -> None:
        self._offset_us += round(seconds * 1_000_000)

    def correct(self, seconds: float) -> None:
        """Move the wall clock alone, as somebody does who sets the clock of a host."""
        self._correction_us += round(seconds * 1_000_000)

    def stop(self) -> None:
        """From now on only `advance` moves it."""
        self._stopped = (super().now_us(), super().monotonic_s())

    def go_on(self) -> None:
        """Move by itself again, from where it was stopped."""
        if self._stopped is not None:
            self._offset_us -= super().now_us() - self._stopped[0]
            self._stopped = None

    def stop_at(self, seconds: int) -> None:
        """Stop the wall clock at this Unix time, to the second, and monotonic time where it is."""
        self.stop()
        self._correction_us += seconds * 1_000_000 - self.now_us()
