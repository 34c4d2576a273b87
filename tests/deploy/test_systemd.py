"""The units, and the settings that they are given."""

import configparser
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from sealdesk.server import draining
from sealdesk.settings import from_env, known_names
from tests.deploy.files import DEPLOY
from tests.support.for_each import for_each

_UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
_KEPT = Path("/opt/sealdesk/bin/sealdesk")
# What keeps a service that was broken into from the rest of the host.
_HARDENED = {
    "User": "sealdesk",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "MemoryDenyWriteExecute": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "UMask": "0077",
}


class _Unit(configparser.RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def service(file: Path) -> dict[str, str]:
    """The [Service] section; of what stands there twice, the last."""
    unit = _Unit(strict=False)
    unit.read_string(file.read_text())
    return dict(unit["Service"])


def settings(file: Path) -> dict[str, str]:
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """What deploy/secrets.sh makes."""
    subprocess.run([DEPLOY / "secrets.sh", tmp_path / "made"], check=True, capture_output=True)
    return tmp_path / "made"


@for_each("unit", _UNITS, ids=lambda unit: unit.name)
def test_a_unit_runs_what_is_installed_and_shut_in(unit: Path) -> None:
    found = service(unit)
    assert found["ExecStart"].startswith(f"{_KEPT} ")
    assert {name: found.get(name) for name in _HARDENED} == _HARDENED


def test_a_unit_waits_until_the_service_has_drained() -> None:
    found = service(DEPLOY / "systemd" / "sealdesk@.service")
    assert int(found["TimeoutStopSec"]) > draining.DRAIN_S + 1
    assert "SEALDESK_DRAIN_NOTICE_S=3" in found["Environment"]


def test_secrets_are_settings_that_can_be_used(made: Path) -> None:
    local = settings(DEPLOY / "systemd" / "local.env")
    serving = from_env({**settings(made / "sealdesk.env"), **local})
    worker = from_env(settings(made / "worker.env"))
    owner = from_env(settings(made / "owner.env"), needs_keys=False)
    assert serving.master_keys == worker.master_keys
    assert serving.database_url == worker.database_url == owner.database_url
    assert worker.worker_database_url == owner.worker_database_url
    assert (serving.owner_database_url, worker.owner_database_url) == ("", "")
    password = settings(made / "postgres.env")["OWNER_PASSWORD"]
    assert f"sealdesk_owner:{password}@" in owner.owner_database_url


def test_secrets_are_their_owners_alone_and_new_each_time(made: Path, tmp_path: Path) -> None:
    assert {stat.S_IMODE(file.stat().st_mode) for file in made.iterdir()} == {0o600}
    other = tmp_path / "other"
    subprocess.run([DEPLOY / "secrets.sh", other, "db:5432"], check=True, capture_output=True)
    values = [
        value
        for place in (made, other)
        for value in settings(place / "sealdesk.env").values()
        if not value.startswith("redis:")
    ]
    assert len(set(values)) == len(values) == 8


def test_secrets_that_are_there_are_not_replaced(made: Path) -> None:
    before = (made / "sealdesk.env").read_text()
    again = subprocess.run([DEPLOY / "secrets.sh", made], check=False, capture_output=True)
    assert (again.returncode, b"left as it is" in again.stderr) == (1, True)
    assert (made / "sealdesk.env").read_text() == before


@for_each("file", [file for file in DEPLOY.rglob("*") if file.is_file()], ids=str)
def test_every_setting_that_is_named_exists(file: Path) -> None:
    named = set(re.findall(r"\bSEALDESK_[A-Z_]+\b", file.read_text()))
    assert named <= {*known_names()}


def test_scripts_may_be_executed() -> None:
    scripts = [
        file for file in DEPLOY.rglob("*") if file.is_file() and file.read_text()[:3] == "#!/"
    ]
    assert len(scripts) >= 5
    assert [file for file in scripts if not os.access(file, os.X_OK)] == []
