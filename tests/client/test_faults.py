"""What the client does when the network, a proxy or the service fails: a server of faults."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import NamedTuple

import httpx
import pytest

from sealdesk.client import Desk, RetryPolicy, error_codes
from sealdesk.client.attempts import Retry
from sealdesk.client.errors import (
    ApiError,
    ConnectionFailed,
    InvalidConfiguration,
    SealdeskError,
    UnexpectedResponse,
)
from sealdesk.client.responses import find_retry_after_s
from tests import vectors
from tests.servers import free_port

ME = (
    b'{"data":{"key_id":"k","name":"n","tenant":{"id":"t","name":"T"},"new_member":[1],'
    b'"rate_limit":{"limit":1,"remaining":1}}}'
)
TICKET = b'{"data":{"id":"i","subject":"S","status":"asleep","created_at":"","updated_at":""}}'


class Fault(NamedTuple):
    """A response; with status 0 the connection is reset instead."""

    status: int
    body: bytes = b"{}"
    headers: Mapping[str, str] = MappingProxyType({})


def problem(status: int, code: str, members: str = "", **headers: str) -> Fault:
    body = f'{{"code":"{code}","detail":"D","request_id":"r"{members}}}'.encode()
    return Fault(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class Got(NamedTuple):
    """A received request."""

    method: str
    target: str
    headers: dict[str, str]


class Server:
    """Responds with the given faults, one after the other, and then as the service would."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.got: list[Got] = []
        self.url = ""


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.got.append(Got(self.command, self.path, headers))
            success = Fault(200, ME) if self.command == "GET" else Fault(201, TICKET)
            fault = server.faults.pop(0) if server.faults else success
            if fault.status == 0:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(fault.status)
            for name, value in {"content-type": "application/json", **fault.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(fault.body)))
            self.end_headers()
            self.wfile.write(fault.body)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    running.faults.clear()
    running.got.clear()
    return running


@pytest.fixture
def pauses() -> list[float]:
    """The pauses that the desk made."""
    return []


@pytest.fixture
def desk(server: Server, pauses: list[float]) -> Iterator[Desk]:
    with open_desk(server.url, sleep=pauses.append) as desk:
        yield desk


def open_desk(url: str, sleep: Callable[[float], None] = lambda _: None) -> Desk:
    return Desk(vectors.API_KEY, vectors.API_SECRET, url, sleep=sleep)


def create(desk: Desk, idempotency_key: str | None = None) -> None:
    customer = {"email": "a@example.test"}
    desk.tickets.create(
        subject="S",
        description="D",
        customer={"email": customer["email"]},
        idempotency_key=idempotency_key,
    )


def test_calls_wait_for_a_limit_together(server: Server, pauses: list[float]) -> None:
    policy = RetryPolicy(retries=0, base_s=0.0)
    keys = vectors.API_KEY, vectors.API_SECRET
    with Desk(*keys, server.url, retry=policy, sleep=pauses.append) as desk:
        server.faults += [problem(429, "rate_limit_exceeded", retry_after="7")]
        create(desk)
        create(desk)  # as another thread would
    assert len(pauses) == 2 and 0.0 < pauses[1] <= pauses[0] == 7.0


def test_a_call_has_a_timeout_a_deadline_and_tells_of_its_retries(
    server: Server, desk: Desk, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Retry] = []
    caplog.set_level("INFO", logger="sealdesk.client")
    other = desk.with_options(timeout_s=3.0, deadline_s=5.0, on_retry=told.append)
    server.faults += [problem(503, "storage_unavailable", retry_after="1"), Fault(0)]
    create(other)
    assert [(each.method, each.reason) for each in told] == [("POST", "503"), ("POST", "ReadError")]
    assert ["is sent again" in record.message for record in caplog.records] == [True, True]
    server.faults += [problem(503, "storage_unavailable", retry_after="6")]
    with pytest.raises(error_codes.StorageUnavailable):
        create(other)  # six seconds would end behind the deadline
    create(desk)
    with pytest.raises(InvalidConfiguration, match="there is no option 'timeout'"):
        desk.with_options(timeout=3.0)  # type: ignore[call-arg]


def test_a_deadline_holds_while_a_limit_is_used_up(
    server: Server, desk: Desk, pauses: list[float]
) -> None:
    server.faults += [problem(429, "rate_limit_exceeded", retry_after="30")]
    hasty = desk.with_options(deadline_s=5.0)
    with pytest.raises(error_codes.RateLimitExceeded):
        create(hasty)
    server.faults += [problem(429, "rate_limit_exceeded", retry_after="30")]
    with pytest.raises(error_codes.RateLimitExceeded):
        create(hasty)  # The limit is known already, and its wait would end behind the deadline.
    assert pauses == []


def test_signatures_that_other_processes_have_used_are_replaced(server: Server) -> None:
    with open_desk(server.url) as desk:
        server.faults += [problem(401, "signature_replayed")] * 9
        desk.tickets.update("i", if_match='"1.1"', status="open")
        assert len({each.headers["x-api-timestamp"] for each in server.got}) > 5
        server.faults += [problem(401, "signature_replayed")] * 99
        with pytest.raises(error_codes.SignatureReplayed):
            desk.tickets.update("i", status="open")
        assert len(server.got) == 21


def test_a_date_without_the_time_of_the_service_counts_by_the_own_clock() -> None:
    date = formatdate(time.time() + 100, usegmt=True)
    wait_s = find_retry_after_s(httpx.Response(503, headers={"retry-after": date}))
    assert wait_s is not None and 90 < wait_s <= 100


def test_pauses_have_full_jitter_and_an_end() -> None:
    policy = RetryPolicy(retries=3, base_s=1.0, max_pause_s=3.0)
    assert [policy.pause_s(n, None, 1.0) for n in (1, 2, 3, 4)] == [2.0, 3.0, 3.0, None]
    assert policy.pause_s(1, None, 0.0) == 0.0
    assert policy.pause_s(1, 5.0, 0.5) == 6.0
    assert policy.pause_s(1, 3600.0, 0.5) is None  # a long Retry-After is the caller's to wait for


def test_a_refusal_has_what_the_service_has_said(
    server: Server, desk: Desk, pauses: list[float]
) -> None:
    server.faults += [
        problem(429, "rate_limit_exceeded", retry_after="3600"),
        problem(418, "code_of_tomorrow", ',"new":{"a":[1]}'),
    ]
    with pytest.raises(error_codes.RateLimitExceeded) as limited:
        create(desk)
    assert limited.value.retry_after_s == 3600.0
    with pytest.raises(ApiError, match="418 code_of_tomorrow: D") as unknown:
        create(desk)
    assert unknown.value.members["new"] == {"a": [1]}
    assert pauses == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(status: int, server: Server, desk: Desk) -> None:
    with serving() as other:
        server.faults.append(
            Fault(status, b"", {"location": f"{other.url}/api/v1/external/whoami"})
        )
        with pytest.raises(UnexpectedResponse, match=r"redirects to .*Redirects are not followed"):
            desk.whoami()
        assert other.got == []
    assert len(server.got) == 1


def test_unknown_members_and_values_are_survived(server: Server, desk: Desk) -> None:
    assert desk.whoami().key_id == "k"
    assert desk.tickets.update("i", status="asleep").status == "asleep"
    server.faults.append(
        Fault(
            200,
            b'{"data":[{"id":"e","type":"ticket.dreamt","timestamp":"","new":1,"data":{"object":'
            b'{"id":"i"},"changes":{"a":[1,2]},"new":2}}],"meta":{"has_more":false,"new":3}}',
        )
    )
    event = desk.events.page().data[0]
    assert (event.type, event.data.changes) == ("ticket.dreamt", {"a": [1, 2]})


def test_a_feed_goes_on_after_failures(server: Server, desk: Desk, pauses: list[float]) -> None:
    page = b'{"data":[{"id":"%b","type":"t","timestamp":""}],"meta":{"resume_cursor":"c%b"}}'
    server.faults += [Fault(200, page % (b"1", b"1")), *[problem(503, "storage_unavailable")] * 5]
    server.faults += [Fault(200, page % (b"2", b"2"))]
    seen: list[SealdeskError | None] = []
    feed = desk.events.follow(start="oldest", on_failure=lambda error, _: seen.append(error))
    events = iter(feed)
    assert [next(events).id, next(events).id] == ["1", "2"]
    assert feed.cursor == "c1"
    assert [error is None for error in seen] == [False, True]
    server.faults += [problem(410, "cursor_expired")]
    with pytest.raises(error_codes.CursorExpired):
        next(events)


HTML = b"<html><head><title>Welcome to Hotel\n Wi-Fi</title></head><body>Log in</body></html>"
SENT = '"received":{"method":"GET","request_target":"%s","body_sha256":"%s"}'
NO_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
TARGET = "/api/v1/external/whoami"
RESPONSES = {
    "a captive portal": (
        Fault(200, HTML, {"content-type": "text/html"}),
        "did not respond as Sealdesk does: status 200 with text/html, titled 'Welcome to Hotel"
        " Wi-Fi'.*a network that asks to log in",
    ),
    "a portal that asks": (
        Fault(511, HTML, {"content-type": "text/html"}),
        "status 511 with text/html",
    ),
    "another service": (Fault(404, b"not found", {"content-type": "text/plain"}), "Check the URL"),
    "JSON of another service": (Fault(200, b'{"ok":true}'), "did not respond as Sealdesk"),
    "a proxy that changed the path": (
        problem(401, "invalid_signature", "," + SENT % ("/whoami", NO_BODY)),
        "A proxy changes requests on their way: request_target was sent as"
        f" '{TARGET}', and arrived as '/whoami'.*doctor --public-url",
    ),
    "another secret": (
        problem(401, "invalid_signature", "," + SENT % (TARGET, NO_BODY)),
        "probably not the secret of this key",
    ),
    "a known mistake": (
        problem(401, "invalid_signature", ',"diagnosis":"full_url_signed"'),
        r"Diagnosis: full_url_signed\..*\(request r\)",
    ),
    "a clock that cannot be corrected": (
        problem(401, "timestamp_out_of_range"),
        "The clock of this machine is wrong: set it",
    ),
    "control characters": (
        problem(422, "x", r',"errors":[{"pointer":"\u009b[2J","message":"\n\u202e"}]'),
        r"^422 x: D \\x9b\[2J: \\n\\u202e \(request r\)$",
    ),
    "control characters of a redirect": (
        Fault(302, headers={"location": "/\x9b2J"}),
        r"redirects to '/\\x9b2J'",
    ),
}


@pytest.mark.parametrize(("fault", "words"), RESPONSES.values(), ids=RESPONSES)
def test_a_wrong_response_says_what_to_do(
    fault: Fault, words: str, server: Server, desk: Desk
) -> None:
    server.faults += [fault] * 9
    with pytest.raises(SealdeskError, match=words):
        desk.whoami()


KEY, SECRET = vectors.API_KEY, vectors.API_SECRET
URL = "https://desk.example.test"
SETTINGS = {
    "secret with a space": (KEY, f"{SECRET} ", URL, "api_secret has a space or line break"),
    "secret with a line break": (KEY, f"{SECRET}\n", URL, "api_secret has a space or line break"),
    "quoted secret": (KEY, f'"{SECRET}"', URL, "api_secret is in quotes"),
    "secret cut off": (KEY, SECRET[:-1], URL, "api_secret has 63 characters instead of 64"),
    "upper-case secret": (KEY, SECRET.upper(), URL, "api_secret is in upper case"),
    "key as the secret": (KEY, KEY, URL, "api_secret holds the API key"),
    "secret of a webhook": (KEY, "whsec_abc", URL, "api_secret holds the secret of a webhook"),
    "no secret": (KEY, "", URL, "api_secret is not set"),
    "secret as the key": (SECRET, SECRET, URL, "api_key holds the secret; the two are swapped"),
    "prefix of the key": (KEY[:16], SECRET, URL, "only the visible part"),
    "key with a mark": (f"\ufeff{KEY}", SECRET, URL, "api_key has a space or line break"),
    "key with a space": (f" {KEY}", SECRET, URL, "api_key has a space or line break"),
    "URL without scheme": (KEY, SECRET, "desk.example.test", "base_url must be a URL such as"),
    "URL of the API": (KEY, SECRET, f"{URL}/api/v1/", f"use {URL}"),
    "URL with a user": (KEY, SECRET, "https://me:pw@desk.test", "must have no user name"),
    "URL with a space": (KEY, SECRET, f"{URL} ", "must be a URL such as"),
}


@pytest.mark.parametrize(("key", "secret", "url", "words"), SETTINGS.values(), ids=SETTINGS)
def test_a_wrong_setting_is_named_before_anything_is_sent(
    key: str, secret: str, url: str, words: str
) -> None:
    with pytest.raises(InvalidConfiguration, match=words) as error:
        Desk(key, secret, url)
    assert SECRET not in str(error.value)
    assert "pw" not in str(error.value)


def test_a_service_that_is_not_there_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with open_desk(url) as desk, pytest.raises(ConnectionFailed, match=f"no response from {url}: "):
        desk.whoami()
    with (
        open_desk(url.replace("127.0.0.1", "nowhere.invalid")) as desk,
        pytest.raises(ConnectionFailed, match="is the URL right"),
    ):
        desk.whoami()


@pytest.mark.parametrize(
    "fault",
    [
        problem(401, "timestamp_out_of_range", ',"server_time":1e999'),
        problem(
            503,
            "service_unavailable",
            retry_after=f"Mon, 01 Jan {'9' * 30} 00:00:00 GMT",
            date="Mon, 01 Jan 2024 00:00:00 GMT",
        ),
    ],
)
def test_numbers_without_end_are_no_times(fault: Fault, server: Server, desk: Desk) -> None:
    server.faults = [fault] * 5
    with pytest.raises(ApiError) as raised:
        desk.whoami()
    assert raised.value.status == fault.status


def test_what_no_header_and_no_path_can_hold_is_refused_as_a_setting(
    server: Server, desk: Desk
) -> None:
    for call in (
        lambda: create(desk, "\u4e00"),
        lambda: create(desk, "k\r\nx-injected: 1"),
        lambda: desk.tickets.update("i", if_match="\u4e00", subject="S"),
        lambda: desk.tickets.get("\ud800"),
        lambda: desk.request("GET", "/\u4e00"),
        lambda: desk.request("GET", "/a HTTP/1.1\r\nx-injected: 1\r\n\r\n"),
        lambda: desk.request("GET", "@other.example/"),
    ):
        with pytest.raises(InvalidConfiguration):
            call()
    assert server.got == []
