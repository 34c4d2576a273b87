"""Packages are installed in one step that announces itself, starts nothing and leaves nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import __main__ as step
from tests.servers.binaries import PATH_ENV
from tests.servers.install import INSTALL_ENV

_SCRIPT = Path(__file__).with_name("install.sh")
_ROOT = Path(__file__).parents[2]
# What apt-get and a package's script do, as far as they concern us.
_APT_GET = """#!/bin/sh
echo "$*" >>"$FAKE_LOG"
for option in "$@"; do
    case $option in DPkg::Path=*) PATH=${option#DPkg::Path=} ;; esac
done
[ -z "$FAKE_KILL" ] || kill -KILL $PPID
case $* in *" install "*) ;; *) exit 0 ;; esac
for command in invoke-rc.d deb-systemd-invoke pg_createcluster; do
    command -v $command >>"$FAKE_LOG"
    $command demo start
done
deb-systemd-helper --quiet was-enabled demo.service || echo "not enabled" >>"$FAKE_LOG"
"""


def _installed(tmp_path: Path, *, kill: str = "") -> tuple[int, str]:
    """The script's exit status, and what its fake apt-get noted."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, text in (("apt-get", _APT_GET), ("apt-cache", "#!/bin/sh\n")):
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    shims = tmp_path / "shims"
    shims.mkdir()
    noted = tmp_path / "noted"
    env = {
        "PATH": f"{commands}:{os.environ['PATH']}", "TMPDIR": str(shims),
        "FAKE_LOG": str(noted), "FAKE_KILL": kill,
    }  # fmt: skip
    done = subprocess.run(
        ["sh", _SCRIPT, tmp_path / "log", "postgres", "redis", "nginx"], env=env, check=False
    )
    return done.returncode, noted.read_text()


def test_no_package_can_start_a_server_or_make_a_cluster(tmp_path: Path) -> None:
    status, noted = _installed(tmp_path)
    assert status == 0
    assert noted.count(f"{tmp_path}/shims/") == 2 + 3  # an option each time, and the commands
    assert noted.splitlines()[1].endswith("install postgresql redis-server nginx")
    assert noted.endswith("not enabled\n")
    assert list((tmp_path / "shims").iterdir()) == []


def test_a_killed_installation_leaves_nothing_that_the_system_reads(tmp_path: Path) -> None:
    policy = Path("/usr/sbin/policy-rc.d")
    before = policy.read_bytes() if policy.exists() else None
    status, _ = _installed(tmp_path, kill="yes")
    assert status == -9
    assert (policy.read_bytes() if policy.exists() else None) == before
    assert "/usr/sbin/policy-rc.d" not in _SCRIPT.read_text()


def test_the_step_says_what_it_would_install_and_leaves_the_machine_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.servers"],
        cwd=_ROOT, env={**os.environ, PATH_ENV: str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "this machine lacks postgres, redis, pgbouncer" in done.stdout
    assert f"{INSTALL_ENV}=no or {PATH_ENV} forbids it" in done.stdout
    assert "apt-get install --no-install-recommends postgresql redis-server" in done.stdout


def test_the_step_announces_the_packages_before_it_installs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def install(servers: object, tell: object) -> str | None:
        told.append(capsys.readouterr().out)
        return None

    monkeypatch.setattr(step, "missing", lambda: {"redis": "no redis-server on this machine"})
    monkeypatch.setattr(step, "reason_not_to_install", lambda: "")
    monkeypatch.setattr(step, "install", install)
    assert step.main() == 0
    (before,) = told
    assert "apt-get install --no-install-recommends redis-server" in before
    assert "none of them was started" in capsys.readouterr().out
