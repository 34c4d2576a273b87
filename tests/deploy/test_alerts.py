"""The alert rules for Prometheus name metrics that exist, and say what to do."""

import importlib
import re
from typing import Any

import pytest

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
