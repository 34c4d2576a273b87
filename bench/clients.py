"""The load: connections that each send a request as soon as they have their answer.

One thread on raw sockets with epoll and no HTTP library, so that the server is the bottleneck;
its share of a core, which every round notes, shows that it is.
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
_TIMEOUT_S = 30.0
# What browsers fetch by themselves: the tag, and the attribute that names it.
_LINK_ATTRIBUTES = {"link": "href", "script": "src", "img": "src"}

RequestMaker = Callable[[int], list[bytes]]


class ExpectedResponse(msgspec.Struct, frozen=True):
    """What every answer must be: its status, and how often a text stands in its body."""

    status: int
    text: bytes = b""
    times: int = 0


class WrongResponse(Exception):
    """The server answered something else; the run is worth nothing."""


class LoadResult(msgspec.Struct, frozen=True):
    """What came of sending some requests. latencies_us: sorted. body: of the last answer."""

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
    """Of sorted values."""
    return values[int(share * (len(values) - 1))]


def send_all(
    port: int | Sequence[int],
    requests: Sequence[bytes],
    expected: ExpectedResponse,
    connections: int,
) -> LoadResult:
    """Send all requests, each once. Raises WrongResponse.

    port: one, or several over which the connections are spread evenly.
    """
    ports = (port,) if isinstance(port, int) else port
    lines = [
        _Connection(ports[number % len(ports)], expected)
        for number in range(min(connections, len(requests)))
    ]
    gc.collect()
    gc.disable()
    try:
        return _send_on(lines, iter(requests), len(requests))
    finally:
        gc.enable()
        for line in lines:
            line.sock.close()


class TimedResponse(msgspec.Struct, frozen=True):
    """An answer. at_ns: of the monotonic clock, when it had been read."""

    at_ns: int
    body: bytes


def send_paced(
    port: int, requests: Sequence[bytes], expected: ExpectedResponse, per_second: float
) -> list[TimedResponse]:
    """Send so many a second, whether or not those before are answered. Raises WrongResponse."""
    idle = [_Connection(port, expected) for _ in range(_PACED_CONNECTIONS)]
    by_fd = {line.sock.fileno(): line for line in idle}
    poll = select.epoll()
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    answers: list[TimedResponse] = []
    started, sent = time.monotonic(), 0
    while len(answers) < len(requests):
        early_s = started + sent / per_second - time.monotonic()
        may_send = bool(idle) and sent < len(requests)
        if may_send and early_s <= 0:
            idle.pop().send(requests[sent])
            sent += 1
            continue
        ready = poll.poll(early_s if may_send else _TIMEOUT_S)
        if not ready and not may_send:
            raise WrongResponse(f"no answer within {_TIMEOUT_S:g} s")
        for line in [by_fd[fd] for fd, _ in ready]:
            if line.is_answered():
                answers.append(TimedResponse(time.monotonic_ns(), line.body))
                idle.append(line)
    for line in by_fd.values():
        line.sock.close()
    return answers


def _send_on(lines: Sequence["_Connection"], requests: Iterator[bytes], count: int) -> LoadResult:
    poll = select.epoll()
    by_fd = {line.sock.fileno(): line for line in lines}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    taken_ns: list[int] = []
    cpu, started = time.process_time(), time.perf_counter()
    for line in lines:
        line.send(next(requests))
    while len(taken_ns) < count:
        ready = poll.poll(_TIMEOUT_S)
        if not ready:
            raise WrongResponse(f"no answer within {_TIMEOUT_S:g} s")
        for fd, _ in ready:
            line = by_fd[fd]
            if line.is_answered():
                taken_ns.append(time.perf_counter_ns() - line.sent_at)
                request = next(requests, None)
                if request is not None:
                    line.send(request)
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    return LoadResult(elapsed_s, [ns / 1000 for ns in sorted(taken_ns)], cpu_s, line.body)


class _Connection:
    """One connection: when its request left, and what has come back so far."""

    def __init__(self, port: int, expected: ExpectedResponse) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0
        self.body = b""
        self._expected = expected
        self._status = b"HTTP/1.1 %d " % expected.status
        self._part = b""

    def send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter_ns()
        self.sock.sendall(request)

    def is_answered(self) -> bool:
        """Take in what has arrived; whether the answer is whole. Raises WrongResponse."""
        answer = self._part + self.sock.recv(_RECEIVE_BYTES)
        if len(answer) == len(self._part):
            raise WrongResponse("the server closed a connection")
        head, _, body = answer.partition(b"\r\n\r\n")
        length_at = head.find(_CONTENT_LENGTH)
        if length_at < 0 or len(body) < int(
            head[length_at + len(_CONTENT_LENGTH) :].split(b"\r", 1)[0]
        ):
            self._part = answer
            return False
        self._check(head, body)
        self._part, self.body = b"", body
        return True

    def _check(self, head: bytes, body: bytes) -> None:
        expected = self._expected
        is_right = head.startswith(self._status) and (
            not expected.text or body.count(expected.text) == expected.times
        )
        if not is_right:
            raise WrongResponse((head + b"\n" + body)[:_QUOTED_BYTES].decode("utf-8", "replace"))


class PageLoad(NamedTuple):
    """What a page brought. size: of all heads and bodies, in bytes. foreign: other sites named.

    text: the page itself. kept: what a browser asks for no more.
    """

    requests: int
    size: int
    foreign: set[str]
    text: str
    kept: set[str]


class Browser:
    """Holds the cookie of a log-in."""

    def __init__(self, port: int, email: str, password: str) -> None:
        """Log in. Raises WrongResponse."""
        self._port = port
        self._cookie = ""
        form = urlencode({"email": email, "password": password}).encode()
        status, head, _ = self._ask("POST", "/log-in", form)
        self._cookie = (head["set-cookie"] or "").partition(";")[0]
        if status != 303 or not self._cookie:
            raise WrongResponse(f"the log-in was answered with {status}")

    def gets(self, *targets: str) -> RequestMaker:
        """Makes requests for pages in turn."""
        head = [f"{name}: {value}" for name, value in self._headers.items()]
        requests = [
            "\r\n".join([f"GET {target} HTTP/1.1", *head, "", ""]).encode() for target in targets
        ]
        return lambda count: [requests[n % len(requests)] for n in range(count)]

    def read(self, target: str) -> str:
        """A page. Raises WrongResponse."""
        status, _, body = self._ask("GET", target)
        if status != 200:
            raise WrongResponse(f"{target} was answered with {status}")
        return body.decode()

    def load(self, target: str, kept: Set[str] = frozenset()) -> PageLoad:
        """A page and everything that its HTML names but for what was kept. Raises WrongResponse."""
        status, head, body = self._ask("GET", target)
        text, size, lasting = body.decode(), len(head.as_bytes()) + len(body), set(kept)
        named = {urljoin(target, name) for name in _find_linked_files(text)}
        foreign = {name for name in named if urlsplit(name).netloc}
        for name in named - foreign - kept:
            found, head, body = self._ask("GET", name)
            status, size = max(status, found), size + len(head.as_bytes()) + len(body)
            if "immutable" in (head["cache-control"] or ""):
                lasting.add(name)
        if status != 200:
            raise WrongResponse(f"{target}, or what it names, was answered with {status}")
        return PageLoad(1 + len(named - kept), size, foreign, text, lasting)

    @property
    def _headers(self) -> Mapping[str, str]:
        accepted = {"accept": "text/html", "accept-encoding": "gzip", "accept-language": "en"}
        return {"host": f"127.0.0.1:{self._port}", "cookie": self._cookie, **accepted}

    def _ask(
        self, method: str, target: str, form: bytes | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        typed = {"content-type": "application/x-www-form-urlencoded"} if form else {}
        try:
            connection.request(method, target, form, {**self._headers, **typed})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def _find_linked_files(page: str) -> set[str]:
    found = _LinkParser()
    found.feed(page)
    return found.names


class _LinkParser(HTMLParser):
    """Collects what a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get(_LINK_ATTRIBUTES.get(tag, ""))
        if name:
            self.names.add(name)
