"""Alert rules for Prometheus and a dashboard for Grafana name the metrics that there are."""

import importlib
import json
import re
from typing import Any

import pytest

from tests.deploy import dashboard
from tests.deploy.files import DEPLOY
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service

RULES: list[dict[str, Any]] = importlib.import_module("yaml").safe_load(
    (DEPLOY / "prometheus" / "alerts.yaml").read_text()
)["groups"][0]["rules"]


@SQLITE_ONLY
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_names_metrics_that_exist_and_says_what_to_do(
    service: Service, rule: dict[str, Any]
) -> None:
    exposed = Person(service, "").get("/metrics").text
    families = set(re.findall(r"^# TYPE (\w+) ", exposed, re.M))
    named = set(re.findall(r"\bsealdesk_\w+", rule["expr"]))
    assert named
    assert named <= families
    assert set(rule["annotations"]) == {"summary", "do"}
    assert rule["labels"]["severity"] in ("page", "warn")


def test_the_dashboard_is_made_from_the_metrics() -> None:
    assert json.loads(dashboard.FILE.read_text()) == dashboard.dashboard(), dashboard.REMEDY


def test_the_dashboard_has_a_panel_for_each_metric() -> None:
    panels = dashboard.dashboard()["panels"]
    drawn = {panel["description"] for panel in panels if panel["type"] != "row"}
    families = re.findall(r"^# TYPE (sealdesk_\w+?)(?:_total)? ", dashboard.exposed(), re.M)
    assert families
    # The version of a process is the list of the processes.
    assert set(families) - drawn <= {"sealdesk_build_info"}
    queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(set(queries)) == len(queries)
