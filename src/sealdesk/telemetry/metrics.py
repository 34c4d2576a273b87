"""What the process counts about itself, for Prometheus."""

import asyncio
import operator
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from sealdesk.rate_limits.limiter import Limiter
from sealdesk.telemetry.shared_memory import SharedMemory

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_WRITTEN_EVERY_S = 1.0
_LABELS = [*(str(bound) for bound in _BOUNDS_S), "+Inf"]


class _Durations(msgspec.Struct):
    """How many requests took how long, by bucket, and all of them together."""

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * len(_LABELS))
    sum_s: float = 0.0


class _Counted(msgspec.Struct):
    """What was counted: answers by route and status, durations by route."""

    answers: dict[tuple[str, int], int]
    durations: dict[str, _Durations]


class Metrics(Collector):
    """Requests by route and status, how long they took, and how their limits are kept.

    Counted in plain numbers, because one thread counts: the library's counters take two locks,
    and three times as long.
    """

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(self)
        self._answers: Counter[tuple[str, int]] = Counter()
        self._durations: defaultdict[str, _Durations] = defaultdict(_Durations)
        self._attempts: Counter[str] = Counter()
        self._unplaced_s = 0.0
        self._tally: SharedMemory | None = None
        self._worker = 0

    def join(self, tally: SharedMemory, worker: int) -> None:
        """Count together with the other workers, and go on where this one's predecessor ended."""
        self._tally, self._worker = tally, worker
        before = _read(tally, worker)
        self._answers.update(before.answers)
        self._durations.update(before.durations)

    def write_down(self) -> None:
        """Let the other workers know what was counted here."""
        if self._tally is not None:
            counted = _Counted(dict(self._answers), dict(self._durations))
            self._tally.write(self._worker, msgspec.msgpack.encode(counted))

    def keep_written(self) -> None:
        """The same now and once a second, as long as the present loop runs."""
        self.write_down()
        asyncio.get_running_loop().call_later(_WRITTEN_EVERY_S, self.keep_written)

    def note(self, route: str, status: int, duration_s: float) -> None:
        """Count one answer. route: the row's method and template, never the path itself."""
        self._answers[route, status] += 1
        durations = self._durations[route]
        durations.counts[bisect_left(_BOUNDS_S, duration_s)] += 1
        durations.sum_s += duration_s

    @property
    def answered(self) -> int:
        """How many requests this process has answered."""
        return self._answers.total()

    def note_attempt(self, result: str) -> None:
        """Count one attempt to deliver an event: succeeded, failed, or failed and disabled."""
        self._attempts[result] += 1

    def note_unplaced(self, age_s: float) -> None:
        """How long the oldest event has waited for its place in the feed."""
        self._unplaced_s = age_s

    def of_background(self) -> dict[str, object]:
        """What the background loop has counted, for the log of a process that nobody scrapes."""
        return {"attempts": dict(self._attempts), "unplaced_s": round(self._unplaced_s, 3)}

    def collect(self) -> Iterator[Metric]:
        """What was counted, in the library's terms."""
        counted = self._by_all()
        answers = CounterMetricFamily(
            "sealdesk_requests", "Requests answered.", labels=["route", "status"]
        )
        for (route, status), count in counted.answers.items():
            answers.add_metric([route, str(status)], count)
        yield answers
        durations = HistogramMetricFamily(
            "sealdesk_request_duration_seconds",
            "Time from the request's headers to its answer.",
            labels=["route"],
        )
        for route, kept in counted.durations.items():
            buckets = list(zip(_LABELS, accumulate(kept.counts), strict=True))
            durations.add_metric([route], buckets, kept.sum_s)
        yield durations
        yield from self._background()
        if self._limiter.mode != "per_process":
            yield from _shared_limits(self._limiter)

    def _background(self) -> Iterator[Metric]:
        attempts = CounterMetricFamily(
            "sealdesk_webhook_attempts", "Requests to webhook endpoints.", labels=["result"]
        )
        for result, count in self._attempts.items():
            attempts.add_metric([result], count)
        yield attempts
        yield GaugeMetricFamily(
            "sealdesk_events_unplaced_seconds",
            "How long the oldest event has waited for the background loop.",
            self._unplaced_s,
        )

    def _by_all(self) -> _Counted:
        """What this process counted, and what the other workers have written down."""
        written = [_Counted(self._answers, self._durations)]
        if self._tally is not None:
            others = {*range(1, self._tally.workers + 1)} - {self._worker}
            written += [_read(self._tally, worker) for worker in others]
        return _sum(written)

    def exposition(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)


def _read(tally: SharedMemory, worker: int) -> _Counted:
    content = tally.read(worker)
    return msgspec.msgpack.decode(content, type=_Counted) if content else _Counted({}, {})


def _sum(parts: Iterable[_Counted]) -> _Counted:
    answers: Counter[tuple[str, int]] = Counter()
    durations: defaultdict[str, _Durations] = defaultdict(_Durations)
    for part in parts:
        answers.update(part.answers)
        for route, kept in part.durations.items():
            total = durations[route]
            total.counts = list(map(operator.add, total.counts, kept.counts))
            total.sum_s += kept.sum_s
    return _Counted(answers, durations)


def _shared_limits(limiter: Limiter) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "sealdesk_rate_limit_shared",
        "1 while Redis holds the rate limits, 0 while this process keeps to its part of them.",
        float(limiter.mode == "shared"),
    )
    yield CounterMetricFamily(
        "sealdesk_rate_limit_fallbacks",
        "How often Redis was away, or became it.",
        float(limiter.fallbacks),
    )
