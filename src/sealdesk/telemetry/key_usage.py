"""How keys are used, counted in the memory of the process until somebody writes it down."""

from collections.abc import Iterator
from typing import NamedTuple

HOUR_US = 3600 * 1_000_000
OTHER = "other"
ADDRESSES_KEPT = 50  # per key and hour; all else that is counted has few values
_USES_KEPT = 20_000
_AT_ONCE = 1_000  # some 5 ms of the loop's time
_ROWS_KEPT = 100_000
_UNPROVEN = 401


class KeyUse(NamedTuple):
    """The key that a request came with. permission: what let it in, "" if it needed none."""

    tenant_id: str
    key_id: str
    permission: str


class Row(NamedTuple):
    """What is counted of a key in an hour: its answers by status, endpoint, address, permission."""

    tenant_id: str
    key_id: str
    hour_at: int
    measure: str
    value: str


_Use = tuple[KeyUse, int, int, str, str]


class Usage:
    """One count for each way in which a key was used; told apart by measure only when taken."""

    def __init__(self) -> None:
        self._counts: dict[_Use, int] = {}
        self._late: dict[Row, int] = {}
        self._addresses: dict[tuple[str, int], set[str]] = {}

    def note(self, key: KeyUse, at_us: int, status: int, endpoint: str, address: str) -> None:
        """Count one answer. endpoint: the row's method and template, never the path itself."""
        counts = self._counts
        use = (key, at_us // HOUR_US, status, endpoint, address)
        if use not in counts and len(counts) >= _USES_KEPT:
            use = (key, at_us // HOUR_US, status, endpoint, OTHER)
        counts[use] = counts.get(use, 0) + 1

    def take(self) -> Iterator[dict[Row, int]]:
        """All that was counted since the last time, in batches that keep nobody waiting."""
        uses, self._counts = list(self._counts.items()), {}
        late, self._late = list(self._late.items()), {}
        self._forget_hours(max((hour for (_, hour, *_), _ in uses), default=0))
        # Several processes add to the same rows: in one order, so that none waits for another.
        for at in range(0, len(uses), _AT_ONCE):
            rows: dict[Row, int] = {}
            for use, count in uses[at : at + _AT_ONCE]:
                for row in self._rows(*use):
                    rows[row] = rows.get(row, 0) + count
            yield dict(sorted(rows.items()))
        for at in range(0, len(late), _AT_ONCE):
            yield dict(sorted(late[at : at + _AT_ONCE]))

    def give_back(self, rows: dict[Row, int]) -> None:
        """What could not be written is taken with the next; of too much, the rest is lost."""
        for row, count in rows.items():
            if row in self._late or len(self._late) < _ROWS_KEPT:
                self._late[row] = self._late.get(row, 0) + count

    def _forget_hours(self, latest: int) -> None:
        kept = self._addresses.items()
        self._addresses = {of: seen for of, seen in kept if of[1] >= latest - 1}

    def _rows(self, key: KeyUse, hour: int, status: int, endpoint: str, address: str) -> list[Row]:
        measured = [("status", str(status))]
        # Whoever could not sign says nothing about how the key is used.
        if status != _UNPROVEN:
            measured += [("endpoint", endpoint), ("address", self._bounded(key, hour, address))]
            measured += [("permission", key.permission)] if key.permission else []
        return [
            Row(key.tenant_id, key.key_id, hour * HOUR_US, measure, value)
            for measure, value in measured
        ]

    def _bounded(self, key: KeyUse, hour: int, address: str) -> str:
        kept = self._addresses.setdefault((key.key_id, hour), set())
        if address not in kept and len(kept) >= ADDRESSES_KEPT:
            return OTHER
        kept.add(address)
        return address
