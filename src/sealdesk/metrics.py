"""What the process counts about itself, for Prometheus."""

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._requests = Counter(
            "sealdesk_requests", "Requests answered.", ["route", "status"], registry=self._registry
        )
        self._durations = Histogram(
            "sealdesk_request_duration_seconds",
            "Time from the request's headers to its answer.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        # Finding a labelled child takes a lock and two look-ups; this is one.
        self._counters: dict[tuple[str, int], Counter] = {}
        self._histograms: dict[str, Histogram] = {}

    def note(self, route: str, status: int, duration_s: float) -> None:
        """Count one answer. route: the row's method and template, never the path itself."""
        counter = self._counters.get((route, status))
        if counter is None:
            counter = self._requests.labels(route, str(status))
            self._counters[route, status] = counter
            self._histograms[route] = self._durations.labels(route)
        counter.inc()
        self._histograms[route].observe(duration_s)

    def exposition(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)
