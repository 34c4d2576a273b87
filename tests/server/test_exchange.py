"""One request and its response: what the server sends for an ASGI application, and refuses."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
import uvloop

from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.server import http_protocol, serve
from sealdesk.server.exchange import Exchange
from sealdesk.server.received import ReceivedBytes
from sealdesk.state import Lifetime
from sealdesk.web.request import Header, Message, Receive, Scope, Send
from tests.support.connection import Connection
from tests.support.for_each import for_each

TWO: Header = (b"content-length", b"2")
CHUNKED: Header = (b"transfer-encoding", b"chunked")


def start(*headers: Header, status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(content: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


# What the application sends for a path, besides {}.
SENT: dict[str, list[Message]] = {
    "/nothing": [],
    "/no-length": [start(), body(b"{}")],
    "/too-short": [start(TWO), body(b"{")],
    "/too-long": [start(TWO), body(b"{},")],
    "/too-long-in-parts": [start(TWO), body(b"{},", more=True), body(b"")],
    "/too-long-later": [start(TWO), body(b"{}", more=True), body(b",")],
    "/too-short-later": [start(TWO), body(b"{", more=True), body(b"")],
    "/two-starts": [start(TWO), start(TWO)],
    "/only-body": [body(b"{}")],
    "/after-the-end": [start(TWO), body(b"{}"), body(b"{}")],
    "/in-parts": [start(TWO), body(b"{", more=True), body(b"}", more=True), body(b"")],
    "/unknown-length": [
        start(CHUNKED),
        body(b"{", more=True),
        body(b"", more=True),
        body(b"}", more=True),
        body(b""),
    ],
    "/unknown-length-nothing": [start(CHUNKED), body(b"")],
    "/unknown-length-cut-off": [start(CHUNKED), body(b"{", more=True)],
    "/empty": [start(status=204), body(b"")],
    "/close": [start(TWO, (b"connection", b"close")), body(b"{}")],
}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Sends what SENT says; /header?VALUE sends a header with this value in hexadecimal."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
    elif scope["path"] == "/header":
        value = bytes.fromhex(scope["query_string"].decode())
        await send(start(TWO, (b"x-given", value)))
        await send(body(b"{}"))
    else:
        for message in SENT.get(scope["path"], [start(TWO), body(b"{}")]):
            await send(message)


class Served:
    """The server with the application above, in a thread."""

    def __init__(self) -> None:
        self._sock = serve.bind("127.0.0.1", 0)
        self.port: int = self._sock.getsockname()[1]
        received = ReceivedBytes(ByteBudget(1024 * 1024), ())
        self._server = serve.make_server(app, Lifetime(), received)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._server.serve(sockets=[self._sock]))

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    server = Served()
    yield server
    server.stop()


@pytest.fixture
def connection(served: Served) -> Iterator[Connection]:
    connection = Connection(served)
    yield connection
    connection.close()


def get(path: str, method: str = "GET", version: str = "1.1") -> bytes:
    return f"{method} {path} HTTP/{version}\r\nhost: t\r\n\r\n".encode()


@for_each("control", [*range(0x09), *range(0x0A, 0x20), 0x7F])
def test_a_control_character_in_a_header_is_a_500(served: Served, control: int) -> None:
    connection = Connection(served)
    connection.send(get(f"/header?{bytes([0x61, control, 0x62]).hex()}"))
    reply = connection.reply()
    assert (reply.status, reply.code, connection.is_closed()) == (500, "internal_error", True)
    assert "x-given" not in reply.headers
    connection.close()


@pytest.mark.parametrize(
    "value", [b"a\r\nset-cookie: a=b", b"a\r\n\r\nbody", b"\r\n", b"a\n b", b"a\r\rb\n\n"]
)
def test_a_header_cannot_add_another_or_end_the_head(connection: Connection, value: bytes) -> None:
    connection.send(get(f"/header?{value.hex()}"))
    reply = connection.reply()
    assert (reply.status, connection.is_closed()) == (500, True)
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("value", [b"", b"a\tb", b"caf\xe9", b'"a: b", c; d=e', b"x" * 7000])
def test_every_other_value_is_sent_as_it_is(connection: Connection, value: bytes) -> None:
    connection.send(get(f"/header?{value.hex()}"))
    reply = connection.reply()
    assert (reply.status, reply.headers["x-given"].encode("latin-1")) == (200, value)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/no-length",
        "/too-short",
        "/too-long",
        "/too-long-in-parts",
        "/two-starts",
        "/only-body",
    ],
)
def test_a_response_that_is_wrong_before_it_is_written_is_a_500(
    connection: Connection, path: str
) -> None:
    connection.send(get(path))
    assert (connection.reply().code, connection.is_closed()) == ("internal_error", True)


def test_a_failed_response_is_logged_with_its_request_id(
    connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    connection.send(get("/too-long"))
    request_id = connection.reply().headers["x-request-id"]
    assert request_id in [getattr(record, "request_id", "") for record in caplog.records]


@pytest.mark.parametrize("path", ["/too-long-later", "/too-short-later"])
def test_a_response_that_is_wrong_later_is_cut_off(connection: Connection, path: str) -> None:
    connection.send(get(path) + get("/"))
    data = b""
    while part := connection.socket.recv(65536):
        data += part
    assert data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert data.count(b"HTTP/1.1") == 1
    assert len(data.partition(b"\r\n\r\n")[2]) <= 2


def test_a_message_after_the_end_closes_the_connection(connection: Connection) -> None:
    connection.send(get("/after-the-end"))
    assert (connection.reply().body, connection.is_closed()) == (b"{}", True)


def test_parts_of_a_body_are_sent_one_after_another(connection: Connection) -> None:
    connection.send(get("/in-parts") + get("/"))
    assert [connection.reply().body for _ in "12"] == [b"{}", b"{}"]


def test_a_response_without_a_body_keeps_the_connection(connection: Connection) -> None:
    connection.send(get("/empty") + get("/", "HEAD"))
    assert (connection.reply().status, connection.socket.fileno() > 0) == (204, True)
    head = b"".join(iter(connection._file.readline, b"\r\n"))
    assert b"content-length: 2" in head
    connection.send(get("/"))
    assert connection.reply().body == b"{}"


@pytest.mark.parametrize(("path", "version"), [("/close", "1.1"), ("/", "1.0")])
def test_a_connection_that_will_be_closed_says_so(
    connection: Connection, path: str, version: str
) -> None:
    connection.send(get(path, version=version))
    assert (connection.reply().headers["connection"], connection.is_closed()) == ("close", True)


def everything(connection: Connection) -> tuple[bytes, bytes]:
    """The head and the rest of what the server sends until it closes the connection."""
    head, _, rest = connection._file.read().partition(b"\r\n\r\n")
    return head.lower(), rest


def test_a_body_of_unknown_length_is_sent_in_chunks(connection: Connection) -> None:
    connection.send(get("/unknown-length") + get("/close"))
    head, rest = everything(connection)
    assert b"transfer-encoding: chunked" in head and b"content-length" not in head
    assert rest.startswith(b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_an_empty_body_of_unknown_length_is_a_last_chunk(connection: Connection) -> None:
    connection.send(get("/unknown-length-nothing") + get("/close"))
    assert everything(connection)[1].startswith(b"0\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_http_1_0_gets_no_chunks_and_the_connection_ends_with_the_body(
    connection: Connection,
) -> None:
    connection.send(get("/unknown-length", version="1.0"))
    head, rest = everything(connection)
    assert rest == b"{}" and b"transfer-encoding" not in head and b"connection: close" in head


def test_a_head_request_gets_no_chunks(connection: Connection) -> None:
    connection.send(get("/unknown-length", "HEAD") + get("/close"))
    head, rest = everything(connection)
    assert b"transfer-encoding: chunked" in head and rest.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_body_of_unknown_length_that_is_cut_off_has_no_last_chunk(connection: Connection) -> None:
    connection.send(get("/unknown-length-cut-off"))
    assert everything(connection)[1] == b"1\r\n{\r\n"


def test_a_response_has_a_date(connection: Connection) -> None:
    connection.send(get("/"))
    assert connection.reply().headers["date"].endswith(" GMT")


def test_a_connection_without_a_request_is_closed_in_time(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.send(get("/"))
    assert connection.reply().status == 200
    monkeypatch.setattr(http_protocol, "KEEP_ALIVE_S", 0.0)
    connection.socket.settimeout(5)
    assert connection.is_closed()


class Recorder:
    """A connection that records each call that writes."""

    def __init__(self) -> None:
        self.transport = self.flow = self
        self.date: list[Header] = []
        self.write_paused = False
        self.calls: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def writelines(self, parts: tuple[bytes, ...]) -> None:
        self.calls.append(b"".join(parts))

    def end_exchange(self, exchange: Exchange) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def test_head_and_body_are_one_write() -> None:
    recorder = Recorder()
    exchange = Exchange(recorder, {"method": "GET"}, keep_alive=True)  # type: ignore[arg-type]

    async def respond() -> None:
        await exchange.send(start(TWO))
        await exchange.send(body(b"{}"))

    asyncio.run(respond())
    assert recorder.calls == [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"]


def test_the_application_learns_whether_it_has_waited_for_the_body() -> None:
    exchange = Exchange(Recorder(), {}, keep_alive=True)  # type: ignore[arg-type]

    async def receive_two() -> list[Message]:
        exchange.add(b"there ")
        first = await exchange.receive()
        asyncio.get_running_loop().call_soon(exchange.add, b"later")
        return [first, await exchange.receive()]

    first, second = asyncio.run(receive_two())
    assert (first["body"], first["has_waited"]) == (b"there ", False)
    assert (second["body"], second["has_waited"]) == (b"later", True)
