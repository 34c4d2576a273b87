"""Receivers that mean harm cost little memory, little time, and nobody else's deliveries."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from sealdesk.http_client import RequestFailed, client
from sealdesk.http_client.connection import MAX_BODY_BYTES
from tests.http_client.conftest import Sending
from tests.http_client.hostile import HOSTILE, LAST_S, answering_with
from tests.http_client.receivers import OK, answering, once, receiver


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_bounded(
    sending: Sending, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "IN_ALL_S", 0.5 if HOSTILE[name] == "timeout" else 15.0)
    with receiver(answering_with(name)) as port:
        came: int | str
        try:
            answered = sending.post(f"http://127.0.0.1:{port}/")
        except RequestFailed as unsent:
            came = unsent.cause
        else:
            came = answered.status
            assert len(answered.body) <= MAX_BODY_BYTES
    assert came == HOSTILE[name]


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.1 204 None\r\n\r\n", 204, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + b"x" * 65536, 200, b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n" + b"x" * 65537, 200, b"x" * 65536),
        (b"HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\nuntil the end", 410, b"until the end"),
        (b"HTTP/1.0 200 OK\r\n\r\n", 200, b""),
        (b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 202 Ok\r\nContent-Length: 1\r\n\r\nx", 202, b"x"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            200,
            b"abc",
        ),
    ],
)
def test_a_plain_answer_is_read_however_it_is_cut(
    sending: Sending, answer: bytes, status: int, body: bytes
) -> None:
    for parts in ([answer], [answer[:1], answer[1:30], answer[30:]]):
        with receiver(once(*parts)) as port:
            answered = sending.post(f"http://127.0.0.1:{port}/")
        assert (answered.status, answered.body) == (status, body)


def test_hostile_receivers_take_no_memory_and_nobody_elses_time() -> None:
    with ExitStack() as stack:
        good = stack.enter_context(receiver(answering(OK)))
        hostile = [stack.enter_context(receiver(answering_with(name))) for name in HOSTILE]
        urls = [f"http://127.0.0.1:{port}/" for port in (good, *hostile)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.http_client.memory_growth", *urls],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["grown_kib"] <= 20 * 1024, result
    assert result["slowest_s"] < LAST_S / 2, result
