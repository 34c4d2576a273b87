"""Every attempt is signed as it is sent, and no two sends have one signature."""

import threading
from collections.abc import Callable

import httpx
import pytest

from sealdesk.client import Desk, RetryPolicy, SignatureAuth
from sealdesk.client.error_codes import InvalidSignature
from sealdesk.client.signing import Signer
from tests import vectors
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Tenant
from tests.vectors import Vector

TICKETS = "/api/v1/external/tickets"


@for_each("vector", vectors.VALID, ids=lambda vector: vector.name)
def test_every_vector_is_signed_alike(vector: Vector) -> None:
    sent: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    http = httpx.Client(transport=httpx.MockTransport(respond))
    now = float(vectors.TIMESTAMP)
    with Desk(
        vectors.API_KEY, vectors.API_SECRET, "https://sealdesk.test", http=http, now=lambda: now
    ) as desk:
        desk.request(vector.method, vector.target, vector.body)
    assert sent[0].headers["x-api-signature"] == vector.signature


def test_equal_requests_have_different_signatures_and_timestamps_near_the_clock() -> None:
    signer = Signer(vectors.API_KEY, vectors.API_SECRET, now=lambda: 1_767_225_600.0)
    signed = [signer.sign("POST", b"/x", b"{}") for _ in range(240)]
    assert len({each["x-api-signature"] for each in signed if each}) == 240
    assert max(int(each["x-api-timestamp"]) for each in signed if each) == 1_767_225_600 + 239
    assert signer.sign("POST", b"/x", b"{}") is None  # wait: the next one would be too far ahead
    other = signer.sign("POST", b"/x", b"{ }")
    assert other
    assert other["x-api-timestamp"] == "1767225600"


def test_reads_go_on_when_every_timestamp_is_used() -> None:
    signer = Signer(vectors.API_KEY, vectors.API_SECRET, now=lambda: 1_767_225_600.0)
    assert all(signer.sign("GET", b"/x", b"") for _ in range(500))


def test_threads_never_get_one_signature_twice() -> None:
    signer = Signer(vectors.API_KEY, vectors.API_SECRET)
    found: list[str] = []

    def work() -> None:
        for _ in range(50):
            signed = signer.sign("POST", b"/x", b"")
            assert signed
            found.append(signed["x-api-signature"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 200


def test_memory_of_signatures_is_bounded_by_time() -> None:
    now = [1_767_225_600.0]
    signer = Signer(vectors.API_KEY, vectors.API_SECRET, now=lambda: now[0])
    for number in range(2_000):
        now[0] += 1
        signer.sign("GET", b"/%d" % number, b"")
    assert len(signer._last) <= 602


def test_replay_protection_accepts_equal_writes(
    tenant: Tenant, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(tenant.key(replay_protection="writes"))
    body = b'{"subject":"S","description":"D","customer":{"email":"a@example.test"}}'
    ids = [desk.request("POST", TICKETS, body).json()["data"]["id"] for _ in range(3)]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_off_by_an_hour_is_corrected_once(
    hours: int, key: Key, make_desk: Callable[..., Desk], caplog: pytest.LogCaptureFixture
) -> None:
    wrong = key.service.clock.now_us() / 1e6 + 3600 * hours
    desk = make_desk(key, now=lambda: wrong, retry=RetryPolicy(retries=0))
    assert abs(desk.whoami().skew_s) <= 1
    assert [record.message for record in caplog.records if "clock" in record.message]
    caplog.clear()
    assert desk.whoami().key_id == key.id
    assert not [record for record in caplog.records if "clock" in record.message]


@pytest.mark.parametrize("off_s", [-86_401, 86_401, 10**9, -(10**9), 10**30])
def test_a_time_that_is_over_a_day_away_is_not_signed(off_s: int) -> None:
    auth = SignatureAuth(vectors.API_KEY, vectors.API_SECRET, now=lambda: 1_767_225_600.0)
    refusal = '{"code":"timestamp_out_of_range","server_time":%d}'

    def may_sign_again(server_time: int) -> bool:
        request = httpx.Request("GET", "http://desk.example.test/")
        return auth.may_sign_again(request, (refusal % server_time).encode())

    assert not may_sign_again(1_767_225_600 + off_s)
    assert auth.signer.offset_s == 0
    assert may_sign_again(1_767_225_600 + 86_400)
    assert auth.signer.offset_s == 86_400


def test_the_auth_signs_for_any_client_of_httpx(key: Key) -> None:
    auth = SignatureAuth(key.api_key, key.api_secret)
    with httpx.Client(base_url=key.service.url, auth=auth, timeout=60) as http:
        assert http.get(TICKETS, params={"tag": "a b/ü?", "status": "open"}).status_code == 200
        assert http.get(f"{TICKETS}?").status_code == 200
        body = {"email": "ü@example.test", "name": "Ü"}
        assert http.post("/api/v1/external/customers", json=body).status_code == 201


class _Proxy(httpx.HTTPTransport):
    """Changes the path of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.messages.append(request.headers.get("x-api-signed-message"))
        url = request.url.copy_with(path="/api/v1/external/agents")
        return super().handle_request(
            httpx.Request(request.method, url, headers=request.headers, stream=request.stream)
        )


def test_a_refused_signature_is_sent_once_more_with_what_was_signed(
    key: Key, make_desk: Callable[..., Desk]
) -> None:
    proxy = _Proxy()
    with httpx.Client(transport=proxy) as http, pytest.raises(InvalidSignature) as refused:
        make_desk(key, http=http).whoami()
    assert refused.value.diagnosis == "target_differs"
    assert refused.value.members["difference"] == {
        "part": "request_target",
        "signed": "/api/v1/external/whoami",
        "received": "/api/v1/external/agents",
    }
    assert [message is None for message in proxy.messages] == [True, False]


def test_what_was_signed_is_not_sent_where_that_is_off(
    key: Key, make_desk: Callable[..., Desk]
) -> None:
    proxy = _Proxy()
    with httpx.Client(transport=proxy) as http, pytest.raises(InvalidSignature):
        make_desk(key, http=http, shows_signed_message=False).whoami()
    assert proxy.messages == [None]


def test_what_was_signed_is_sent_up_to_4_kib() -> None:
    signer = Signer(vectors.API_KEY, vectors.API_SECRET)
    is_shown = [
        "x-api-signed-message" in (signer.sign("GET", target, b"", shows_message=True) or {})
        for target in (b"/" + b"a" * 4018, b"/" + b"a" * 4019)
    ]
    assert is_shown == [True, False]


def test_the_auth_explains_a_refusal_for_any_client_of_httpx(key: Key) -> None:
    auth = SignatureAuth(key.api_key, key.api_secret)
    with httpx.Client(base_url=key.service.url, auth=auth, transport=_Proxy()) as http:
        assert http.get("/api/v1/external/whoami").json()["diagnosis"] == "target_differs"


def test_no_secret_is_in_any_text_form(desk: Desk, key: Key) -> None:
    assert key.api_secret not in f"{desk!r} {desk._session!r} {desk._session.auth!r}"
    assert key.api_key not in repr(desk)
