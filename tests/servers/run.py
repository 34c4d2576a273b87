"""The servers of a run: one of each kind, shared by all its tests and processes.

The process that starts the run starts PostgreSQL and Redis in a thread while tests are collected,
and SeaweedFS when a test first asks for it. It writes where they are into a directory that the
environment names to all others.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.servers.binaries import NotHere
from tests.servers.postgres import Access, Postgres
from tests.servers.process import server_directory
from tests.servers.redis import Redis
from tests.servers.seaweedfs import SeaweedFS

DIRECTORY_ENV = "DESK_TEST_SERVERS"
# Begins the reason of every test that is skipped because a server is missing.
NOT_RUN = "NOT RUN"
_NO_SERVERS = "no servers: is the plug-in tests.servers.plugin loaded?"
_WANTED = "seaweedfs.wanted"
_WAIT_S = 60.0
_POLL_S = 0.1


@contextmanager
def servers_of_the_run() -> Iterator[None]:
    """Start them in the background, and end them; does nothing inside a run that has them."""
    if is_offered():
        yield
        return
    with server_directory() as directory:
        ended = threading.Event()
        # A daemon, because Python would otherwise wait for it at exit.
        thread = threading.Thread(target=_serve, args=(directory, ended), daemon=True)
        thread.start()
        os.environ[DIRECTORY_ENV] = str(directory)
        try:
            yield
        finally:
            del os.environ[DIRECTORY_ENV]
            ended.set()
            thread.join()


def is_offered() -> bool:
    """Whether this process is part of a run that has servers."""
    directory = os.environ.get(DIRECTORY_ENV)
    return directory is not None and Path(directory).exists()


def run_postgres() -> Access:
    """The PostgreSQL of the run; skips the test where there can be none.

    Each test makes databases of its own in it, under names of its own.
    """
    return Access(**_answer("postgres"))


def run_redis_url() -> str:
    """redis://… of the run; skips the test where there can be none. It is shared by all."""
    return str(_answer("redis")["url"])


def run_bucket_port() -> int:
    """The port of the run's SeaweedFS, started by the first test that asks; skips without one.

    Each test makes buckets of its own in it, under names of its own.
    """
    directory = os.environ.get(DIRECTORY_ENV)
    assert directory is not None, _NO_SERVERS
    (Path(directory) / _WANTED).touch()
    return int(_answer("seaweedfs")["port"])


def not_run(reason: str) -> NoReturn:
    """Skip the present test; the end of the run reports it, and fails in CI."""
    pytest.skip(f"{NOT_RUN}: {reason}")


def _serve(directory: Path, ended: threading.Event) -> None:
    with ExitStack() as stack:
        _offer(directory, "redis", lambda: _redis(directory, stack))
        _offer(directory, "postgres", lambda: _postgres(directory, stack))
        while not (ended.wait(_POLL_S) or (directory / _WANTED).exists()):
            pass
        if not ended.is_set():
            _offer(directory, "seaweedfs", lambda: _seaweedfs(directory, stack))
        ended.wait()


def _postgres(directory: Path, stack: ExitStack) -> dict[str, object]:
    cluster = Postgres.start(directory / "postgres", fsync=False)
    # Its data is deleted anyway, so no checkpoint is needed.
    stack.callback(cluster.stop, "immediate")
    return cluster.access._asdict()


def _redis(directory: Path, stack: ExitStack) -> dict[str, object]:
    server = Redis.start(directory / "redis")
    stack.callback(server.kill)
    return {"url": server.url}


def _seaweedfs(directory: Path, stack: ExitStack) -> dict[str, object]:
    server = SeaweedFS.start(directory / "seaweedfs")
    stack.callback(server.kill)
    return {"port": server.port}


def _offer(directory: Path, name: str, start: Callable[[], dict[str, object]]) -> None:
    try:
        answer = start()
    except NotHere as absence:
        answer = {"missing": str(absence)}
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {error}"}
    whole = directory / f"{name}.part"
    whole.touch(mode=0o600)
    whole.write_text(json.dumps(answer))
    whole.rename(directory / f"{name}.json")


def _answer(name: str) -> dict[str, Any]:
    directory = os.environ.get(DIRECTORY_ENV)
    assert directory is not None, _NO_SERVERS
    file = Path(directory) / f"{name}.json"
    until = time.monotonic() + _WAIT_S
    while not file.exists():
        assert time.monotonic() < until, f"{name} of the run did not start in {_WAIT_S} s"
        time.sleep(0.02)
    answer: dict[str, Any] = json.loads(file.read_text())
    if "missing" in answer:
        raise NotHere(name, answer["missing"])
    assert "failed" not in answer, answer["failed"]
    return answer
