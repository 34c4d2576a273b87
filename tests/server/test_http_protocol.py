"""Limits of spec decision 3 on the socket, and responses to malformed HTTP."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sealdesk.server import http_protocol, last_response
from tests.support.client import Person
from tests.support.connection import Connection
from tests.support.service import Service

LOG_IN = "/api/v1/auth/login"
GET = b"GET /healthz HTTP/1.1\r\nhost: t\r\n\r\n"
MIB = 1024 * 1024
SHORT = 8 * 1024


@pytest.fixture(autouse=True)
def no_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the time that a refused client has to read its response."""
    monkeypatch.setattr(last_response, "CLOSE_DELAY_S", 0.05)


@pytest.fixture
def connect(service: Service) -> Iterator[Callable[[], Connection]]:
    """Opens connections to the service, which must still answer when the test is over."""
    opened = []

    def open_one() -> Connection:
        opened.append(Connection(service))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()
    assert Person(service, "").get("/healthz").status_code == 200


class Hasty(Connection):
    """A connection to a service whose timeouts become short when `hurry` is called."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(service)
        self._service = service
        self._monkeypatch = monkeypatch

    def hurry(self) -> None:
        """Wait until sent data has arrived; then set timeouts of 0.2 s."""
        assert Person(self._service, "").get("/healthz").status_code == 200
        self._monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 0.2)
        self._monkeypatch.setattr(http_protocol, "BODY_TIMEOUT_S", 0.2)
        for connection in self._service._server.server_state.connections:
            protocol: Any = connection
            protocol.timeout_s = min(protocol.timeout_s, 0.2)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]) -> Iterator[Hasty]:
    monkeypatch.setattr(http_protocol, "SWEEP_S", 0.02)
    connection = Hasty(start(), monkeypatch)
    yield connection
    connection.close()


def _post(length: int, *lines: str) -> bytes:
    """The head of a log-in whose body has this length."""
    return _head(f"content-length: {length}", *lines)


def _chunked() -> bytes:
    return _head("transfer-encoding: chunked")


def _head(*lines: str) -> bytes:
    typed = (f"POST {LOG_IN} HTTP/1.1", "host: t", "content-type: application/json", *lines)
    return "\r\n".join(typed).encode() + b"\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


Connect = Callable[[], Connection]


# Headers


def test_header_over_16_kib_gets_431(connect: Connect) -> None:
    connection = connect()
    connection.send(b"GET /healthz HTTP/1.1\r\nx-long: " + b"a" * 16_384 + b"\r\n\r\n")
    assert (connection.reply().code, connection.is_closed()) == ("headers_too_large", True)


def test_headers_over_16_kib_together_get_431(connect: Connect) -> None:
    connection = connect()
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"a" * 400) for number in range(42))
    connection.send(b"GET /healthz HTTP/1.1\r\n" + lines + b"\r\n")
    assert connection.reply().code == "headers_too_large"


def test_target_over_16_kib_gets_431(connect: Connect) -> None:
    connection = connect()
    connection.send(b"GET /healthz?" + b"a" * 17_000 + b" HTTP/1.1\r\n\r\n")
    assert connection.reply().code == "headers_too_large"


def test_a_hundred_headers_are_accepted(connect: Connect) -> None:
    connection = connect()
    lines = b"".join(b"x-%d: 1\r\n" % number for number in range(99))
    connection.send(b"GET /healthz HTTP/1.1\r\nhost: t\r\n" + lines + b"\r\n")
    assert connection.reply().status == 200


def test_a_hundred_and_one_headers_get_431(connect: Connect) -> None:
    connection = connect()
    lines = b"".join(b"x-%d: 1\r\n" % number for number in range(100))
    connection.send(b"GET /healthz HTTP/1.1\r\nhost: t\r\n" + lines + b"\r\n")
    assert connection.reply().code == "headers_too_large"


def test_endless_header_line_gets_431_before_it_ends(connect: Connect) -> None:
    connection = connect()
    connection.send(b"GET /healthz HTTP/1.1\r\nx-endless: ")
    for _ in range(5):
        connection.send(b"a" * 4096)
    assert connection.reply().code == "headers_too_large"


def test_endless_header_on_a_used_connection_gets_431(connect: Connect) -> None:
    connection = connect()
    connection.send(GET)
    assert connection.reply().status == 200
    connection.send(b"GET /healthz HTTP/1.1\r\nx-endless: " + b"a" * 20_000)
    assert connection.reply().code == "headers_too_large"


def test_endless_trailers_end_in_431(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_response, "CLOSE_DELAY_S", 1.0)
    connection = connect()
    connection.send(_chunked() + _chunk(b"{}") + b"0\r\n")
    for number in range(640):
        connection.send_what_is_taken(b"x-%d: %s\r\n" % (number, b"a" * 1024))
    assert connection.reply().code == "headers_too_large"


def test_trailers_are_not_headers(connect: Connect, admin: Person) -> None:
    connection = connect()
    connection.send(
        b"GET /api/v1/auth/me HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    connection.send(b"0\r\nauthorization: Bearer " + admin.token.encode() + b"\r\n\r\n")
    assert connection.reply().code == "jwt_required"


# Time


def test_half_a_header_gets_408_and_the_connection_closes(hasty: Hasty) -> None:
    hasty.send(b"GET /healthz HTTP/1.1\r\nhost: ")
    hasty.hurry()
    assert (hasty.reply().code, hasty.is_closed()) == ("request_timeout", True)


def test_header_that_trickles_in_gets_408(hasty: Hasty) -> None:
    hasty.send(GET[:1])
    hasty.hurry()
    for byte in GET[1:]:
        hasty.send_what_is_taken(bytes([byte]))
        time.sleep(0.02)
    assert hasty.reply().code == "request_timeout"


def test_slow_body_gets_408(hasty: Hasty) -> None:
    hasty.send(_post(100) + b"{")
    hasty.hurry()
    assert (hasty.reply().code, hasty.is_closed()) == ("request_timeout", True)


def test_body_has_its_own_time(hasty: Hasty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 0.2)
    hasty.send(_post(2, "expect: 100-continue"))
    assert hasty.reply().status == 100  # whose headers came in time, however busy the machine is
    time.sleep(0.5)
    hasty.send(b"{}")
    assert hasty.reply().code == "validation_failed"


def test_idle_connection_is_closed_without_a_response(hasty: Hasty) -> None:
    hasty.hurry()
    assert hasty.is_closed()


def test_empty_lines_do_not_hold_a_used_connection(hasty: Hasty) -> None:
    hasty.send(GET)
    assert hasty.reply().status == 200
    hasty.send(b"\r\n")
    hasty.hurry()
    assert hasty.is_closed()  # the socket is listened to for no longer than 10 s


# Bodies


def test_declared_body_over_8_kib_gets_413_before_it_is_sent(connect: Connect) -> None:
    connection = connect()
    connection.send(_post(SHORT + 1))
    reply = connection.reply()
    assert (reply.code, json.loads(reply.body)["max_bytes"]) == ("body_too_large", SHORT)


def test_client_that_sends_it_all_sees_the_413(connect: Connect) -> None:
    connection = connect()
    connection.send_what_is_taken(_post(3 * MIB) + b" " * 3 * MIB)
    assert (connection.reply().code, connection.is_closed()) == ("body_too_large", True)


def test_chunked_body_over_8_kib_gets_413_before_its_end(connect: Connect) -> None:
    connection = connect()
    connection.send(_chunked() + _chunk(b" " * SHORT) + _chunk(b" "))
    assert connection.reply().code == "body_too_large"


@pytest.mark.parametrize("size", [b"ffffffffffffffff", b"7fffffffffffffff", b"2001", b"002001;a=b"])
def test_a_chunk_that_announces_too_much_gets_413_at_once(connect: Connect, size: bytes) -> None:
    whole, in_parts = connect(), connect()
    whole.send(_chunked() + _chunk(b"{") + size + b"\r\n{")
    assert whole.reply().code == "body_too_large"
    for part in (_chunked() + size[:3], size[3:] + b"\r", b"\n"):
        in_parts.send(part)
        other = connect()
        other.send(GET)
        assert other.reply().status == 200  # so the part has arrived
    assert in_parts.reply().code == "body_too_large"


def test_body_of_8_kib_is_read(connect: Connect) -> None:
    connection = connect()
    connection.send(_post(SHORT) + b"{}".ljust(SHORT))
    assert connection.reply().code == "validation_failed"


def test_chunked_body_is_read(connect: Connect) -> None:
    connection = connect()
    connection.send(_chunked() + _chunk(b"{") + _chunk(b"}") + b"0\r\n\r\n")
    assert connection.reply().code == "validation_failed"


def test_100_continue_precedes_the_answer(connect: Connect) -> None:
    connection = connect()
    connection.send(_post(2, "expect: 100-continue"))
    assert connection.reply().status == 100
    connection.send(b"{}")
    assert connection.reply().code == "validation_failed"


def test_body_that_will_be_refused_is_not_asked_for(connect: Connect) -> None:
    connection = connect()
    connection.send(_post(MIB + 1, "expect: 100-continue"))
    assert connection.reply().code == "body_too_large"


@pytest.mark.parametrize("body", [b"zz\r\n", b"-1\r\n", b"2\r\n{}zz", b"ffffffffffffffffff\r\n"])
def test_broken_chunk_gets_400_and_the_connection_closes(connect: Connect, body: bytes) -> None:
    connection = connect()
    connection.send(_chunked() + body)
    assert (connection.reply().code, connection.is_closed()) == ("malformed_request", True)


def test_broken_chunk_after_the_answer_closes_without_a_second_one(connect: Connect) -> None:
    connection = connect()
    connection.send(
        b"POST /api/v1/api-keys HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    assert connection.reply().code == "jwt_required"
    connection.send(b"zz\r\n")
    assert connection.is_closed()


@pytest.mark.parametrize("part", [b"GET /hea", GET[:-2], _post(10), _post(10) + b"{", _chunked()])
def test_truncated_request_leaves_nothing_behind(connect: Connect, part: bytes) -> None:
    connection = connect()
    connection.send(part)
    connection.socket.shutdown(socket.SHUT_WR)
    assert connection.is_closed()


# Malformed requests and other versions


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"hello\r\n\r\n",
        b"get /healthz HTTP/1.1\r\nhost: t\r\n\r\n",
        b"FROB /healthz HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /healthz\r\n\r\n",  # HTTP/0.9
        b"GET  /healthz HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /healthz  HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /healthz HTTP/0.9\r\nhost: t\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\nhost: t\r\n\r\n",
        b"GET healthz HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /caf\xc3\xa9 HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /a\x00b HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET http://t HTTP/1.1\r\nhost: t\r\n\r\n",
        b"CONNECT t:443 HTTP/1.1\r\nhost: t\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n: empty\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nspace : 1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\na: 1\r\n folded\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\na: nul\x00\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\na: bare\rcr\r\n\r\n",
        _head("content-length: 2", "transfer-encoding: chunked") + b"0\r\n\r\n",
        _head("transfer-encoding: chunked", "content-length: 2") + b"0\r\n\r\n",
        b"POST /x HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        b"POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: +2\r\n\r\n{}",
        b"POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: 2, 2\r\n\r\n{}",
        b"POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: 99999999999999999999999\r\n\r\n",
        _head("transfer-encoding: chunked, chunked") + b"0\r\n\r\n",
        _head("transfer-encoding: chunked", "transfer-encoding: chunked") + b"0\r\n\r\n",
        _post(0).replace(b": 0", b": " + b"0" * 5000),
        _post(0).replace(b": 0", b": " + b"0" * 4999 + b"2") + b"{}",
        b"POST /x HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET http://t/healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: t\r\nhost: t\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: t\r\nhOST: other\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\nhost: t\r\nhost: other\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a/b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: user@a\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a:80:80\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: [::1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: caf\xc3\xa9\r\n\r\n",
    ],
)
def test_malformed_request_gets_400_and_the_connection_closes(
    connect: Connect, data: bytes
) -> None:
    connection = connect()
    connection.send(data)
    assert (connection.reply().code, connection.is_closed()) == ("malformed_request", True)


@pytest.mark.parametrize(
    ("types", "code"),
    [
        (("text/plain", "application/json"), "unsupported_media_type"),
        (("application/json", "text/plain"), "unsupported_media_type"),
        (("application/json", "application/json; charset=utf-8"), "validation_failed"),
    ],
)
def test_of_two_content_types_each_must_be_json(
    connect: Connect, types: tuple[str, ...], code: str
) -> None:
    lines = "".join(f"content-type: {each}\r\n" for each in types)
    connection = connect()
    head = f"POST /api/v1/auth/login HTTP/1.1\r\nhost: t\r\n{lines}content-length: 2\r\n\r\n"
    connection.send(head.encode() + b"{}")
    assert connection.reply().code == code


@pytest.mark.parametrize("method", ["get", "Post", "patch"])
def test_a_method_in_lower_case_is_named_in_a_problem(connect: Connect, method: str) -> None:
    connection = connect()
    connection.send(f"{method} /healthz HTTP/1.1\r\nhost: t\r\n\r\n".encode())
    reply = connection.reply()
    assert (reply.status, reply.code) == (400, "malformed_request")
    assert f"The method {method} is not in upper case: send {method.upper()}." in str(reply)


@pytest.mark.parametrize(
    "lines",
    [
        ("transfer-encoding: gzip, chunked",),
        ("transfer-encoding: identity, chunked",),
        ("transfer-encoding: x, chunked",),
        ("transfer-encoding: gzip", "transfer-encoding: chunked"),
        ("transfer-encoding: chunked;q=1, chunked",),
    ],
)
def test_a_transfer_coding_besides_chunked_gets_501_and_the_connection_closes(
    connect: Connect, lines: tuple[str, ...]
) -> None:
    connection = connect()
    connection.send(_head(*lines) + _chunk(b"{}") + b"0\r\n\r\n" + GET)
    assert (connection.reply().code, connection.is_closed()) == ("unknown_transfer_coding", True)


@pytest.mark.parametrize("coding", ["chunked", " Chunked "])
def test_chunked_is_read_however_it_is_written(connect: Connect, coding: str) -> None:
    connection = connect()
    connection.send(_head(f"transfer-encoding:{coding}") + _chunk(b"{}") + b"0\r\n\r\n" + GET)
    assert connection.reply().code == "validation_failed"
    assert connection.reply().status == 200


def test_nothing_behind_a_request_of_faulty_framing_is_answered(connect: Connect) -> None:
    connection = connect()
    smuggled = GET.replace(b"/healthz", b"/openapi.json")
    connection.send(GET + _head("host: other", f"content-length: {len(smuggled)}") + smuggled)
    assert connection.reply().status == 200
    assert (connection.reply().code, connection.is_closed()) == ("malformed_request", True)


# Java's HttpClient sends these three by default.
UPGRADE = ("connection: Upgrade, HTTP2-Settings", "http2-settings: AAEAAEAA", "upgrade: h2c")


@pytest.mark.parametrize("pieces", [1, 7, 10_000])
def test_upgrade_is_ignored_and_the_next_request_served(connect: Connect, pieces: int) -> None:
    connection = connect()
    asked = _post(2, *UPGRADE) + b"{}" + _head("transfer-encoding: chunked", *UPGRADE)
    sent = asked + _chunk(b"{}") + b"0\r\n\r\n" + _head(*UPGRADE).replace(b"POST", b"PUT") + GET
    for start in range(0, len(sent), pieces):
        connection.send(sent[start : start + pieces])
    codes = [connection.reply().code for _ in range(3)]
    assert codes == ["validation_failed", "validation_failed", "method_not_allowed"]
    assert connection.reply().status == 200


def test_upgrade_hides_no_fault_of_the_framing(connect: Connect) -> None:
    for lines in (("content-length: 5", "transfer-encoding: chunked"), ("host: other",)):
        connection = connect()
        connection.send(_head(*lines, *UPGRADE) + b"0\r\n\r\n" + GET)
        assert (connection.reply().code, connection.is_closed()) == ("malformed_request", True)


def test_upgrade_counts_as_a_header(connect: Connect) -> None:
    connection = connect()
    connection.send(_head(*UPGRADE, *["upgrade: h2c"] * 98))
    assert (connection.reply().code, connection.is_closed()) == ("headers_too_large", True)


def test_connection_that_is_to_close_closes_after_an_upgrade(connect: Connect) -> None:
    connection = connect()
    connection.send(_post(2, "upgrade: websocket", "connection: close, upgrade") + b"{}")
    assert (connection.reply().code, connection.is_closed()) == ("validation_failed", True)


def test_http_1_0_is_answered_and_closed(connect: Connect) -> None:
    connection = connect()
    connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert (connection.reply().status, connection.is_closed()) == (200, True)


# Several requests on one connection


def test_pipelined_requests_are_answered_in_order(connect: Connect) -> None:
    connection = connect()
    connection.send(GET + b"GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n" + GET)
    assert [connection.reply().status for _ in range(3)] == [200, 404, 200]


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * 20_000 + b"\r\n\r\n", 431),
        (_chunked() + b"zz\r\n", 400),
    ],
)
def test_400_of_a_malformed_request_follows_earlier_responses(
    connect: Connect, bad: bytes, status: int
) -> None:
    connection = connect()
    connection.send(GET + GET + bad)
    assert [connection.reply().status for _ in range(3)] == [200, 200, status]
    assert connection.is_closed()


def test_next_request_after_a_refused_upload_is_served(connect: Connect) -> None:
    connection = connect()
    connection.send(b"POST /api/v1/api-keys HTTP/1.1\r\nhost: t\r\ncontent-length: 5\r\n\r\n")
    assert connection.reply().code == "jwt_required"
    connection.send(b"GET /" + GET)
    assert connection.reply().status == 200


def test_many_hostile_connections_leave_the_service_answering(service: Service) -> None:
    opened: list[Any] = []
    for number in range(50):
        connection = Connection(service)
        connection.send_what_is_taken((GET[:-2], _post(9), b"\x00" * 99, _chunked())[number % 4])
        opened.append(connection)
    assert Person(service, "").get("/healthz").status_code == 200
    for connection in opened:
        connection.close()
