"""What the process counts about itself, for Prometheus."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate

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

from sealdesk.limits import Limiter

CONTENT_TYPE = CONTENT_TYPE_LATEST
_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_LABELS = [*(str(bound) for bound in _BOUNDS_S), "+Inf"]


class _Durations:
    """How many requests took how long, by bucket, and all of them together."""

    def __init__(self) -> None:
        self.counts = [0] * len(_LABELS)
        self.sum_s = 0.0


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

    def note(self, route: str, status: int, duration_s: float) -> None:
        """Count one answer. route: the row's method and template, never the path itself."""
        self._answers[route, status] += 1
        durations = self._durations[route]
        durations.counts[bisect_left(_BOUNDS_S, duration_s)] += 1
        durations.sum_s += duration_s

    def collect(self) -> Iterator[Metric]:
        """What was counted, in the library's terms."""
        answers = CounterMetricFamily(
            "sealdesk_requests", "Requests answered.", labels=["route", "status"]
        )
        for (route, status), count in self._answers.items():
            answers.add_metric([route, str(status)], count)
        yield answers
        durations = HistogramMetricFamily(
            "sealdesk_request_duration_seconds",
            "Time from the request's headers to its answer.",
            labels=["route"],
        )
        for route, kept in self._durations.items():
            buckets = list(zip(_LABELS, accumulate(kept.counts), strict=True))
            durations.add_metric([route], buckets, kept.sum_s)
        yield durations
        if self._limiter.mode != "per_process":
            yield from _shared_limits(self._limiter)

    def exposition(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)


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
