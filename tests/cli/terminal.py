"""The `sealdesk` command as a shell runs it, and servers that it starts."""

import json
import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import Any

import httpx

from tests.cli.commands import PIPE, PROGRAM, TIMEOUT_S, Command, can_fork, start_command

PASSWORD = "correct horse battery staple"
# Where nothing responds. The default is port 8000, where something of this machine might.
_NOWHERE = "http://127.0.0.1:1"


class Terminal:
    """A shell with its own data directory and variables."""

    def __init__(self, data_dir: Path, **env: str) -> None:
        self.data_dir = data_dir
        bare = {n: v for n, v in os.environ.items() if not n.startswith("SEALDESK_")}
        own = {"SEALDESK_DATA_DIR": str(data_dir), "SEALDESK_API_URL": _NOWHERE}
        self.env = {**bare, **own, **env}

    def with_env(self, **env: str) -> "Terminal":
        """Return a shell with additional variables."""
        other = Terminal(self.data_dir)
        other.env = {**self.env, **env}
        return other

    def run(self, *args: str, stdin: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `sealdesk` with these arguments to its end."""
        if not options and can_fork(self.env):
            return self._run_in_fork(*args, stdin=stdin)
        return subprocess.run(
            [PROGRAM, *args],
            input=stdin,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            **options,
        )

    def _run_in_fork(self, *args: str, stdin: str) -> subprocess.CompletedProcess[str]:
        with TemporaryFile("w+") as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            given.write(stdin)
            given.seek(0)
            command = start_command(*args, env=self.env, stdin=given, stdout=out, stderr=err)
            try:
                exit_code = command.wait()
            finally:
                command.kill()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([*args], exit_code, out.read(), err.read())

    def out(self, *args: str, stdin: str = "") -> str:
        """Run a command that must succeed; return its stdout."""
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *args: str, stdin: str = "") -> Any:
        """Run a command that must succeed with --json; return the value."""
        return json.loads(self.out(*args, "--json", stdin=stdin))

    def refused(self, *args: str, stdin: str = "", code: int = 1, **options: Any) -> str:
        """Run a command that must fail; return its only line of output, on stderr."""
        done = self.run(*args, stdin=stdin, **options)
        assert (done.returncode, done.stdout) == (code, ""), (done.stdout, done.stderr)
        (line,) = done.stderr.splitlines()
        return line

    def shown(self, *args: str, columns: int = 80) -> str:
        """Run a command that must succeed, in a terminal; return what that shows."""
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "rb") as screen:
            env = {**self.env, "COLUMNS": str(columns), "TERM": "xterm-256color"}
            process = start_command(*args, env=env, stdout=theirs, stderr=theirs)
            os.close(theirs)
            shown = b""
            with suppress(OSError):  # the other side is closed: the command has ended
                while block := screen.read1(65536):
                    shown += block
            assert process.wait() == 0, shown
        return shown.decode()

    def tenant(self, email: str, name: str = "Acme") -> str:
        """Create a tenant; return its id. The password of its administrator is PASSWORD."""
        options = ("--name", name, "--admin-email", email, "--admin-password-stdin")
        made = self.json("tenants", "create", *options, stdin=f"{PASSWORD}\n")
        return str(made["tenant_id"])


class Served:
    """A running `sealdesk serve`: its URL and its log."""

    def __init__(self, process: Command | subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: SimpleQueue[str] = SimpleQueue()
        self.log: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()
        self.url = str(self.next_log("serving")["url"])

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line)

    def next_log(self, event: str) -> dict[str, Any]:
        """Wait for the next log line with this event."""
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except Empty:
                raise AssertionError(f"{event!r} was not logged; the log is {self.log}") from None
            self.log.append(json.loads(line))
            if self.log[-1]["event"] == event:
                return self.log[-1]


@contextmanager
def serving(terminal: Terminal, *args: str, port: int = 0, **options: Any) -> Iterator[Served]:
    """Run a server on a free port and stop it with SIGTERM. options: of the process."""
    words = ("serve", "--port", str(port), *args)
    process = _started(words, terminal.env, options)
    try:
        yield Served(process)
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def _started(
    words: tuple[str, ...], env: dict[str, str], options: dict[str, Any]
) -> Command | subprocess.Popen[str]:
    if not options and can_fork(env):
        return start_command(*words, env=env, stdout=PIPE, stderr=PIPE)
    pipes: dict[str, Any] = {"stdout": PIPE, "stderr": PIPE, "text": True}
    return subprocess.Popen([PROGRAM, *words], env=env, **pipes, **options)


def log_in(url: str, email: str, password: str = PASSWORD) -> int:
    """Log in; return the status."""
    answer = httpx.post(
        f"{url}/api/v1/auth/login", json={"email": email, "password": password}, timeout=60
    )
    return answer.status_code
