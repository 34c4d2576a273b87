"""Start and end of the server: one process, one port, and no truncated response."""

import ctypes
import resource
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sealdesk.server import serve
from sealdesk.server.serve import StartRefused
from sealdesk.web import json_parsing
from tests.support.disk import watched_disk
from tests.support.service import Service, running, wait_until


def test_second_server_of_a_database_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    with serve.lock(path), pytest.raises(StartRefused) as refused:
        serve.lock(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_lock_ends_with_its_holder(tmp_path: Path) -> None:
    serve.lock(tmp_path / "sealdesk.db").close()
    serve.lock(tmp_path / "sealdesk.db").close()


def test_servers_of_two_databases_do_not_lock_each_other(tmp_path: Path) -> None:
    with serve.lock(tmp_path / "one.db"), serve.lock(tmp_path / "two.db") as second:
        assert not second.closed


def test_is_serving_says_whether_a_process_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    before = serve.is_serving(path)
    with serve.lock(path):
        meanwhile = serve.is_serving(path)
    assert (before, meanwhile, serve.is_serving(path)) == (False, True, False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_port_in_use_is_refused_in_one_line(host: str) -> None:
    with serve.bind("127.0.0.1", 0) as first, pytest.raises(StartRefused) as refused:
        port = first.getsockname()[1]
        serve.bind(host, port)
    assert str(refused.value).startswith(f"cannot listen on {host}:{port}: Address already in use")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("host", ["no such host", "192.0.2.1", "nowhere.invalid"])
def test_foreign_address_is_refused_in_one_line(host: str) -> None:
    with pytest.raises(StartRefused) as refused:
        serve.bind(host, 0)
    assert str(refused.value).startswith(f"cannot listen on {host}:0: ")


def test_ipv6_can_be_listened_on() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with serve.bind("::1", 0) as sock:
        assert sock.family == socket.AF_INET6


def test_open_request_is_answered_before_the_server_exits(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = []
    with watched_disk(monkeypatch) as disk, running(tmp_path, template) as service:
        key = service.tenant().key()
        key.ticket()
        service.settle()
        disk.stand_still()
        new = {"subject": "S", "description": "D", "customer": {"email": "c@example.test"}}
        write = threading.Thread(
            target=lambda: answers.append(key.post("/api/v1/external/tickets", new))
        )
        write.start()
        assert disk.is_asked.wait(120)
        end = threading.Thread(target=service.stop)
        end.start()
        wait_until(lambda: service.state.lifetime.is_draining)
        disk.goes_on.set()
        write.join(10)
        end.join(10)
    assert [answer.status_code for answer in answers] == [201]
    assert isinstance(service, Service)


def test_shutdown_leaves_a_database_without_a_log(template: Path, tmp_path: Path) -> None:
    with running(tmp_path, template) as service:
        service.tenant()
        log = service.settings.database_path.with_name("sealdesk.db-wal")
        assert log.exists()
    assert not log.exists()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="malloc is not glibc's")
def test_parsing_large_bodies_takes_no_new_memory_from_the_kernel(service: Service) -> None:
    body, counts = b'"%b"' % (b"x" * 900_000), []
    for _ in range(3):
        json_parsing.parse(body)
        counts.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)
    assert counts[-1] - counts[-2] < 50, "page faults, of which there are 600 otherwise"
