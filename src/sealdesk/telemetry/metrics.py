"""The metrics of a process, for Prometheus."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from sealdesk import __version__, build
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.rate_limits.protocol import Limiter
from sealdesk.telemetry.counters import BOUNDS_S, ResponseCounter
from sealdesk.telemetry.forwarding import UntrustedForwarders
from sealdesk.telemetry.issues import Issues
from sealdesk.telemetry.loop_time import LoopTime
from sealdesk.telemetry.storage import StorageHealth

CONTENT_TYPE = CONTENT_TYPE_LATEST
_LABELS = [*(str(bound) for bound in BOUNDS_S), "+Inf"]


class Metrics(Collector):
    """Requests by route and status, their durations, deliveries, and the state of rate limits."""

    def __init__(
        self,
        limiter: Limiter,
        storage: StorageHealth,
        received: ByteBudget,
        sending: ByteBudget,
        issues: Issues,
    ) -> None:
        self._limiter = limiter
        self._storage = storage
        self._issues = issues
        self._budgets = {"received": received, "sending": sending}
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(self)
        self.responses = ResponseCounter()
        self.loop_time = LoopTime()
        self.untrusted_forwarders = UntrustedForwarders()
        self._attempts: Counter[str] = Counter()
        self._refused_mail: Counter[str] = Counter()
        self._waiting_s = 0.0
        self._descriptors_exhausted = 0

    @property
    def answered(self) -> int:
        """The number of responses that this process has sent."""
        return self.responses.by_status.total()

    def count_attempt(self, result: str) -> None:
        """Count a delivery attempt. result: succeeded, failed, or disabled (the endpoint)."""
        self._attempts[result] += 1

    def count_refused_mail(self, reason: str) -> None:
        """Count a message that mail servers must send again.

        reason: unavailable (database or storage), waiting_full, or fault.
        """
        self._refused_mail[reason] += 1

    def set_waiting(self, age_s: float) -> None:
        """Set how long the oldest event has waited for the background loop."""
        self._waiting_s = age_s

    def count_exhausted_descriptors(self) -> None:
        """Count a second in which the process had no file descriptor left."""
        self._descriptors_exhausted += 1

    def background_summary(self) -> dict[str, object]:
        """The counts of the background loop, for the log of a worker, which has no /metrics."""
        return {"attempts": dict(self._attempts), "waiting_s": round(self._waiting_s, 3)}

    def collect(self) -> Iterator[Metric]:
        """The metric families that Prometheus' library renders."""
        yield InfoMetricFamily(
            "sealdesk_build",
            "The version of this process.",
            {"version": __version__, "commit": build.commit()},
        )
        responses = CounterMetricFamily(
            "sealdesk_requests", "Responses sent.", labels=["route", "status"]
        )
        for (route, status), count in self.responses.by_status.items():
            responses.add_metric([route, str(status)], count)
        yield responses
        durations = HistogramMetricFamily(
            "sealdesk_request_duration_seconds",
            "Time from the request's headers to its response.",
            labels=["route"],
        )
        loop = CounterMetricFamily(
            "sealdesk_request_loop_seconds",
            "Time for which requests held the event loop.",
            labels=["route"],
        )
        beside = CounterMetricFamily(
            "sealdesk_request_beside_seconds",
            "Processor time of requests in threads and child processes.",
            labels=["route"],
        )
        for route, recorded in self.responses.durations.items():
            loop.add_metric([route], recorded.loop_s)
            beside.add_metric([route], recorded.beside_s)
            buckets = list(zip(_LABELS, accumulate(recorded.counts), strict=True))
            durations.add_metric([route], buckets, recorded.sum_s)
        yield from (durations, loop, beside)
        yield from self._collect_bytes()
        yield from self._collect_counts()
        yield from _collect_storage(self._storage)
        yield _collect_issues(self._issues)
        if self._limiter.mode != "per_process":
            yield from _collect_rate_limits(self._limiter)

    def _collect_bytes(self) -> Iterator[Metric]:
        held = GaugeMetricFamily(
            "sealdesk_bytes_in_flight",
            "Bytes of bodies over 16 KiB that are being received or sent.",
            labels=["direction"],
        )
        refused = CounterMetricFamily(
            "sealdesk_bytes_refused",
            "Requests refused because too many bytes were being received or sent.",
            labels=["direction"],
        )
        for direction, budget in self._budgets.items():
            held.add_metric([direction], budget.held_bytes)
            refused.add_metric([direction], budget.refused_count)
        yield from (held, refused)

    def _collect_counts(self) -> Iterator[Metric]:
        yield _counts(
            "sealdesk_untrusted_forwarded_requests",
            "Requests with X-Forwarded-For of peers that are not trusted proxies.",
            "peer",
            self.untrusted_forwarders.counts,
        )
        yield _counts(
            "sealdesk_webhook_attempts", "Requests to webhook endpoints.", "result", self._attempts
        )
        yield _counts(
            "sealdesk_mail_refused",
            "Messages that were refused for now.",
            "reason",
            self._refused_mail,
        )
        yield GaugeMetricFamily(
            "sealdesk_events_waiting_seconds",
            "How long the oldest event has waited for the background loop.",
            self._waiting_s,
        )
        yield CounterMetricFamily(
            "sealdesk_descriptors_exhausted_seconds",
            "Seconds in which no file descriptor was left.",
            self._descriptors_exhausted,
        )

    def exposition(self) -> bytes:
        """The text that Prometheus scrapes."""
        return generate_latest(self._registry)


def _counts(name: str, about: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, about, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family


def _collect_storage(storage: StorageHealth) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "sealdesk_storage_healthy",
        "0 while the database is lost or damaged, or takes no writes.",
        float(not storage.reason),
    )
    if storage.free_bytes is None:
        return  # PostgreSQL has its own metrics
    yield GaugeMetricFamily(
        "sealdesk_storage_free_bytes", "Free space beside the database.", storage.free_bytes
    )
    yield GaugeMetricFamily(
        "sealdesk_storage_log_bytes", "Size of SQLite's write-ahead log.", storage.log_bytes
    )
    yield GaugeMetricFamily(
        "sealdesk_storage_damaged",
        "Pages and tables that the page checker found damaged.",
        len(storage.damaged_pages) + len(storage.table_faults),
    )
    yield CounterMetricFamily(
        "sealdesk_storage_pages_checked",
        "Pages that the page checker has read.",
        storage.pages_checked,
    )


def _collect_issues(issues: Issues) -> Metric:
    """1 for an issue, 0 for a check that found nothing, no value for what was not looked at."""
    found = GaugeMetricFamily(
        "sealdesk_issue", "1 while something should be repaired.", labels=["code"]
    )
    seen = {issue.code for issue in issues.findings.issues}
    for code in sorted(issues.findings.looked_at | seen):
        found.add_metric([code], float(code in seen))
    return found


def _collect_rate_limits(limiter: Limiter) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "sealdesk_rate_limit_shared",
        "1 while Redis counts the rate limits, 0 while this process applies its share of them.",
        float(limiter.mode == "shared"),
    )
    yield CounterMetricFamily(
        "sealdesk_rate_limit_fallbacks",
        "How often Redis could not be reached.",
        float(limiter.fallbacks),
    )
