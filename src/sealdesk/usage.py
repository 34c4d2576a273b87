"""How keys are used, counted in the memory of the process until somebody writes it down."""

from typing import NamedTuple

HOUR_US = 3600 * 1_000_000
OTHER = "other"
VALUES_KEPT = 50  # distinct ones of a measure, per key and hour: addresses are chosen by clients
_USES_KEPT = 2_000  # some 10 ms of the loop when they are taken
_ROWS_KEPT = 100_000
_UNPROVEN = 401


class KeyUse(NamedTuple):
    """The key that a request came with. permission: the one that it needed, "" before it is known.

    A plain tuple of texts, because one is made for every request.
    """

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
        self._values: dict[tuple[str, int, str], set[str]] = {}

    def note(self, key: KeyUse, at_us: int, status: int, endpoint: str, address: str) -> None:
        """Count one answer. endpoint: the row's method and template, never the path itself."""
        counts = self._counts
        use = (key, at_us // HOUR_US, status, endpoint, address)
        if use not in counts and len(counts) >= _USES_KEPT:
            use = (key, at_us // HOUR_US, status, endpoint, OTHER)
        counts[use] = counts.get(use, 0) + 1

    def take(self) -> dict[Row, int]:
        """All that was counted since the last time, in the order of the rows."""
        uses, self._counts = self._counts, {}
        rows, self._late = self._late, {}
        for use, count in uses.items():
            for row in self._rows(*use):
                rows[row] = rows.get(row, 0) + count
        latest = max((hour for _, hour, *_ in uses), default=None)
        if latest is not None:
            self._values = {of: kept for of, kept in self._values.items() if of[1] >= latest - 1}
        # Several processes add to the same rows: in one order, so that none waits for another.
        return dict(sorted(rows.items()))

    def give_back(self, rows: dict[Row, int]) -> None:
        """What could not be written is taken with the next; of too much, the rest is lost."""
        for row, count in rows.items():
            if row in self._late or len(self._late) < _ROWS_KEPT:
                self._late[row] = self._late.get(row, 0) + count

    def _rows(self, key: KeyUse, hour: int, status: int, endpoint: str, address: str) -> list[Row]:
        measured = [("status", str(status))]
        # Whoever could not sign says nothing about how the key is used.
        if status != _UNPROVEN:
            measured += [("endpoint", endpoint), ("address", address)]
            measured += [("permission", key.permission)] if key.permission else []
        return [
            Row(
                key.tenant_id,
                key.key_id,
                hour * HOUR_US,
                measure,
                self._bounded(key, hour, measure, value),
            )
            for measure, value in measured
        ]

    def _bounded(self, key: KeyUse, hour: int, measure: str, value: str) -> str:
        kept = self._values.setdefault((key.key_id, hour, measure), set())
        if value not in kept and len(kept) >= VALUES_KEPT:
            return OTHER
        kept.add(value)
        return value
