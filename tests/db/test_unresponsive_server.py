"""A stalled or full PostgreSQL server leads to 503 in time, and to recovery afterwards."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.servers import PgBouncer, server_directory
from tests.support.client import Key
from tests.support.databases import Template
from tests.support.service import Service, running, wait_until

TICKETS = "/api/v1/external/tickets"
# Nobody ends what holds a request up here, so one that is answered at all did not wait for it. The
# answer comes within 5 s, and what a busy machine needs.
IN_TIME_S = 20.0
NEW = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}


@pytest.fixture
def env(postgres_template: Template) -> Iterator[dict[str, str]]:
    with postgres_template.copied() as env:
        yield env


@pytest.fixture
def service(env: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path, **env) as service:
        yield service


def _database(env: dict[str, str]) -> str:
    return env["SEALDESK_DATABASE_URL"].rpartition("/")[2]


def _is_refused_in_time(answer: httpx.Response, begun: float) -> bool:
    assert time.monotonic() - begun < IN_TIME_S
    assert answer.status_code == 503, answer.text
    return answer.headers["retry-after"].isdigit()


@pytest.mark.parametrize("is_write", [False, True])
def test_stalled_session_is_replaced_in_time(
    service: Service, env: dict[str, str], postgres_template: Template, is_write: bool
) -> None:
    key = service.tenant().key()
    key.ticket()
    sql = f"SELECT pid FROM pg_stat_activity WHERE datname = '{_database(env)}'"
    sql += " AND backend_type = 'client backend'"
    stopped: list[int] = []
    try:
        for _ in range(10):  # a session that was just beginning is stopped at the next try
            found = [int(pid) for pid in postgres_template.access.sql(sql)]
            stopped += [pid for pid in found if pid not in stopped]
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            begun = time.monotonic()
            answer = key.post(TICKETS, NEW) if is_write else key.get(TICKETS)
            if not answer.is_success:
                break
        assert _is_refused_in_time(answer, begun)
        # Each stalled session is replaced when it is used; nobody restarted anything.
        wait_until(lambda: key.get(TICKETS).status_code == 200)
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):  # It was ending when it was stopped.
                os.kill(pid, signal.SIGCONT)


def test_restarted_server_is_reconnected(
    env: dict[str, str], postgres_template: Template, tmp_path: Path
) -> None:
    with server_directory() as directory:
        pooler = PgBouncer.start(directory / "way", postgres_template.access)
        port = f":{postgres_template.access.port}/"
        way = env["SEALDESK_DATABASE_URL"].replace(port, f":{pooler.port}/")
        through = {"SEALDESK_DATABASE_URL": way, "SEALDESK_DATABASE_POOLER": "transaction"}
        with running(tmp_path, **{**env, **through}) as service:
            key = service.tenant().key()
            key.ticket()
            pooler.kill()
            begun = time.monotonic()
            assert _is_refused_in_time(key.get(TICKETS), begun)
            pooler.start_again()
            wait_until(lambda: key.get(TICKETS).status_code == 200, IN_TIME_S)


def test_server_with_a_full_disk_still_reads(
    service: Service, env: dict[str, str], postgres_template: Template
) -> None:
    key: Key = service.tenant().key()
    ticket = key.ticket()
    # What PostgreSQL says of a full disk (SQLSTATE 53100), from where it would say it.
    full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE"
    full += " EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';"
    full += " END $$; CREATE TRIGGER no_room BEFORE INSERT ON tickets EXECUTE FUNCTION no_room()"
    postgres_template.access.sql(full, _database(env))
    begun = time.monotonic()
    assert _is_refused_in_time(key.post(TICKETS, NEW), begun)
    assert key.get(f"{TICKETS}/{ticket['id']}").status_code == 200
    postgres_template.access.sql("DROP TRIGGER no_room ON tickets", _database(env))
    assert key.post(TICKETS, NEW).status_code == 201
