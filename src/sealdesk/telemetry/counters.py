"""Notes each response: by route for the metrics, by API key for its usage and the request log."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
HOUR_US = 3600 * 1_000_000
OTHER = "other"
MAX_ADDRESSES = 50  # per key and hour; other measures have few values
_MAX_USES = 20_000
_BATCH = 1_000  # about 5 ms of the event loop's time
_MAX_LATE_ROWS = 100_000
UNAUTHORIZED = 401
# Between two writes of a process: of one tenant, and of all.
MAX_OF_TENANT = 2_000
MAX_HELD = 20_000
MAX_REFUSALS_OF_TENANT = 200
MAX_REFUSALS_HELD = 2_000
_MAX_TARGET = 512
_HIDDEN = "*"
# Also of parameters that do not exist, but shorter than a key or a secret that was pasted there.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)


class Durations(msgspec.Struct):
    """The durations of a route: the number of requests per bucket, and their sum.

    loop_s: how long they held the event loop together. beside_s: processor time of their work in
    threads and child processes.
    """

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0
    loop_s: float = 0.0
    beside_s: float = 0.0


class ResponseCounter:
    """Counts responses by route and status, and their durations by route.

    In plain integers, because one thread counts: the counters of Prometheus' library take two locks
    and three times as long.
    """

    def __init__(self) -> None:
        self.by_status: Counter[tuple[str, int]] = Counter()
        self.durations: defaultdict[str, Durations] = defaultdict(Durations)

    def count(
        self, route: str, status: int, duration_s: float, loop_s: float, beside_s: float
    ) -> None:
        """Count one response. route: method and path template, never the path itself."""
        self.by_status[route, status] += 1
        durations = self.durations[route]
        durations.counts[bisect_left(BOUNDS_S, duration_s)] += 1
        durations.sum_s += duration_s
        durations.loop_s += loop_s
        durations.beside_s += beside_s


class KeyUse(msgspec.Struct, frozen=True):
    """The key of a request. permission: the one that the request needed, "" for none."""

    tenant_id: str
    key_id: str
    permission: str


class Row(NamedTuple):
    """A counter of a key and hour. measure: status, endpoint, address or permission."""

    tenant_id: str
    key_id: str
    hour_at: int
    measure: str
    value: str


_Use = tuple[KeyUse, int, int, str, str]


class Usage:
    """Counts uses of keys until a task takes them; `take` splits each use into its measures."""

    def __init__(self) -> None:
        self._counts: dict[_Use, int] = {}
        self._unwritten: dict[Row, int] = {}
        self._addresses: dict[tuple[str, int], set[str]] = {}

    def note(self, key: KeyUse, at_us: int, status: int, endpoint: str, address: str) -> None:
        """Count one response. endpoint: method and path template, never the path itself."""
        counts = self._counts
        use = (key, at_us // HOUR_US, status, endpoint, address)
        if use not in counts and len(counts) >= _MAX_USES:
            use = (key, at_us // HOUR_US, status, endpoint, OTHER)
        counts[use] = counts.get(use, 0) + 1

    def take(self) -> Iterator[dict[Row, int]]:
        """The counts since the last call, in batches that block the event loop for about 5 ms."""
        uses, self._counts = list(self._counts.items()), {}
        unwritten, self._unwritten = list(self._unwritten.items()), {}
        self._forget_hours(max((hour for (_, hour, *_), _ in uses), default=0))
        # Sorted: several processes update the same rows, and one order avoids deadlocks.
        for at in range(0, len(uses), _BATCH):
            rows: dict[Row, int] = {}
            for use, count in uses[at : at + _BATCH]:
                for row in self._rows_of(*use):
                    rows[row] = rows.get(row, 0) + count
            yield dict(sorted(rows.items()))
        for at in range(0, len(unwritten), _BATCH):
            yield dict(sorted(unwritten[at : at + _BATCH]))

    def give_back(self, rows: dict[Row, int]) -> None:
        """Add counts that were not written to the next `take`; above a limit they are dropped."""
        for row, count in rows.items():
            if row in self._unwritten or len(self._unwritten) < _MAX_LATE_ROWS:
                self._unwritten[row] = self._unwritten.get(row, 0) + count

    def _forget_hours(self, latest: int) -> None:
        known = self._addresses.items()
        self._addresses = {of: seen for of, seen in known if of[1] >= latest - 1}

    def _rows_of(
        self, key: KeyUse, hour: int, status: int, endpoint: str, address: str
    ) -> list[Row]:
        measured = [("status", str(status))]
        # A request without a valid signature is not a use of the key.
        if status != UNAUTHORIZED:
            measured += [
                ("endpoint", endpoint),
                ("address", self._limit_addresses(key, hour, address)),
            ]
            measured += [("permission", key.permission)] if key.permission else []
        return [
            Row(key.tenant_id, key.key_id, hour * HOUR_US, measure, value)
            for measure, value in measured
        ]

    def _limit_addresses(self, key: KeyUse, hour: int, address: str) -> str:
        known = self._addresses.setdefault((key.key_id, hour), set())
        if address not in known and len(known) >= MAX_ADDRESSES:
            return OTHER
        known.add(address)
        return address


class LoggedRequest(NamedTuple):
    """A request and its response. id: the request id, which begins with the time of the request.

    target: path and query without the values of the query. cpu_us: how long it held the event
    loop, and the processor time of its threads; None of what an earlier version has logged.
    """

    tenant_id: str
    id: str
    key_id: str
    method: str
    target: str
    status: int
    duration_us: int
    response_bytes: int
    cpu_us: int | None


class RequestBuffer:
    """Requests that wait to be written. Of a tenant the newest stay when there are too many.

    Refusals of wrong signatures have a part of their own, as anybody can cause them. dropped: how
    many are missing in the log.
    """

    def __init__(self) -> None:
        self._requests, self._refusals = _Part(), _Part()
        self.dropped = 0

    def add(self, request: LoggedRequest) -> None:
        if request.status == UNAUTHORIZED:
            most = (MAX_REFUSALS_OF_TENANT, MAX_REFUSALS_HELD)
            self.dropped += self._refusals.add(request, *most)
        else:
            self.dropped += self._requests.add(request, MAX_OF_TENANT, MAX_HELD)

    def take(self) -> Iterator[tuple[str, list[LoggedRequest]]]:
        """(tenant id, its requests) since the last call, the oldest first; refusals come later."""
        yield from self._requests.take()
        yield from self._refusals.take()


class _Part:
    def __init__(self) -> None:
        self._by_tenant: dict[str, deque[LoggedRequest]] = {}
        self._held = 0

    def add(self, request: LoggedRequest, most_of_tenant: int, most: int) -> int:
        """How many had to be dropped for it."""
        held = self._by_tenant.get(request.tenant_id)
        if held is None:
            if self._held >= most:
                return 1
            held = self._by_tenant[request.tenant_id] = deque()
        is_full = len(held) >= most_of_tenant or self._held >= most
        if is_full:
            held.popleft()
        else:
            self._held += 1
        held.append(request)
        return int(is_full)

    def take(self) -> Iterator[tuple[str, list[LoggedRequest]]]:
        taken, self._by_tenant, self._held = self._by_tenant, {}, 0
        for tenant_id, requests in taken.items():
            yield tenant_id, list(requests)


def describe_target(path: str, query: bytes) -> str:
    """Path and query without the values of the query, which may be e-mail addresses."""
    if not query:
        return path[:_MAX_TARGET]
    pairs = query[:_MAX_TARGET].decode("latin-1").split("&")
    return f"{path}?{'&'.join(map(_hide_value, pairs))}"[:_MAX_TARGET]


def _hide_value(pair: str) -> str:
    name, sign, _ = pair.partition("=")
    shown = name if _NAME.fullmatch(name) else _HIDDEN
    return f"{shown}{sign}{_HIDDEN}" if sign else shown
