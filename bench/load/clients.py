"""The clients: connections that send the load, and a browser for the pages.

The load is sent by one thread on raw sockets with epoll and without an HTTP library, so that the
server is the bottleneck. Every round stores the client's share of a core, which shows it.
"""

import gc
import http.client
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

import msgspec

_RECEIVE_BYTES = 64 * 1024
_CONTENT_LENGTH = b"content-length: "
_TIMEOUT_S = 30.0
_QUOTED_BYTES = 2000
_PACED_CONNECTIONS = 16
# The files that browsers fetch without a click: the tag, and the attribute with the URL.
_LINK_ATTRIBUTES = {"link": "href", "script": "src", "img": "src"}

RequestMaker = Callable[[int], list[bytes]]


class ExpectedResponse(msgspec.Struct, frozen=True):
    """The status of every response, and a text that its body contains `times` times."""

    status: int
    text: bytes = b""
    times: int = 0


class WrongResponse(Exception):
    """A response is not the expected one, so the run gives no figures."""


class LoadResult(msgspec.Struct, frozen=True):
    """The result of sending requests. latencies_us: sorted. body: of the last response."""

    elapsed_s: float
    latencies_us: list[float]
    client_cpu_s: float
    body: bytes

    @property
    def per_second(self) -> float:
        return len(self.latencies_us) / self.elapsed_s

    def quantile_us(self, share: float) -> float:
        return quantile(self.latencies_us, share)


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of sorted values."""
    return values[int(share * (len(values) - 1))]


def send_all(
    port: int | Sequence[int],
    requests: Sequence[bytes],
    expected: ExpectedResponse,
    connection_count: int,
) -> LoadResult:
    """Send all requests, each once. Raises WrongResponse.

    port: one port, or several over which the connections are spread evenly.
    """
    ports = (port,) if isinstance(port, int) else port
    connections = [
        _Connection(ports[number % len(ports)], expected)
        for number in range(min(connection_count, len(requests)))
    ]
    gc.collect()
    gc.disable()
    try:
        return _send_on(connections, iter(requests), len(requests))
    finally:
        gc.enable()
        for connection in connections:
            connection.sock.close()


class TimedResponse(msgspec.Struct, frozen=True):
    """A response. at_ns: the monotonic time at which it was read."""

    at_ns: int
    body: bytes


def send_paced(
    port: int, requests: Sequence[bytes], expected: ExpectedResponse, per_second: float
) -> list[TimedResponse]:
    """Send requests at a fixed rate, without waiting for responses. Raises WrongResponse."""
    idle = [_Connection(port, expected) for _ in range(_PACED_CONNECTIONS)]
    by_fd = {connection.sock.fileno(): connection for connection in idle}
    poll = select.epoll()
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    responses: list[TimedResponse] = []
    started, sent = time.monotonic(), 0
    while len(responses) < len(requests):
        early_s = started + sent / per_second - time.monotonic()
        may_send = bool(idle) and sent < len(requests)
        if may_send and early_s <= 0:
            idle.pop().send(requests[sent])
            sent += 1
            continue
        ready = poll.poll(early_s if may_send else _TIMEOUT_S)
        if not ready and not may_send:
            raise WrongResponse(f"no response within {_TIMEOUT_S:g} s")
        for connection in [by_fd[fd] for fd, _ in ready]:
            if connection.read_response():
                responses.append(TimedResponse(time.monotonic_ns(), connection.body))
                idle.append(connection)
    for connection in by_fd.values():
        connection.sock.close()
    return responses


def _send_on(
    connections: Sequence["_Connection"], requests: Iterator[bytes], count: int
) -> LoadResult:
    poll = select.epoll()
    by_fd = {connection.sock.fileno(): connection for connection in connections}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    elapsed_ns: list[int] = []
    cpu, started = time.process_time(), time.perf_counter()
    for connection in connections:
        connection.send(next(requests))
    while len(elapsed_ns) < count:
        ready = poll.poll(_TIMEOUT_S)
        if not ready:
            raise WrongResponse(f"no response within {_TIMEOUT_S:g} s")
        for fd, _ in ready:
            connection = by_fd[fd]
            if connection.read_response():
                elapsed_ns.append(time.perf_counter_ns() - connection.sent_at_ns)
                request = next(requests, None)
                if request is not None:
                    connection.send(request)
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    return LoadResult(elapsed_s, [ns / 1000 for ns in sorted(elapsed_ns)], cpu_s, connection.body)


class _Connection:
    """One connection: the time of its request, and the part of the response received so far."""

    def __init__(self, port: int, expected: ExpectedResponse) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at_ns = 0
        self.body = b""
        self._expected = expected
        self._status = b"HTTP/1.1 %d " % expected.status
        self._received = b""

    def send(self, request: bytes) -> None:
        self.sent_at_ns = time.perf_counter_ns()
        self.sock.sendall(request)

    def read_response(self) -> bool:
        """Read the available bytes; True once the response is complete. Raises WrongResponse."""
        response = self._received + self.sock.recv(_RECEIVE_BYTES)
        if len(response) == len(self._received):
            raise WrongResponse("the server closed a connection")
        head, _, body = response.partition(b"\r\n\r\n")
        length_at = head.lower().find(_CONTENT_LENGTH)
        if length_at < 0 or len(body) < int(
            head[length_at + len(_CONTENT_LENGTH) :].split(b"\r", 1)[0]
        ):
            self._received = response
            return False
        self._check(head, body)
        self._received, self.body = b"", body
        return True

    def _check(self, head: bytes, body: bytes) -> None:
        expected = self._expected
        is_right = head.startswith(self._status) and (
            not expected.text or body.count(expected.text) == expected.times
        )
        if not is_right:
            raise WrongResponse((head + b"\n" + body)[:_QUOTED_BYTES].decode("utf-8", "replace"))


class PageLoad(NamedTuple):
    """A page with all its files. size: of all heads and bodies, in bytes.

    other_sites: URLs of other sites. text: the HTML. cached: files that need no request again.
    """

    requests: int
    size: int
    other_sites: set[str]
    text: str
    cached: set[str]


class Browser:
    """Requests pages with the cookie of a log-in, as a browser does."""

    def __init__(self, port: int, email: str, password: str) -> None:
        """Log in. Raises WrongResponse."""
        self._port = port
        self._cookie = ""
        form = urlencode({"email": email, "password": password}).encode()
        status, head, _ = self._send("POST", "/log-in", form)
        self._cookie = (head["set-cookie"] or "").partition(";")[0]
        if status != 303 or not self._cookie:
            raise WrongResponse(f"the response to the log-in is {status}")

    def make_gets(self, *targets: str) -> RequestMaker:
        """Makes requests for these pages in turn."""
        head = [f"{name}: {value}" for name, value in self._headers.items()]
        requests = [
            "\r\n".join([f"GET {target} HTTP/1.1", *head, "", ""]).encode() for target in targets
        ]
        return lambda count: [requests[n % len(requests)] for n in range(count)]

    def read(self, target: str) -> str:
        """Fetch a page. Raises WrongResponse."""
        status, _, body = self._send("GET", target)
        if status != 200:
            raise WrongResponse(f"the response to {target} is {status}")
        return body.decode()

    def load(self, target: str, cached: Set[str] = frozenset()) -> PageLoad:
        """Fetch a page and the files that it links, without cached ones. Raises WrongResponse."""
        status, head, body = self._send("GET", target)
        text, size, still_cached = body.decode(), len(head.as_bytes()) + len(body), set(cached)
        linked = {urljoin(target, name) for name in _list_linked_files(text)}
        other_sites = {name for name in linked if urlsplit(name).netloc}
        for name in linked - other_sites - cached:
            file_status, head, body = self._send("GET", name)
            status, size = max(status, file_status), size + len(head.as_bytes()) + len(body)
            if "immutable" in (head["cache-control"] or ""):
                still_cached.add(name)
        if status != 200:
            raise WrongResponse(
                f"the response to {target}, or to a file that it links, is {status}"
            )
        return PageLoad(1 + len(linked - cached), size, other_sites, text, still_cached)

    @property
    def _headers(self) -> Mapping[str, str]:
        accepted = {"accept": "text/html", "accept-encoding": "gzip", "accept-language": "en"}
        return {"host": f"127.0.0.1:{self._port}", "cookie": self._cookie, **accepted}

    def _send(
        self, method: str, target: str, form: bytes | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        content_type = {"content-type": "application/x-www-form-urlencoded"} if form else {}
        try:
            connection.request(method, target, form, {**self._headers, **content_type})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()


def _list_linked_files(page: str) -> set[str]:
    parser = _LinkParser()
    parser.feed(page)
    return parser.names


class _LinkParser(HTMLParser):
    """Collects the URLs of files that a browser fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get(_LINK_ATTRIBUTES.get(tag, ""))
        if name:
            self.names.add(name)
