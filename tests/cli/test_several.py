"""`sealdesk serve` with several workers, and `sealdesk worker`, on PostgreSQL."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.terminal import PROGRAM, Terminal, serving
from tests.servers import run_redis_url
from tests.support.databases import Template
from tests.support.service import wait_until


@pytest.fixture
def on_server(postgres_template: Template, empty: Terminal) -> Iterator[Terminal]:
    """A shell with a migrated PostgreSQL database of its own."""
    with postgres_template.copied() as env:
        yield empty.with_env(**env)


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def test_workers_serve_one_tenant_and_one_that_dies_is_replaced(on_server: Terminal) -> None:
    tenant = on_server.tenant("ada@acme.test")
    key = on_server.json("keys", "create", "--tenant", tenant, "--name", "Shop")
    shared = on_server.with_env(SEALDESK_REDIS_URL=run_redis_url())
    with serving(shared, "--workers", "2") as served:
        assert served.log[-1]["workers"] == 2
        wait_until(lambda: len(_children(served.process.pid)) == 2)
        dead, other = _children(served.process.pid)
        os.kill(dead, signal.SIGKILL)
        assert served.next_log("a worker died")["died_pid"] == dead
        holder = on_server.with_env(
            SEALDESK_API_URL=served.url,
            SEALDESK_API_KEY=key["api_key"],
            SEALDESK_API_SECRET=key["api_secret"],
        )
        wait_until(lambda: len(_children(served.process.pid)) == 2)
        assert other in _children(served.process.pid)
        assert '"data"' in holder.out("call", "GET", "/api/v1/external/tickets")
        ready = {httpx.get(f"{served.url}/readyz").text for _ in range(6)}
        assert ready == {'{"data":{"status":"ok","rate_limit":"shared"}}'}
    assert served.process.returncode == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in (dead, other))


@pytest.mark.parametrize(
    ("args", "env"),
    [(("--workers", "3"), {}), ((), {"SEALDESK_EXPECTED_PROCESSES": "3"})],
    ids=["workers", "expected"],
)
def test_several_processes_without_redis_are_refused(
    on_server: Terminal, args: tuple[str, ...], env: dict[str, str]
) -> None:
    refusal = on_server.with_env(**env).refused("serve", "--port", "0", *args)
    assert refusal == (
        "sealdesk: 3 processes without Redis would allow each key 3 times its rate limit."
        " Set SEALDESK_REDIS_URL, or SEALDESK_PER_PROCESS_LIMITS=accept"
    )


def test_several_processes_without_redis_may_be_accepted(on_server: Terminal) -> None:
    accepted = on_server.with_env(SEALDESK_PER_PROCESS_LIMITS="accept")
    with serving(accepted, "--workers", "2") as served:
        assert httpx.get(f"{served.url}/readyz").status_code == 200


def test_first_worker_that_cannot_begin_says_why_in_one_line(on_server: Terminal) -> None:
    wrong = on_server.with_env(SEALDESK_REDIS_URL="redis://127.0.0.1:port/0")
    assert "SEALDESK_REDIS_URL" in wrong.refused("serve", "--port", "0", "--workers", "2")


def test_worker_works_until_it_is_told_to_stop(on_server: Terminal) -> None:
    process = subprocess.Popen(
        [PROGRAM, "worker"], env=on_server.env, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        assert '"event": "working"' in process.stderr.readline()
        process.terminate()
        assert process.wait(15) == 0


def test_worker_without_its_role_is_refused(on_server: Terminal) -> None:
    bare = on_server.with_env(SEALDESK_WORKER_DATABASE_URL="")
    assert "SEALDESK_WORKER_DATABASE_URL is missing" in bare.refused("worker")


def test_worker_as_the_owner_is_refused(on_server: Terminal) -> None:
    owner = on_server.env["SEALDESK_OWNER_DATABASE_URL"]
    assert "owns the tables" in on_server.with_env(SEALDESK_WORKER_DATABASE_URL=owner).refused(
        "worker"
    )
