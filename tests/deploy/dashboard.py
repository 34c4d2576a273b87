"""`python -m tests.deploy.dashboard` writes deploy/grafana/sealdesk.json from the list of metrics.

Each family of `/metrics` is a panel, and its help is the panel's title: a new metric has one too.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.rate_limits.redis_limiter import SharedLimiter
from sealdesk.telemetry.issues import Issues
from sealdesk.telemetry.metrics import Metrics
from sealdesk.telemetry.storage import StorageHealth
from tests.deploy.files import DEPLOY

REMEDY = "run .venv/bin/python -m tests.deploy.dashboard"
FILE = DEPLOY / "grafana" / "sealdesk.json"
# Rows of panels, by the beginnings of the metrics' names; the last takes what is left.
_ROWS = {
    "Is it well?": ("sealdesk_issue", "sealdesk_storage", "sealdesk_events"),
    "Requests": ("sealdesk_request", "sealdesk_bytes", "sealdesk_rate", "sealdesk_untrusted"),
    "E-mail and webhooks": ("sealdesk_mail", "sealdesk_webhook"),
    "Processes": ("sealdesk_", "process_cpu", "process_open", "process_resident"),
}
_COLUMNS, _WIDTH, _HEIGHT = 3, 8, 8
# By the end of a metric's name; seconds of a second are a share.
_UNITS = {"bytes": "bytes", "seconds": "s"}
_RATES = {"seconds": "percentunit"}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_OF_INSTANCE = '{instance=~"$instance"}'
_LINES = 10  # of the routes that do most


def exposed() -> str:
    """What `/metrics` has on SQLite and with Redis: every family that there is."""
    storage = StorageHealth()
    storage.free_bytes = 1
    limiter = SharedLimiter("redis://127.0.0.1:1", 1, time.monotonic)
    metrics = Metrics(limiter, storage, ByteBudget(1), ByteBudget(1), Issues(time.monotonic))
    return metrics.exposition().decode()


def dashboard() -> dict[str, Any]:
    """What Grafana imports."""
    families = {each.name: each for each in text_string_to_metric_families(exposed())}
    return {
        "title": "Sealdesk",
        "uid": "sealdesk",
        "schemaVersion": 39,
        "editable": True,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": [*_variables()]},
        "panels": [*_panels(families)],
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    yield {
        "name": "instance",
        "type": "query",
        "label": "Process",
        "datasource": _SOURCE,
        "query": "label_values(sealdesk_build_info, instance)",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _panels(families: dict[str, Metric]) -> Iterator[dict[str, Any]]:
    """A row's title, then its panels side by side; a family stands in the first row that fits."""
    left, number, top = dict(families), 0, 0
    for title, beginnings in _ROWS.items():
        number += 1
        place = {"x": 0, "y": top, "w": _COLUMNS * _WIDTH, "h": 1}
        yield {"id": number, "type": "row", "title": title, "gridPos": place, "panels": []}
        top += 1
        chosen = [left.pop(name) for name in sorted(left) if name.startswith(beginnings)]
        for at, family in enumerate(chosen):
            number += 1
            row, column = divmod(at, _COLUMNS)
            place = {"x": column * _WIDTH, "y": top + row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT}
            yield {"id": number, "gridPos": place, **_panel(family)}
        top += _HEIGHT * -(-len(chosen) // _COLUMNS)


def _panel(family: Metric) -> dict[str, Any]:
    units = _RATES if family.type == "counter" else _UNITS
    unit = units.get(family.name.rpartition("_")[2], "short")
    return {
        "type": "timeseries",
        "title": family.documentation.removesuffix("."),
        "description": family.name,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": "ABC"[at], "expr": expression, "legendFormat": legend}
            for at, (expression, legend) in enumerate(_queries(family))
        ],
    }


def _queries(family: Metric) -> Iterator[tuple[str, str]]:
    """Expressions of Prometheus, each with the legend of its lines."""
    if family.type == "histogram":
        rate = f"sum by (le) (rate({family.name}_bucket{_OF_INSTANCE}[$__rate_interval]))"
        for share in (50, 99):
            yield f"histogram_quantile({share / 100}, {rate})", f"p{share}"
    elif family.type == "counter":
        rate = f"rate({family.name}_total{_OF_INSTANCE}[$__rate_interval])"
        yield f"topk({_LINES}, sum without (instance, job) ({rate}))", "__auto"
    else:
        yield f"max without (job) ({family.name}{_OF_INSTANCE})", "__auto"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(dashboard(), indent=1) + "\n")
