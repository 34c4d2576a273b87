import base64
import os
from typing import Any

from sealdesk.db.schema_version import KNOWN_VERSIONS
from tests.cli.conftest import on_a_file
from tests.cli.terminal import Terminal


def find_all(terminal: Terminal) -> dict[str, Any]:
    """Run `sealdesk doctor`; return its findings by subject."""
    return {finding["about"]: finding for finding in terminal.json("doctor")}


@on_a_file
def test_a_running_installation_passes_every_check(terminal: Terminal) -> None:
    findings = find_all(terminal)
    assert "is running" in findings["server"]["text"]
    assert "s from the clock at" in findings["clock"]["text"]
    assert f"schema {KNOWN_VERSIONS[-1]}, WAL, full sync" in findings["database"]["text"]


def test_doctor_creates_no_installation(empty: Terminal) -> None:
    assert empty.run("doctor").returncode == 1
    assert not empty.data_dir.exists()


def test_files_open_to_other_users_are_named_and_fixed_on_request(installed: Terminal) -> None:
    key, directory = installed.data_dir / "master.key", installed.data_dir
    key.chmod(0o640)
    directory.chmod(0o755)
    failed = installed.run("doctor")
    assert failed.returncode == 1
    assert f"{key} is open to other users (0640)" in failed.stdout
    assert f"{directory} is open to other users (0755)" in failed.stdout
    installed.out("doctor", "--fix")
    modes = [path.stat().st_mode & 0o777 for path in (key, directory)]
    assert modes == [0o600, 0o700]


def test_an_invalid_setting_is_reported(installed: Terminal) -> None:
    failed = installed.with_env(SEALDESK_MAX_SKEW_S="1000").run("doctor")
    assert (failed.returncode, "SEALDESK_MAX_SKEW_S must be" in failed.stdout) == (1, True)


def test_a_wrong_master_key_is_reported(terminal: Terminal) -> None:
    other = base64.b64encode(os.urandom(32)).decode()
    failed = terminal.with_env(SEALDESK_MASTER_KEY=other).run("doctor")
    assert (failed.returncode, "cannot be opened" in failed.stdout) == (1, True)


def test_a_damaged_database_is_reported(installed: Terminal) -> None:
    (installed.data_dir / "sealdesk.db").write_bytes(os.urandom(8192))
    failed = installed.run("doctor")
    assert (failed.returncode, "file is not a database" in failed.stdout) == (1, True)
