"""The load: connections that each send a request as soon as they have their answer.

One thread on raw sockets with epoll and no HTTP library, so that the server is the bottleneck;
its share of a core, which every round notes, shows that it is.
"""

import gc
import select
import socket
import time
from collections.abc import Iterator, Sequence

import msgspec

_RECEIVE_BYTES = 64 * 1024
_LENGTH = b"content-length: "
_TIMEOUT_S = 30.0
_SHOWN_BYTES = 2000
_PACED_LINES = 16


class Expected(msgspec.Struct, frozen=True):
    """What every answer must be: its status, and how often a text stands in its body."""

    status: int
    text: bytes = b""
    times: int = 0


class WrongAnswer(Exception):
    """The server answered something else; the run is worth nothing."""


class Load(msgspec.Struct, frozen=True):
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


def drive(
    port: int | Sequence[int], requests: Sequence[bytes], expected: Expected, connections: int
) -> Load:
    """Send all requests, each once. Raises WrongAnswer.

    port: one, or several over which the connections are spread evenly.
    """
    ports = (port,) if isinstance(port, int) else port
    lines = [
        _Line(ports[number % len(ports)], expected)
        for number in range(min(connections, len(requests)))
    ]
    gc.collect()
    gc.disable()
    try:
        return _driven(lines, iter(requests), len(requests))
    finally:
        gc.enable()
        for line in lines:
            line.sock.close()


class Answer(msgspec.Struct, frozen=True):
    """An answer. at_ns: of the monotonic clock, when it had been read."""

    at_ns: int
    body: bytes


def pace(
    port: int, requests: Sequence[bytes], expected: Expected, per_second: float
) -> list[Answer]:
    """Send so many a second, whether or not those before are answered. Raises WrongAnswer."""
    idle = [_Line(port, expected) for _ in range(_PACED_LINES)]
    by_fd = {line.sock.fileno(): line for line in idle}
    poll = select.epoll()
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    answers: list[Answer] = []
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
            raise WrongAnswer(f"no answer within {_TIMEOUT_S:g} s")
        for line in [by_fd[fd] for fd, _ in ready]:
            if line.is_answered():
                answers.append(Answer(time.monotonic_ns(), line.body))
                idle.append(line)
    for line in by_fd.values():
        line.sock.close()
    return answers


def _driven(lines: Sequence["_Line"], requests: Iterator[bytes], count: int) -> Load:
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
            raise WrongAnswer(f"no answer within {_TIMEOUT_S:g} s")
        for fd, _ in ready:
            line = by_fd[fd]
            if line.is_answered():
                taken_ns.append(time.perf_counter_ns() - line.sent_at)
                request = next(requests, None)
                if request is not None:
                    line.send(request)
    elapsed_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    return Load(elapsed_s, [ns / 1000 for ns in sorted(taken_ns)], cpu_s, line.body)


class _Line:
    """One connection: when its request left, and what has come back so far."""

    def __init__(self, port: int, expected: Expected) -> None:
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
        """Take in what has arrived; whether the answer is whole. Raises WrongAnswer."""
        answer = self._part + self.sock.recv(_RECEIVE_BYTES)
        if len(answer) == len(self._part):
            raise WrongAnswer("the server closed a connection")
        head, _, body = answer.partition(b"\r\n\r\n")
        length_at = head.find(_LENGTH)
        if length_at < 0 or len(body) < int(head[length_at + len(_LENGTH) :].split(b"\r", 1)[0]):
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
            raise WrongAnswer((head + b"\n" + body)[:_SHOWN_BYTES].decode("utf-8", "replace"))
