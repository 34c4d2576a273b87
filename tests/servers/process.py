"""Starts and ends server processes; none outlives the tests that started it."""

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers.ports import HOST

START_S = 120.0  # for a loaded machine; it usually takes less than one second
_STOP_S = 60.0
_POLL_S = 0.01
_TAIL_LINES = 20

_WATCHDOG = Path(__file__).with_name("watchdog.py")
_running: "set[Process]" = set()
_telling = threading.Lock()
_watchdogs: dict[int, "subprocess.Popen[str]"] = {}


class ServerFailed(AssertionError):
    """A server did not start or did not end; the text holds the end of its log."""


def server_user() -> str | None:
    """The user for servers that refuse to run as root; None for the present user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise ServerFailed("root has no user to run PostgreSQL as: neither postgres nor nobody")


def give_away(path: Path) -> None:
    """Let the user that servers run as own this file or directory."""
    user = server_user()
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(path, account.pw_uid, account.pw_gid)


@contextmanager
def server_directory() -> Iterator[Path]:
    """An empty directory for servers; on exit it is removed, and servers that log in it are killed.

    Not one of pytest's: as root, the servers' user may not enter those, and their names are too
    long for sockets (107 bytes).
    """
    path = Path(tempfile.mkdtemp(prefix="desk-"))
    _tell(f"directory {path}")
    path.chmod(0o711)
    try:
        yield path
    finally:
        for process in list(_running):
            if path in process.log.parents:
                process.kill()
        shutil.rmtree(path, ignore_errors=True)


def server_owned(path: Path) -> Path:
    """Make this directory unless it is there, and let the user that servers run as own it."""
    path.mkdir(mode=0o700, exist_ok=True)
    give_away(path)
    return path


def environment(**more: str) -> dict[str, str]:
    """The environment of servers and their tools, without the caller's settings."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **more}


class Process:
    """One running server, with everything it said in a log file.

    It is in a session of its own, so that Ctrl-C reaches the tests first, and ends with its
    parent.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        *,
        end: signal.Signals = signal.SIGTERM,
        as_server_user: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = log
        user = server_user() if as_server_user else None
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env=dict(env or environment()),
                start_new_session=True,
                user=user,
                group=None if user is None else pwd.getpwnam(user).pw_gid,
                extra_groups=None if user is None else (),
            )
        self.pid = self._process.pid
        _running.add(self)
        _tell(f"pid {self.pid} {int(end)}")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def exit_code(self) -> int | None:
        """None while it runs; minus the number of the signal that ended it."""
        return self._process.poll()

    def wait_until(self, is_ready: Callable[[], bool], within_s: float = START_S) -> None:
        """Wait for readiness. Raises ServerFailed when the process ends or time is up first."""
        until = time.monotonic() + within_s
        while not is_ready():
            if not self.is_running():
                raise ServerFailed(
                    f"{self.name} ended with status {self._process.returncode} "
                    f"instead of starting:\n{self.tail()}"
                )
            if time.monotonic() > until:
                self.kill()
                raise ServerFailed(f"{self.name} was not ready within {within_s} s:\n{self.tail()}")
            time.sleep(_POLL_S)

    def stop(self, number: signal.Signals = signal.SIGTERM, within_s: float = _STOP_S) -> None:
        """Send a signal and wait for the end. Raises ServerFailed when it does not come."""
        if self.is_running():
            self._process.send_signal(number)
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(
                f"{self.name} ran on for {within_s} s after {number.name}:\n{self.tail()}"
            ) from None
        self._forget()

    def kill(self) -> None:
        """SIGKILL for it and its children."""
        if self.is_running():
            # Stopped first, so that it cannot restart children that die.
            self._process.send_signal(signal.SIGSTOP)
            children = _children(self.pid)
            for pid in children:
                _kill(pid)
            self._process.kill()
            self._process.wait()
            _wait_for_the_end_of(children)
        self._forget()

    def tail(self) -> str:
        """The last lines of the log."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:]) or "(its log is empty)"

    def _forget(self) -> None:
        _running.discard(self)
        _tell(f"gone {self.pid}")


def accepts(port: int) -> bool:
    """Whether something on loopback accepts connections at this port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _tell(line: str) -> None:
    """Tell this process's watchdog, started when first needed."""
    with _telling:
        # By process: a forked child must not write to its parent's watchdog.
        watchdog = _watchdogs.get(os.getpid()) or _start_watchdog()
        assert watchdog.stdin is not None
        watchdog.stdin.write(line + "\n")
        watchdog.stdin.flush()


def _start_watchdog() -> "subprocess.Popen[str]":
    watchdog = subprocess.Popen(
        [sys.executable, "-IS", _WATCHDOG],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        text=True,
    )
    _watchdogs[os.getpid()] = watchdog
    atexit.register(watchdog.communicate)
    return watchdog


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _state(int(entry.name))[1] == parent:
            found.append(int(entry.name))
    return found


def _state(pid: int) -> tuple[str, int]:
    """The state letter and the parent of a process; ("", 0) when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "", 0
    # The name, in parentheses, may hold anything.
    letter, parent = text.rpartition(")")[2].split()[:2]
    return letter, int(parent)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _wait_for_the_end_of(pids: Sequence[int]) -> None:
    until = time.monotonic() + _STOP_S
    while any(_state(pid)[0] not in ("", "Z", "X") for pid in pids):
        if time.monotonic() > until:
            raise ServerFailed(f"killed processes run on: {pids}")
        time.sleep(_POLL_S)
