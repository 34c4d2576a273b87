"""Hostile receivers cost little memory and time, and do not delay other requests."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from sealdesk.http_client import RequestFailed, client
from sealdesk.http_client.connection import MAX_BODY_BYTES
from tests.http_client.conftest import ClientRunner
from tests.http_client.hostile import HOSTILE_RESPONSES, LAST_S, respond_with
from tests.http_client.receivers import OK, receiver, respond, respond_once


@pytest.mark.parametrize("name", HOSTILE_RESPONSES)
def test_a_hostile_response_is_limited(
    runner: ClientRunner, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TOTAL_S", 0.5 if HOSTILE_RESPONSES[name] == "timeout" else 15.0)
    with receiver(respond_with(name)) as port:
        outcome: int | str
        try:
            response = runner.post(f"http://127.0.0.1:{port}/")
        except RequestFailed as error:
            outcome = error.cause
        else:
            outcome = response.status
            assert len(response.body) <= MAX_BODY_BYTES
    assert outcome == HOSTILE_RESPONSES[name]


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
def test_a_response_is_read_in_any_fragments(
    runner: ClientRunner, answer: bytes, status: int, body: bytes
) -> None:
    for parts in ([answer], [answer[:1], answer[1:30], answer[30:]]):
        with receiver(respond_once(*parts)) as port:
            response = runner.post(f"http://127.0.0.1:{port}/")
        assert (response.status, response.body) == (status, body)


def test_hostile_receivers_cost_little_memory_and_delay_no_other_request() -> None:
    with ExitStack() as stack:
        good = stack.enter_context(receiver(respond(OK)))
        hostile = [stack.enter_context(receiver(respond_with(name))) for name in HOSTILE_RESPONSES]
        urls = [f"http://127.0.0.1:{port}/" for port in (good, *hostile)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.http_client.memory_growth", *urls],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["grown_kib"] <= 20 * 1024, result
    assert result["slowest_s"] < LAST_S / 2, result
