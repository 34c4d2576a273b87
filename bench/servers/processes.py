"""Starts the servers under load on a CPU core of their own, and measures their processes."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from bench.peers.django_helpdesk.installation import Helpdesk
from sealdesk.settings import Settings

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_START_TIMEOUT_S = 30.0
_ROOT = Path(__file__).parents[2]
_SEALDESK = (str(Path(sys.executable).with_name("sealdesk")),)
HttpProtocol = Literal["sealdesk", "uvicorn"]
SWITCHABLE = (sys.executable, "-m", "bench.servers.switched")


class Cores:
    """One core for the servers and another for this process; both share it if there is only one."""

    def __init__(self) -> None:
        self._usable = os.sched_getaffinity(0)

    def __enter__(self) -> "Cores":
        os.sched_setaffinity(0, {max(self._usable)})
        return self

    def __exit__(self, *_: object) -> None:
        os.sched_setaffinity(0, self._usable)

    @contextmanager
    def of_servers(self) -> Iterator[None]:
        """Processes that are started in this context run on the core of the servers."""
        os.sched_setaffinity(0, {min(self._usable)})
        try:
            yield
        finally:
            os.sched_setaffinity(0, {max(self._usable)})


class Process:
    """A running process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def rss_mib(self) -> float:
        """Resident memory."""
        return self._memory_mib("VmRSS:")

    def peak_rss_mib(self) -> float:
        """The most resident memory that it has had."""
        return self._memory_mib("VmHWM:")

    def _memory_mib(self, name: str) -> float:
        text = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in text.splitlines() if line.startswith(name))
        return int(line.split()[1]) / 1024

    def cpu_s(self) -> float:
        """The CPU time of all its threads and child processes."""
        return sum(read_cpu_s(pid) for pid in (self.pid, *list_child_pids(self.pid)))

    def precise_cpu_s(self) -> float:
        """The CPU time of its threads that run, in nanoseconds instead of steps of 10 ms."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Server(Process):
    """A running server process. ready_s: from its start to the first response."""

    def __init__(self, pid: int, port: int, ready_s: float) -> None:
        super().__init__(pid)
        self.port = port
        self.ready_s = ready_s


def list_child_pids(pid: int) -> list[int]:
    """The direct child processes."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def read_cpu_s(pid: int, *, with_ended: bool = False) -> float:
    """The CPU time of a process. with_ended: includes child processes that have ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = stat.rpartition(")")[2].split()[11 : 15 if with_ended else 13]
    return sum(map(int, fields)) / _TICKS_PER_S


class _Program(NamedTuple):
    """A program to start. directory: of its log.

    probe: a path that responds once it is ready; "" if it is ready when it accepts connections.
    """

    command: list[str]
    port: int
    probe: str
    directory: Path
    env: dict[str, str]


@contextmanager
def sealdesk(
    settings: Settings,
    cores: Cores,
    env: Mapping[str, str] | None = None,
    *,
    program: Sequence[str] = _SEALDESK,
) -> Iterator[Server]:
    """Run `sealdesk serve` on this data, or on the database that `env` names."""
    port = _free_port()
    command = [*program, "serve", "--host", "127.0.0.1", "--port", str(port)]
    environment = {"SEALDESK_DATA_DIR": str(settings.data_dir), **(env or {})}
    with _run_server(
        _Program(command, port, "/readyz", settings.data_dir, environment), cores
    ) as server:
        yield server


class Service(NamedTuple):
    """The server, and on PostgreSQL the worker process that delivers webhooks."""

    server: Server
    worker: Process | None

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def pids(self) -> list[int]:
        return [self.server.pid, *([self.worker.pid] if self.worker else [])]

    def cpu_s(self) -> float:
        """The CPU time of both."""
        return self.server.cpu_s() + (self.worker.cpu_s() if self.worker else 0.0)


@contextmanager
def service(
    settings: Settings, cores: Cores, env: Mapping[str, str], program: Sequence[str] = _SEALDESK
) -> Iterator[Service]:
    """Run `sealdesk serve`, and `sealdesk worker` if `env` names its database."""
    with sealdesk(settings, cores, env, program=program) as server:
        if "SEALDESK_WORKER_DATABASE_URL" not in env:
            yield Service(server, None)
            return
        environment = {"SEALDESK_DATA_DIR": str(settings.data_dir), **env}
        with cores.of_servers():
            process = _start_process(
                _Program([*program, "worker"], 0, "", settings.data_dir, environment)
            )
        with _terminating(process):
            yield Service(server, Process(process.pid))


@contextmanager
def mail_receiver(settings: Settings, cores: Cores, env: Mapping[str, str]) -> Iterator[Server]:
    """Run the process that receives e-mail: `serve` on SQLite, `mail` on PostgreSQL.

    Its port is the one of SMTP.
    """
    port = _free_port()
    listening = {**env, "SEALDESK_MAIL_LISTEN": f"127.0.0.1:{port}"}
    command = [*_SEALDESK, "mail"]
    if not settings.database_url:
        command = [*_SEALDESK, "serve", "--host", "127.0.0.1", "--port", str(_free_port())]
    with _run_server(_Program(command, port, "", settings.data_dir, listening), cores) as server:
        yield server


@contextmanager
def webhook_receiver(directory: Path) -> Iterator[Server]:
    """Run the webhook receiver on the core of this process. directory: of its log."""
    port = _free_port()
    command = [sys.executable, "-m", "bench.servers.receiver", str(port)]
    program = _Program(command, port, "/count", directory, {})
    process = _start_process(program)
    with _terminating(process):
        _wait_until_ready(process, program)
        yield Server(process.pid, port, 0.0)


@contextmanager
def bare_handler(memory: Path, cores: Cores, protocol: HttpProtocol) -> Iterator[Server]:
    """Run the bare handler. protocol: whose HTTP protocol it runs on."""
    port = _free_port()
    command = [sys.executable, "-m", "bench.peers.bare", str(port), str(memory), protocol]
    with _run_server(_Program(command, port, "/", memory.parent, {}), cores) as server:
        yield server


@contextmanager
def conventional_service(url: str, directory: Path, cores: Cores) -> Iterator[Server]:
    """Run the conventional service on this database. directory: of its log."""
    port = _free_port()
    command = [sys.executable, "-m", "uvicorn", "bench.peers.conventional.service:app"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop"]
    command += ["--http", "httptools", "--no-access-log", "--log-level", "warning"]
    env = {"DATABASE_URL": url.replace("postgresql:", "postgresql+asyncpg:", 1)}
    with _run_server(_Program(command, port, "/openapi.json", directory, env), cores) as server:
        yield server


@contextmanager
def django_helpdesk(helpdesk: Helpdesk, cores: Cores) -> Iterator[Server]:
    """Run django-helpdesk on gunicorn.

    Threads are the faster kind of worker: the other closes the connection after each response.
    """
    port = _free_port()
    command = [helpdesk.python, "-m", "gunicorn", "django.core.wsgi:get_wsgi_application()"]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--worker-class", "gthread"]
    command += ["--threads", "8", "--keep-alive", "75", "--log-level", "warning"]
    directory = Path(helpdesk.database).parent
    program = _Program(command, port, "/api/tickets/", directory, helpdesk.env)
    with _run_server(program, cores) as server:
        yield server


@contextmanager
def _run_server(program: _Program, cores: Cores) -> Iterator[Server]:
    started = time.perf_counter()
    with cores.of_servers():
        process = _start_process(program)
    with _terminating(process):
        _wait_until_ready(process, program)
        yield Server(process.pid, program.port, time.perf_counter() - started)


def _start_process(program: _Program) -> "subprocess.Popen[bytes]":
    env = {name: value for name, value in os.environ.items() if not name.startswith("SEALDESK_")}
    env |= {"SEALDESK_TENANT_LIMIT": "100000000", **program.env}
    with (program.directory / "server.log").open("ab") as log:
        return subprocess.Popen(program.command, cwd=_ROOT, env=env, stdout=log, stderr=log)


@contextmanager
def _terminating(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Terminate the process at the end of the context."""
    try:
        yield
    finally:
        process.terminate()
        process.wait(_START_TIMEOUT_S)


def _wait_until_ready(process: "subprocess.Popen[bytes]", program: _Program) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not _is_ready(program.port, program.probe):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} did not start; see its server.log")
        time.sleep(0.002)


def _is_ready(port: int, probe: str) -> bool:
    if not probe:
        return _accepts_connections(port)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", probe)
        return connection.getresponse().status in (200, 401)
    except OSError:
        return False
    finally:
        connection.close()


def _accepts_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
