"""The manifests of deploy/kubernetes: what they say, and that it is what the composition says."""

import importlib
import re
from typing import Any

import pytest

from sealdesk.server import draining
from tests.deploy.files import DEPLOY
from tests.deploy.test_compose import SERVICES
from tests.support.client import Person
from tests.support.databases import SQLITE_ONLY
from tests.support.for_each import for_each
from tests.support.service import Service

# Neither has types.
_YAML, _SCHEMAS = importlib.import_module("yaml"), importlib.import_module("kubernetes_validate")
_OLDEST = "1.30"
_FILES = {
    name: _YAML.safe_load((DEPLOY / "kubernetes" / f"{name}.yaml").read_text())
    for name in ("sealdesk", "migrate")
}
_OBJECTS: list[Any] = [*_FILES["sealdesk"]["items"], _FILES["migrate"]]
# Deployment or Job → the service of the composition that does the same.
_SAME = {
    "sealdesk": "one",
    "sealdesk-worker": "worker",
    "sealdesk-mail": "mail",
    "sealdesk-backup": "backup",
    "sealdesk-migrate": "migrate",
}


def _pod(name: str) -> Any:
    (found,) = (each for each in _OBJECTS if each["metadata"]["name"] == name and _has_pods(each))
    inner = found["spec"].get("jobTemplate", found)["spec"]
    return inner["template"]["spec"]


def _has_pods(found: Any) -> bool:
    return found["kind"] in ("Deployment", "Job", "CronJob")


def _container(name: str) -> Any:
    (container,) = _pod(name)["containers"]
    return container


@pytest.mark.parametrize("version", [_OLDEST, _SCHEMAS.latest_version()])
def test_the_objects_fit_the_schemas_of_kubernetes(version: str) -> None:
    for each in _OBJECTS:
        _SCHEMAS.validate(each, version, strict=True)


def test_a_misspelled_field_does_not_fit() -> None:
    claim = _OBJECTS[0] | {"specs": {}}
    with pytest.raises(_SCHEMAS.ValidationError):
        _SCHEMAS.validate(claim, _OLDEST, strict=True)


def test_every_pod_is_one_of_the_composition() -> None:
    assert {each["metadata"]["name"] for each in _OBJECTS if _has_pods(each)} == _SAME.keys()


@for_each("name", _SAME)
def test_a_pod_runs_the_command_of_the_composition_with_its_secrets(name: str) -> None:
    service, container = SERVICES[_SAME[name]], _container(name)
    assert container["args"] == service["command"]
    files = [f"secrets/{each['secretRef']['name']}.env" for each in container["envFrom"]]
    assert files == service["env_file"]


@for_each("name", _SAME)
def test_a_pod_can_do_no_more_than_it_needs(name: str) -> None:
    pod, container = _pod(name), _container(name)
    user = re.findall(r"^USER (\d+):(\d+)$", (DEPLOY / "Dockerfile").read_text(), re.M)
    as_whom = pod["securityContext"]
    assert [(str(as_whom["runAsUser"]), str(as_whom["runAsGroup"]))] == user
    assert as_whom["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    written = {each["mountPath"] for each in container["volumeMounts"]}
    assert {"/var/lib/sealdesk", "/tmp"} <= written
    assert {each["name"] for each in container["volumeMounts"]} == {
        each["name"] for each in pod["volumes"]
    }


def test_a_server_has_time_to_drain_and_knows_how_many_there_are() -> None:
    pod, container = _pod("sealdesk"), _container("sealdesk")
    env = {each["name"]: each["value"] for each in container["env"]}
    notice_s = int(env["SEALDESK_DRAIN_NOTICE_S"])
    assert pod["terminationGracePeriodSeconds"] > draining.DRAIN_S + notice_s
    (deployment,) = (
        each
        for each in _OBJECTS
        if (each["kind"], each["metadata"]["name"]) == ("Deployment", "sealdesk")
    )
    assert env["SEALDESK_EXPECTED_PROCESSES"] == str(deployment["spec"]["replicas"])


@SQLITE_ONLY
def test_a_healthy_server_passes_its_probes(service: Service) -> None:
    container = _container("sealdesk")
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        path = container[probe]["httpGet"]["path"]
        assert Person(service, "").get(path).status_code == 200, path
