"""What hostile bodies and idle readers cost a process: memory, and time of the event loop."""

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from sealdesk.errors import BadRequest
from sealdesk.web import json_parsing
from sealdesk.web.form import parse_form
from sealdesk.web.json_parsing import parse
from tests.support.connection import Connection
from tests.support.service import Service, wait_until

TICKETS = "/api/v1/external/tickets?per_page=100"
MIB = 1024 * 1024
pytestmark = pytest.mark.prove


def resident_mib() -> int:
    """The memory of this process, in which the service runs too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def test_many_unfinished_bodies_take_no_more_than_their_budget(
    start: Callable[..., Service],
) -> None:
    service = start()
    before, most = resident_mib(), 0
    head = "POST /log-in HTTP/1.1\r\nhost: t\r\ncontent-length: 1000000\r\n"
    typed = "content-type: application/x-www-form-urlencoded\r\n\r\n"
    sent = (head + typed).encode() + b"a" * 990_000
    with ExitStack() as stack:
        for _ in range(300):  # 300 MB
            connection = Connection(service)
            stack.callback(connection.close)
            with suppress(ConnectionError):
                connection.socket.sendall(sent)
            most = max(most, service.state.limits.received.held_bytes)
        assert 7 * MIB < most <= 8 * MIB
        assert resident_mib() - before < 100
    wait_until(lambda: service.state.limits.received.held_bytes == 0)


def test_many_unread_responses_take_no_more_than_their_budget(
    start: Callable[..., Service],
) -> None:
    service = start()
    key = service.tenant().key()
    for _ in range(14):
        key.ticket(description="d" * 65_000)
    before = resident_mib()
    with ExitStack() as stack:
        for _ in range(200):  # 180 MB
            connection = Connection(service, receive_buffer=4096)
            stack.callback(connection.close)
            lines = "".join(
                f"{n}: {v}\r\n" for n, v in key.signature_headers("GET", TICKETS).items()
            )
            connection.send(f"GET {TICKETS} HTTP/1.1\r\nhost: t\r\n{lines}\r\n".encode())
        wait_until(lambda: service.state.metrics.responses.by_status.total() >= 214)
        assert 6 * MIB < service.state.limits.sending.held_bytes <= 8 * MIB
        assert resident_mib() - before < 100
    wait_until(lambda: service.state.limits.sending.held_bytes == 0)


def cpu_s(work: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    times = []
    for _ in range(3):
        started = time.process_time()
        with suppress(BadRequest):
            work()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "unit", [b'{"a":["\\u00e9",[""]]}', b"[]", b'""', b'"\\"\\\\"', b"1", b'{"":""}']
)
def test_a_hostile_body_is_refused_in_less_time_than_it_takes_to_parse(
    unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"[" + b",".join([unit] * (MIB // (len(unit) + 1))) + b"]"
    with pytest.raises(BadRequest, match="more than 10,000 values"):
        parse(content)
    refusal_s = cpu_s(lambda: parse(content))
    monkeypatch.setattr(json_parsing, "MAX_VALUES", MIB)
    assert refusal_s < cpu_s(lambda: parse(content))


@pytest.mark.parametrize("unit", [b"%41", b"%C3%A9", b"%41b", b"%5C%25"])
def test_a_form_full_of_escapes_takes_a_third_of_the_time_of_the_standard_library(
    unit: bytes,
) -> None:
    form = b"a=" + unit * (MIB // len(unit))
    assert cpu_s(lambda: parse_form(form)) < cpu_s(lambda: parse_qsl(form.decode())) / 3
