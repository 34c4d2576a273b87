"""What root makes beside the service belongs to the owner of the data directory."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk.api_keys import journal
from sealdesk.db import data_owner
from sealdesk.errors import ServiceUnavailable
from tests.cli.terminal import Terminal
from tests.servers import server_directory
from tests.support.service import Service

_SERVICE_UID = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def owned(installed: Terminal) -> Iterator[Terminal]:
    """An installation whose data directory belongs to another user than the one of the tests."""
    _give_away(installed.data_dir)
    yield installed


def _give_away(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        os.chown(path, _SERVICE_UID, _SERVICE_UID)


@needs_root
def test_files_of_commands_that_root_runs_belong_to_the_owner(
    owned: Terminal, tmp_path: Path
) -> None:
    tenant = owned.tenant("root@acme.test")
    owned.out("keys", "create", "--tenant", tenant, "--name", "made by root")
    assert (owned.data_dir / journal.FILE).exists()
    assert data_owner.find_foreign(owned.data_dir) == []
    owned.out("backup", str(tmp_path / "backup"))
    for path in owned.data_dir.glob("sealdesk.db*"):
        path.unlink()
    owned.out("restore", str(tmp_path / "backup"))
    assert (owned.data_dir / "sealdesk.db").exists()
    assert data_owner.find_foreign(owned.data_dir) == []


@needs_root
def test_doctor_names_files_that_the_service_cannot_write_and_gives_them_back(
    owned: Terminal,
) -> None:
    (owned.data_dir / journal.FILE).touch(0o600)
    failed = owned.run("doctor")
    assert (failed.returncode, "the service cannot write them" in failed.stdout) == (1, True)
    assert "now of" in owned.run("doctor", "--fix").stdout
    assert data_owner.find_foreign(owned.data_dir) == []


def test_a_file_that_the_service_deletes_meanwhile_ends_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "walk", lambda folder: [(folder, [], ["deleted"])])
    assert data_owner.find_foreign(tmp_path) == []
    data_owner.give_to_owner(tmp_path, [tmp_path / "deleted"])


@needs_root
def test_who_may_not_use_the_directory_is_told_why() -> None:
    with server_directory() as directory:  # another user may not look into tmp_path
        terminal = Terminal(directory / "data")
        terminal.out("tenants", "list")
        for command in ("doctor", "serve --port 0", f"backup {directory}/x"):
            said = _output_as_service(terminal, command)
            assert "run this as root, who owns" in said
            assert "all private" not in said
        _give_away(terminal.data_dir)
        terminal.data_dir.chmod(0o500)
        for command in ("doctor", f"backup {terminal.data_dir}/x"):
            wanted = f"who owns it; run `chmod u+rwX {terminal.data_dir}`"
            assert wanted in _output_as_service(terminal, command)
        terminal.data_dir.chmod(0o700)
        os.chown(terminal.data_dir / "sealdesk.db", 0, 0)
        assert "doctor --fix` as root" in _output_as_service(terminal, "tenants list")


def _output_as_service(terminal: Terminal, command: str) -> str:
    done = terminal.run(*command.split(), user=_SERVICE_UID)
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs mount namespaces")
@needs_root
@pytest.mark.parametrize(
    ("mount", "said"),
    [
        ("mount --bind {at} {at} && mount -o remount,ro,bind {at}", "read-only file system"),
        pytest.param(
            "cp -a {at} {at}.copy && mount -t tmpfs -o size=4m,mode=700 full {at} &&"
            " cp -a {at}.copy/. {at} && ! dd if=/dev/zero of={at}/fill bs=4k 2>/dev/null",
            "full file system",
            marks=pytest.mark.prove,
        ),
    ],
    ids=["read-only", "full"],
)
def test_a_file_system_that_takes_no_writes_is_named(
    installed: Terminal, mount: str, said: str
) -> None:
    at = installed.data_dir
    program = Path(sys.executable).with_name("sealdesk")
    for command in ("tenants list", "doctor", "serve --port 0"):
        run = subprocess.run(
            [
                "unshare",
                "-m",
                "sh",
                "-c",
                f"{mount.format(at=at)} && exec {program} {command}",
            ],
            env=os.environ | {"SEALDESK_DATA_DIR": str(at)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode != 0
        assert said in run.stdout + run.stderr, run.stderr
        assert "restore it from a backup" not in run.stdout + run.stderr


def test_a_revocation_that_the_journal_misses_is_committed_and_says_so(service: Service) -> None:
    tenant = service.tenant()
    key = tenant.key()
    path = service.settings.data_dir / journal.FILE
    path.unlink(missing_ok=True)
    path.mkdir()  # a file that nobody can write, also not root
    try:
        answer = tenant.admin().delete(f"/api/v1/api-keys/{key.id}")
        with pytest.raises(ServiceUnavailable):
            journal.record(path.parent, "revoked", tenant.id, key.id, now_us=1)
    finally:
        path.rmdir()
    assert (answer.status_code, answer.json()["code"]) == (503, "journal_unwritable")
    assert key.get("/api/v1/external/whoami").status_code == 401
    assert tenant.admin().delete(f"/api/v1/api-keys/{key.id}").status_code == 204
