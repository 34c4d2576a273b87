"""Several `sealdesk serve` and `sealdesk worker` on one PostgreSQL database."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.cli.commands import PIPE, Command, start_command
from tests.cli.terminal import Terminal, serving
from tests.servers import run_redis_url
from tests.support.databases import Template
from tests.support.service import wait_until


@pytest.fixture
def on_server(postgres_template: Template, empty: Terminal) -> Iterator[Terminal]:
    """A shell with a migrated PostgreSQL database of its own."""
    with postgres_template.copied() as env:
        yield empty.with_env(**env)


def test_several_processes_without_redis_are_refused(on_server: Terminal) -> None:
    several = on_server.with_env(SEALDESK_EXPECTED_PROCESSES="3")
    assert several.refused("serve", "--port", "0") == (
        "sealdesk: 3 processes without Redis would allow each key 3 times its rate limit."
        " Set SEALDESK_REDIS_URL, or SEALDESK_PER_PROCESS_LIMITS=accept"
    )


def test_several_processes_without_redis_may_be_accepted(on_server: Terminal) -> None:
    accepted = on_server.with_env(
        SEALDESK_EXPECTED_PROCESSES="3", SEALDESK_PER_PROCESS_LIMITS="accept"
    )
    with serving(accepted) as served:
        assert httpx.get(f"{served.url}/readyz", timeout=60).status_code == 200


def test_two_processes_serve_one_tenant_and_share_its_limits(on_server: Terminal) -> None:
    tenant = on_server.tenant("ada@acme.test")
    key = on_server.json("keys", "create", "--tenant", tenant, "--name", "Shop")
    shared = on_server.with_env(SEALDESK_REDIS_URL=run_redis_url(), SEALDESK_EXPECTED_PROCESSES="2")
    with serving(shared) as one, serving(shared) as two:
        for served in (one, two):
            holder = on_server.with_env(
                SEALDESK_API_URL=served.url,
                SEALDESK_API_KEY=key["api_key"],
                SEALDESK_API_SECRET=key["api_secret"],
            )
            assert '"data"' in holder.out("call", "GET", "/api/v1/external/tickets")
            ready = httpx.get(f"{served.url}/readyz", timeout=60).text
            assert '"rate_limit":"shared"' in ready
    assert (one.process.returncode, two.process.returncode) == (0, 0)


def test_an_invalid_redis_url_prints_one_line(on_server: Terminal) -> None:
    wrong = on_server.with_env(SEALDESK_REDIS_URL="redis://127.0.0.1:port/0")
    assert "SEALDESK_REDIS_URL" in wrong.refused("serve", "--port", "0")


@contextmanager
def a_worker(terminal: Terminal) -> Iterator[Command]:
    """A worker that runs until the end of the block."""
    with start_command("worker", env=terminal.env) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_worker_runs_until_sigterm(on_server: Terminal) -> None:
    with start_command("worker", env=on_server.env, stderr=PIPE) as process:
        assert process.stderr is not None
        assert '"event": "working"' in process.stderr.readline()
        process.terminate()
        assert process.wait(120) == 0


def test_worker_without_its_role_is_refused(on_server: Terminal) -> None:
    bare = on_server.with_env(SEALDESK_WORKER_DATABASE_URL="")
    assert "SEALDESK_WORKER_DATABASE_URL is missing" in bare.refused("worker")


def test_worker_as_the_owner_is_refused(on_server: Terminal) -> None:
    owner = on_server.env["SEALDESK_OWNER_DATABASE_URL"]
    assert "owns the tables" in on_server.with_env(SEALDESK_WORKER_DATABASE_URL=owner).refused(
        "worker"
    )


@pytest.mark.prove
def test_a_killed_worker_is_named_and_one_that_runs_ends_the_issue(on_server: Terminal) -> None:
    with serving(on_server) as served:

        def codes() -> set[str]:
            state = httpx.get(f"{served.url}/healthz/installation", timeout=60).json()["data"]
            return {issue["code"] for issue in state["issues"]}

        wait_until(lambda: "worker_missing" in codes())
        with a_worker(on_server) as worker:
            wait_until(lambda: codes() == set())
            worker.kill()
            wait_until(lambda: {"worker_missing", "process_silent"} <= codes())
        with a_worker(on_server):
            wait_until(lambda: "worker_missing" not in codes())
