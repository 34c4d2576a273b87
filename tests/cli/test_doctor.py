import base64
import os
from typing import Any

from tests.cli.conftest import on_a_file
from tests.cli.terminal import Terminal


def findings(terminal: Terminal) -> dict[str, Any]:
    """What is found out, by what it is about."""
    return {finding["about"]: finding for finding in terminal.json("doctor")}


@on_a_file
def test_a_served_installation_is_sound(terminal: Terminal) -> None:
    found = findings(terminal)
    assert "is running" in found["server"]["text"]
    assert "s from the clock at" in found["clock"]["text"]
    assert "schema 0005, WAL, full sync" in found["database"]["text"]


def test_without_an_installation_none_is_made(empty: Terminal) -> None:
    assert empty.run("doctor").returncode == 1
    assert not empty.data_dir.exists()


def test_files_open_to_others_are_named_and_mended_on_request(installed: Terminal) -> None:
    key, directory = installed.data_dir / "master.key", installed.data_dir
    key.chmod(0o640)
    directory.chmod(0o755)
    ill = installed.run("doctor")
    assert ill.returncode == 1
    assert f"{key} is open to other users (0640)" in ill.stdout
    assert f"{directory} is open to other users (0755)" in ill.stdout
    installed.out("doctor", "--fix")
    modes = [path.stat().st_mode & 0o777 for path in (key, directory)]
    assert modes == [0o600, 0o700]


def test_a_wrong_setting_is_found(installed: Terminal) -> None:
    ill = installed.with_env(SEALDESK_MAX_SKEW_S="1000").run("doctor")
    assert (ill.returncode, "SEALDESK_MAX_SKEW_S must be" in ill.stdout) == (1, True)


def test_a_master_key_that_opens_nothing_is_found(terminal: Terminal) -> None:
    other = base64.b64encode(os.urandom(32)).decode()
    ill = terminal.with_env(SEALDESK_MASTER_KEY=other).run("doctor")
    assert (ill.returncode, "cannot be opened" in ill.stdout) == (1, True)


def test_a_damaged_database_is_found(installed: Terminal) -> None:
    (installed.data_dir / "sealdesk.db").write_bytes(os.urandom(8192))
    ill = installed.run("doctor")
    assert (ill.returncode, "file is not a database" in ill.stdout) == (1, True)
