"""The `sealdesk` command as a shell runs it, and servers that it starts."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any

import httpx

PROGRAM = Path(sys.executable).with_name("sealdesk")
_FORK_SERVER_PROGRAM = Path(__file__).with_name("fork_server.py")
# A command takes two seconds at most, but a machine may be busy or slow.
_TIMEOUT_S = 300
PASSWORD = "correct horse battery staple"
_AT_START = ("PYTHON", "LANG", "LC_", "TZ")
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
        if not options and _at_start(self.env) == _at_start(os.environ):
            return _fork_server().run(args, stdin, self.env)
        return subprocess.run(
            [PROGRAM, *args],
            input=stdin,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            **options,
        )

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

    def tenant(self, email: str, name: str = "Acme") -> str:
        """Create a tenant; return its id. The password of its administrator is PASSWORD."""
        options = ("--name", name, "--admin-email", email, "--admin-password-stdin")
        made = self.json("tenants", "create", *options, stdin=f"{PASSWORD}\n")
        return str(made["tenant_id"])


class ForkServer:
    """Runs commands as forks of a process that has imported them; see `fork_server`."""

    def __init__(self) -> None:
        self._messages, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._messages.settimeout(_TIMEOUT_S)
        self._one_at_a_time = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    _FORK_SERVER_PROGRAM,
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._end)

    def run(
        self, args: tuple[str, ...], stdin: str, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        what = {"arguments": [str(PROGRAM), *args], "env": {**env}, "directory": str(Path.cwd())}
        with ExitStack() as stack:
            files = [stack.enter_context(TemporaryFile("w+")) for _ in range(4)]
            told, given, out, err = files
            for file, text in ((told, json.dumps(what)), (given, stdin)):
                file.write(text)
                file.seek(0)
            exit_code = self._exit_code(files)
            for file in (out, err):
                file.seek(0)
            return subprocess.CompletedProcess([*args], exit_code, out.read(), err.read())

    def _exit_code(self, files: Sequence[IO[str]]) -> int:
        with self._one_at_a_time:
            socket.send_fds(self._messages, [b"!"], [file.fileno() for file in files])
            child = int(self._messages.recv(32))
            try:
                return int(self._messages.recv(32))
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                raise

    def _end(self) -> None:
        self._messages.close()
        self._process.wait()


_fork_server = cache(ForkServer)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Python reads only at its start."""
    return {name: value for name, value in env.items() if name.startswith(_AT_START)}


class Served:
    """A running `sealdesk serve`: its URL and its log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
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
                line = self._lines.get(timeout=_TIMEOUT_S)
            except Empty:
                raise AssertionError(f"{event!r} was not logged; the log is {self.log}") from None
            self.log.append(json.loads(line))
            if self.log[-1]["event"] == event:
                return self.log[-1]


@contextmanager
def serving(terminal: Terminal, *args: str, port: int = 0, **options: Any) -> Iterator[Served]:
    """Run a server on a free port and stop it with SIGTERM. options: of the process."""
    process = subprocess.Popen(
        [PROGRAM, "serve", "--port", str(port), *args],
        env=terminal.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    try:
        yield Served(process)
    finally:
        process.terminate()
        process.wait(_TIMEOUT_S)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def log_in(url: str, email: str, password: str = PASSWORD) -> int:
    """Log in; return the status."""
    answer = httpx.post(f"{url}/api/v1/auth/login", json={"email": email, "password": password})
    return answer.status_code
