"""Requests as a receiver sees them, and the handling of its response."""

import asyncio
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from sealdesk.http_client import HttpClient, client
from tests.http_client.conftest import ClientRunner
from tests.http_client.receivers import OK, Authority, read_request, receiver, respond


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """A certificate authority that the client trusts."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority


def test_the_receiver_gets_exactly_the_given_headers_and_body(runner: ClientRunner) -> None:
    received: list[bytes] = []
    with receiver(respond(OK, received=received)) as port:
        response = runner.post(f"http://LocalHost:{port}/hooks/a?b=%20", b'{"id":1}')
    assert (response.status, response.body) == (200, b"ok")
    assert response.headers == (("content-length", "2"),)
    assert received[0].decode().split("\r\n") == [
        "POST /hooks/a?b=%20 HTTP/1.1",
        f"Host: localhost:{port}",
        "content-type: application/json",
        "user-agent: Sealdesk/test",
        "webhook-id: evt",
        "Accept-Encoding: identity",
        "Content-Length: 8",
        "",
        '{"id":1}',
    ]


@pytest.mark.parametrize(
    "header",
    [
        {"x": "a\r\nb: c"},
        {"x\r\ny": "z"},
        {"x": "a\nb"},
        {"x": "\0"},
        {"x": "\u00e9"},
        {"": "a"},
        {"x: y": "z"},
        {"Host": "inside"},
        {"Content-Length": "1"},
        {"transfer-encoding": "chunked"},
    ],
)
def test_a_header_cannot_inject_another(runner: ClientRunner, header: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="an invalid header"):
        runner.run(runner.client.post("http://127.0.0.1:1/", header, b""))


def test_tls_sends_the_host_name_and_verifies_it(
    runner: ClientRunner, authority: Authority
) -> None:
    named: list[str | None] = []
    context = authority.context("localhost")
    context.sni_callback = lambda _, name, __: named.append(name)
    received: list[bytes] = []
    with receiver(respond(OK, received=received), context) as port:
        assert runner.post(f"https://localhost:{port}/").status == 200
    assert named == ["localhost"]
    assert f"\r\nHost: localhost:{port}\r\n".encode() in received[0]


def test_a_certificate_for_an_ip_address_is_accepted(
    runner: ClientRunner, authority: Authority
) -> None:
    with receiver(respond(OK), authority.context("127.0.0.1")) as port:
        assert runner.post(f"https://127.0.0.1:{port}/").status == 200


@pytest.mark.parametrize(
    ("names", "days", "text"),
    [
        (("other.example",), (-1, 1), "The certificate is for another name."),
        (("localhost",), (-9, -1), "The certificate has expired."),
        (("localhost",), (1, 9), "The certificate is not valid yet."),
    ],
)
def test_an_invalid_certificate_receives_no_request(
    runner: ClientRunner,
    authority: Authority,
    names: tuple[str, ...],
    days: tuple[int, int],
    text: str,
) -> None:
    received: list[bytes] = []
    with receiver(respond(OK, received=received), authority.context(*names, days=days)) as port:
        url = f"https://localhost:{port}/"
        for do in (None, runner.client.check):
            assert runner.fails(url, do) == ("url_unreachable", text)
    assert received == []


def test_an_unknown_certificate_authority_is_not_trusted(
    runner: ClientRunner, tmp_path: Path
) -> None:
    with receiver(respond(OK), Authority(tmp_path).context("localhost")) as port:
        cause, text = runner.fails(f"https://localhost:{port}/")
    assert (cause, "authority is not trusted" in text) == ("url_unreachable", True)


def test_old_tls_and_plain_text_are_refused(runner: ClientRunner, authority: Authority) -> None:
    context = authority.context("localhost")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    for one in (context, None):
        with receiver(lambda connection: connection.sendall(OK), one) as port:
            cause, text = runner.fails(f"https://localhost:{port}/", runner.client.check)
            assert (cause, text.startswith("TLS failed")) == ("url_unreachable", True), text


def test_a_check_connects_and_sends_nothing(runner: ClientRunner, authority: Authority) -> None:
    outcome: list[bytes] = []
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        outcome.append(connection.recv(100))
        ended.set()

    for scheme, context in (("http", None), ("https", authority.context("localhost"))):
        with receiver(handle, context) as port:
            runner.run(runner.client.check(f"{scheme}://localhost:{port}/"))
            assert wait_for(runner, ended)
            ended.clear()
    assert outcome == [b"", b""]


def test_a_redirect_is_returned_and_not_followed(runner: ClientRunner) -> None:
    followed: list[bytes] = []
    with receiver(respond(OK, received=followed)) as other:
        moved = (
            f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{other}/\r\nContent-Length: 0\r\n\r\n"
        )
        with receiver(respond(moved.encode())) as port:
            response = runner.post(f"http://127.0.0.1:{port}/")
    assert response.status == 307
    assert followed == []


def test_proxy_settings_of_the_environment_are_ignored(
    runner: ClientRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    with receiver(respond(OK)) as port, receiver(respond(OK, received=asked)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert runner.post(f"http://127.0.0.1:{port}/").status == 200
    assert asked == []


@pytest.mark.parametrize(
    ("url", "cause", "text"),
    [
        ("http://10.0.0.7/", "url_forbidden", "10.0.0.7 is not a public address."),
        ("http://127.0.0.1:1/", "url_unreachable", "The connection was refused."),
        ("http://x.invalid/", "url_unresolvable", None),
        ("http://localhost", "url_forbidden", "localhost has an address that is not public."),
        ("http://0x7f.1/", "url_invalid", None),
    ],
)
def test_a_failed_request_has_its_cause(
    runner: ClientRunner, url: str, cause: str, text: str | None
) -> None:
    if url == "http://localhost":
        runner.client = HttpClient((), allow_http=True)
    for do in (None, runner.client.check):
        told = runner.fails(url, do)
        assert told[0] == cause
        assert text is None or told[1] == text


def test_connections_are_reused(runner: ClientRunner) -> None:
    connections: list[socket.socket] = []

    def handle(connection: socket.socket) -> None:
        connections.append(connection)
        respond(OK)(connection)

    with receiver(handle) as port:
        for _ in range(5):
            assert runner.post(f"http://127.0.0.1:{port}/").status == 200
    assert len(connections) == 1


def test_a_request_on_a_connection_that_the_receiver_closed_is_retried(
    runner: ClientRunner,
) -> None:
    received: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        received.append(read_request(connection))
        connection.sendall(OK)
        received.append(read_request(connection))  # and not one word, although it is kept alive

    with receiver(handle) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [runner.post(url).status for _ in range(3)] == [200, 200, 200]
    assert [len(one) > 0 for one in received] == [True] * 5


def test_a_request_with_a_partial_response_is_not_retried(runner: ClientRunner) -> None:
    received: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        for answer in (OK, b"HTTP/1.1 2"):
            received.append(read_request(connection))
            connection.sendall(answer)

    with receiver(handle) as port:
        assert runner.post(f"http://127.0.0.1:{port}/").status == 200
        assert runner.fails(f"http://127.0.0.1:{port}/")[0] == "bad_answer"
    assert len(received) == 2


def test_an_unexpected_second_response_is_not_used_for_the_next_request(
    runner: ClientRunner,
) -> None:
    second = b"HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n"
    with receiver(respond(OK + second)) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [runner.post(url).status for _ in range(4)] == [200] * 4


def wait_for(runner: ClientRunner, event: threading.Event) -> bool:
    """Wait for what another thread notices of what the sender does in turns of its loop."""
    until = time.monotonic() + 120
    while not event.is_set() and time.monotonic() < until:
        runner.run(asyncio.sleep(0.02))
    return event.is_set()


def test_idle_connections_are_closed(runner: ClientRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sealdesk.http_client.pool.IDLE_S", 0.0)
    monkeypatch.setattr("sealdesk.http_client.pool._SWEEP_S", 0.05)
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        respond(OK)(connection)
        ended.set()

    with receiver(handle) as port:
        runner.post(f"http://127.0.0.1:{port}/")
        assert wait_for(runner, ended)


def test_a_missing_response_times_out(
    runner: ClientRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(OK)
        ended.wait(20)

    with receiver(handle) as port:
        url = f"http://127.0.0.1:{port}/"
        runner.post(url)  # connected; no time goes into that
        monkeypatch.setattr(client, "TOTAL_S", 0.2)
        assert runner.fails(url) == ("timeout", "No complete response came within 0.2 s.")
        ended.set()


def test_a_connection_that_is_not_established_times_out(
    runner: ClientRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.2)
    ended = threading.Event()

    def handle(_: socket.socket) -> None:
        ended.wait(20)  # and never a word of TLS

    with receiver(handle) as port:
        for do in (None, runner.client.check):
            cause, text = runner.fails(f"https://127.0.0.1:{port}/", do)
            assert (cause, text) == ("url_unreachable", "No connection was made in time.")
        ended.set()
