"""What the proxies refuse themselves is refused with the right status, and as a problem."""

import contextlib
import json
import socket
from http.client import HTTPResponse

import pytest

from tests.deploy.conftest import Front, PutUp, said_to
from tests.deploy.files import Certificate
from tests.support.service import Service

PROBLEM = "application/problem+json"
_HOST = b"\r\nHost: localhost\r\n"
UNREADABLE = {
    b"GARBAGE\r\n\r\n": 400,
    b"\x16\x03\x01\x00\r\n\r\n": 400,
    b"get / HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET / / HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET nothing HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET /\x00 HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET /%00 HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET /%zz HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET /../.. HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET / HTTP/9.9" + _HOST + b"\r\n": 400,
    b"CONNECT localhost:443 HTTP/1.1" + _HOST + b"\r\n": 400,
    b"GET / HTTP/1.1\r\n\r\n": 400,
    b"GET / HTTP/1.1" + _HOST + b"Host: localhost\r\n\r\n": 400,
    b"GET / HTTP/1.1" + _HOST + b"no colon\r\n\r\n": 400,
    b"POST / HTTP/1.1" + _HOST + b"Content-Length: x\r\n\r\n": 400,
    b"POST / HTTP/1.1" + _HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n": 400,
    b"TRACE / HTTP/1.1" + _HOST + b"\r\n": 405,
    b"POST / HTTP/1.1" + _HOST + b"Content-Length: 2097153\r\n\r\n": 413,
    b"GET /" + b"a" * 21_000 + b" HTTP/1.1" + _HOST + b"\r\n": 431,
    b"GET / HTTP/1.1" + _HOST + b"x: " + b"a" * 21_000 + b"\r\n\r\n": 431,
}
# These pass HAProxy, which reads paths less strictly than nginx, and may send more.
_NOT_HTTP = [
    b"GARBAGE\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


@pytest.fixture(scope="module")
def nginx(put_up: PutUp, served: Service) -> Front:
    return put_up("nginx", (served.port, served.port))


def said_plainly(port: int, sent: bytes) -> tuple[HTTPResponse, bytes]:
    """The answer to these bytes without TLS."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer, answer.read()


def assert_problem(answer: HTTPResponse, body: bytes, status: int, sent: bytes) -> None:
    assert (answer.status, answer.headers["content-type"]) == (status, PROBLEM), sent[:60]
    document = json.loads(body)
    assert (document["status"], "code" in document, answer.headers["cache-control"]) == (
        status,
        True,
        "no-store",
    )


def test_nginx_refuses_what_it_cannot_read_as_a_problem(
    nginx: Front, certificate: Certificate
) -> None:
    for sent, status in UNREADABLE.items():
        assert_problem(*said_to(nginx, certificate, sent), status, sent)
        assert_problem(*said_plainly(nginx.plain, sent), status, sent)


def test_nginx_refuses_a_request_without_tls_on_the_port_for_tls(nginx: Front) -> None:
    answer, body = said_plainly(nginx.tls, b"GET / HTTP/1.1" + _HOST + b"\r\n")
    assert (answer.status, json.loads(body)["code"]) == (403, "https_required")


def test_the_path_of_nginxs_errors_is_not_found_from_outside(
    nginx: Front, certificate: Certificate
) -> None:
    sent = b"GET /sealdesk-error HTTP/1.1" + _HOST + b"\r\n"
    assert_problem(*said_to(nginx, certificate, sent), 404, sent)


def test_nginx_says_which_methods_it_passes_on(nginx: Front, certificate: Certificate) -> None:
    answer, _ = said_to(nginx, certificate, b"TRACE / HTTP/1.1" + _HOST + b"\r\n")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PATCH, POST"
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize("sent", _NOT_HTTP)
def test_both_proxies_refuse_what_is_not_http(
    front: Front, certificate: Certificate, sent: bytes
) -> None:
    """HAProxy with its own page (haproxy#3032), so that only the status is tested."""
    assert said_to(front, certificate, sent)[0].status == 400
