"""Installs the servers that a machine lacks from Debian's packages, where that is allowed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.servers.binaries import PATH_ENV

# "no": a machine is tested as it is.
INSTALL_ENV = "DESK_TEST_INSTALL"
_SCRIPT = Path(__file__).with_name("install.sh")
_PACKAGES = {
    "postgres": "postgresql",
    "redis": "redis-server",
    "dovecot": "dovecot-imapd",
    "php": "php-cli php-curl",
    "go": "golang-go",
    "java": "default-jdk-headless",
}


def reason_not_to_install() -> str:
    """Why nothing may be installed here; empty when it may."""
    return _right_to_install()[0]


def install(servers: Iterable[str], tell: Callable[[str], None]) -> str | None:
    """Install these servers; None when that went well, otherwise why not.

    tell: shows a line that replaces the one before it.
    """
    refused, prefix = _right_to_install()
    if refused:
        return refused
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        command = [*prefix, "sh", str(_SCRIPT), str(log), *servers]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd="/"
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                step = _step(line)
                if step:
                    tell(step)
        if running.returncode == 0:
            return None
        said = log.read_text(errors="replace").splitlines() if log.exists() else []
        complaints = [line for line in said if line.startswith(("E: ", "W: "))]
        return f"apt-get failed: {' / '.join(complaints[-3:])}"


def command_for(servers: Iterable[str]) -> str:
    """The command that installs these servers on Debian or Ubuntu."""
    names = [_PACKAGES.get(server, server) for server in servers]
    return f"sudo apt-get install --no-install-recommends {' '.join(names)}"


def _right_to_install() -> tuple[str, list[str]]:
    """A reason why not, or the command that gives the right to, such as sudo."""
    if os.environ.get(INSTALL_ENV) == "no" or PATH_ENV in os.environ:
        return f"{INSTALL_ENV}=no or {PATH_ENV} forbids it", []
    if shutil.which("apt-get") is None:
        return "this system has no apt-get", []
    if os.geteuid() == 0:
        return "", []
    if shutil.which("sudo") is None:
        return "it takes root, and there is no sudo", []
    sudo = ["sudo", "-n"]
    if subprocess.run([*sudo, "true"], capture_output=True, check=False).returncode != 0:
        return "it takes root, and sudo asks for a password", []
    return "", sudo


def _step(line: str) -> str | None:
    # README.progress-reporting of apt: KIND:WHAT:PERCENT:TEXT
    kind, _, rest = line.rstrip("\n").partition(":")
    fields = rest.split(":", 2)
    if kind not in ("dlstatus", "pmstatus") or len(fields) != 3:
        return None
    try:
        percent = float(fields[1])
    except ValueError:
        return None
    doing = "downloading" if kind == "dlstatus" else "installing"
    return f"{doing} {percent:3.0f} %  {fields[2]}"
