"""What a receiver sees of a request, and what comes of its answer."""

import asyncio
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from sealdesk.http_client import HttpClient, client
from tests.http_client.conftest import Sending
from tests.http_client.receivers import OK, Authority, answering, receiver, request_from


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that the sender trusts as any other of the system's."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority


def test_the_receiver_gets_what_was_said_and_nothing_more(sending: Sending) -> None:
    got: list[bytes] = []
    with receiver(answering(OK, got=got)) as port:
        answered = sending.post(f"http://LocalHost:{port}/hooks/a?b=%20", b'{"id":1}')
    assert (answered.status, answered.body) == (200, b"ok")
    assert answered.headers == (("content-length", "2"),)
    assert got[0].decode().split("\r\n") == [
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
def test_a_header_cannot_bring_another(sending: Sending, header: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a header that"):
        sending.run(sending.sender.post("http://127.0.0.1:1/", header, b""))


def test_tls_names_the_host_and_proves_it(sending: Sending, authority: Authority) -> None:
    named: list[str | None] = []
    context = authority.context("localhost")
    context.sni_callback = lambda _, name, __: named.append(name)
    got: list[bytes] = []
    with receiver(answering(OK, got=got), context) as port:
        assert sending.post(f"https://localhost:{port}/").status == 200
    assert named == ["localhost"]
    assert f"\r\nHost: localhost:{port}\r\n".encode() in got[0]


def test_an_address_may_have_a_certificate(sending: Sending, authority: Authority) -> None:
    with receiver(answering(OK), authority.context("127.0.0.1")) as port:
        assert sending.post(f"https://127.0.0.1:{port}/").status == 200


@pytest.mark.parametrize(
    ("names", "days", "text"),
    [
        (("other.example",), (-1, 1), "The certificate is for another name."),
        (("localhost",), (-9, -1), "The certificate has expired."),
        (("localhost",), (1, 9), "The certificate is not valid yet."),
    ],
)
def test_a_certificate_that_does_not_hold_gets_nothing(
    sending: Sending,
    authority: Authority,
    names: tuple[str, ...],
    days: tuple[int, int],
    text: str,
) -> None:
    got: list[bytes] = []
    with receiver(answering(OK, got=got), authority.context(*names, days=days)) as port:
        url = f"https://localhost:{port}/"
        for do in (None, sending.sender.check):
            assert sending.fails(url, do) == ("url_unreachable", text)
    assert got == []


def test_an_authority_that_nobody_knows_is_not_trusted(sending: Sending, tmp_path: Path) -> None:
    with receiver(answering(OK), Authority(tmp_path).context("localhost")) as port:
        cause, text = sending.fails(f"https://localhost:{port}/")
    assert (cause, "an authority that is not trusted" in text) == ("url_unreachable", True)


def test_old_tls_and_no_tls_are_refused(sending: Sending, authority: Authority) -> None:
    context = authority.context("localhost")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    for one in (context, None):
        with receiver(lambda connection: connection.sendall(OK), one) as port:
            cause, text = sending.fails(f"https://localhost:{port}/", sending.sender.check)
            assert (cause, text.startswith("TLS failed")) == ("url_unreachable", True), text


def test_a_check_connects_and_sends_nothing(sending: Sending, authority: Authority) -> None:
    came: list[bytes] = []
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        came.append(connection.recv(100))
        ended.set()

    for scheme, context in (("http", None), ("https", authority.context("localhost"))):
        with receiver(handle, context) as port:
            sending.run(sending.sender.check(f"{scheme}://localhost:{port}/"))
            assert has_come(sending, ended)
            ended.clear()
    assert came == [b"", b""]


def test_a_redirect_is_an_answer_and_not_followed(sending: Sending) -> None:
    followed: list[bytes] = []
    with receiver(answering(OK, got=followed)) as other:
        moved = (
            f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{other}/\r\nContent-Length: 0\r\n\r\n"
        )
        with receiver(answering(moved.encode())) as port:
            answered = sending.post(f"http://127.0.0.1:{port}/")
    assert answered.status == 307
    assert followed == []


def test_no_proxy_of_the_environment_is_asked(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    with receiver(answering(OK)) as port, receiver(answering(OK, got=asked)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert sending.post(f"http://127.0.0.1:{port}/").status == 200
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
def test_a_refusal_names_the_cause(
    sending: Sending, url: str, cause: str, text: str | None
) -> None:
    if url == "http://localhost":
        sending.sender = HttpClient((), allow_http=True)
    for do in (None, sending.sender.check):
        told = sending.fails(url, do)
        assert told[0] == cause
        assert text is None or told[1] == text


def test_connections_are_used_again(sending: Sending) -> None:
    connections: list[socket.socket] = []

    def handle(connection: socket.socket) -> None:
        connections.append(connection)
        answering(OK)(connection)

    with receiver(handle) as port:
        for _ in range(5):
            assert sending.post(f"http://127.0.0.1:{port}/").status == 200
    assert len(connections) == 1


def test_what_a_closing_connection_took_along_is_sent_once_more(sending: Sending) -> None:
    got: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        got.append(request_from(connection))
        connection.sendall(OK)
        got.append(request_from(connection))  # and not one word, although it is kept alive

    with receiver(handle) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [sending.post(url).status for _ in range(3)] == [200, 200, 200]
    assert [len(one) > 0 for one in got] == [True] * 5


def test_what_was_answered_in_part_is_not_sent_again(sending: Sending) -> None:
    got: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        for answer in (OK, b"HTTP/1.1 2"):
            got.append(request_from(connection))
            connection.sendall(answer)

    with receiver(handle) as port:
        assert sending.post(f"http://127.0.0.1:{port}/").status == 200
        assert sending.fails(f"http://127.0.0.1:{port}/")[0] == "bad_answer"
    assert len(got) == 2


def test_an_answer_that_nobody_waits_for_is_not_taken_for_the_next(sending: Sending) -> None:
    second = b"HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n"
    with receiver(answering(OK + second)) as port:
        url = f"http://127.0.0.1:{port}/"
        assert [sending.post(url).status for _ in range(4)] == [200] * 4


def has_come(sending: Sending, event: threading.Event) -> bool:
    """Wait for what another thread notices of what the sender does in turns of its loop."""
    until = time.monotonic() + 20
    while not event.is_set() and time.monotonic() < until:
        sending.run(asyncio.sleep(0.02))
    return event.is_set()


def test_idle_connections_are_closed(sending: Sending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sealdesk.http_client.pool.IDLE_S", 0.0)
    monkeypatch.setattr("sealdesk.http_client.pool._SWEEP_S", 0.05)
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        answering(OK)(connection)
        ended.set()

    with receiver(handle) as port:
        sending.post(f"http://127.0.0.1:{port}/")
        assert has_come(sending, ended)


def test_an_answer_that_does_not_come_is_not_waited_for(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def handle(connection: socket.socket) -> None:
        request_from(connection)
        connection.sendall(OK)
        ended.wait(20)

    with receiver(handle) as port:
        url = f"http://127.0.0.1:{port}/"
        sending.post(url)  # connected; no time goes into that
        monkeypatch.setattr(client, "IN_ALL_S", 0.2)
        assert sending.fails(url) == ("timeout", "No whole answer came within 0.2 s.")
        ended.set()


def test_a_connection_that_comes_to_nothing_is_given_up(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.2)
    ended = threading.Event()

    def handle(_: socket.socket) -> None:
        ended.wait(20)  # and never a word of TLS

    with receiver(handle) as port:
        for do in (None, sending.sender.check):
            cause, text = sending.fails(f"https://127.0.0.1:{port}/", do)
            assert (cause, text) == ("url_unreachable", "No connection was made in time.")
        ended.set()
