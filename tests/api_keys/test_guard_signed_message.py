"""A client that sends what it has signed is shown the first difference in the refusal."""

import base64
import hmac
import logging
from typing import Any

import httpx
import pytest

from sealdesk.crypto.signing import Signed, Verifier, message
from tests.support.client import Headers, Key, send
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
UPLOAD = "/api/v1/external/attachments?name=a.txt"
BODY = b'{"subject":"S","description":"D","customer":{"email":"a@example.test"}}'
WRONG = "0" * 64


def now(key: Key) -> bytes:
    return str(key.service.clock.now_us() // 1_000_000).encode()


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


def headers_of(key: Key, text: bytes, secret: str | bytes = "") -> Headers:
    """The headers of a client that signed this text, with another secret than that of its key."""
    hmac_key = secret if isinstance(secret, bytes) else (secret or key.api_secret).encode()
    return {
        "x-api-key": key.api_key,
        "x-api-timestamp": now(key).decode(),
        "x-api-signature": hmac.new(hmac_key, text, "sha256").hexdigest(),
        "x-api-signed-message": encoded(text),
    }


def ask(
    key: Key, text: bytes, secret: str | bytes = "", *, body: bytes = BODY, target: str = TICKETS
) -> httpx.Response:
    headers = {"content-type": "application/json", **headers_of(key, text, secret)}
    return send(key.service, "POST", target, body, headers)


def refused(response: httpx.Response) -> Any:
    assert response.status_code == 401, response.text
    return response.json()


def right_message(key: Key, body: bytes = BODY, target: str = TICKETS) -> bytes:
    return message(Signed(now(key), b"POST", target.encode(), body))


@pytest.mark.parametrize(
    ("signed", "sent", "name", "part"),
    [
        (b"POST", b"PUT", "method_differs", "method"),
        (b"/api/v1/", b"/proxied/v1/", "target_differs", "request_target"),
        (TICKETS.encode(), b"/", "target_differs", "request_target"),
    ],
)
def test_the_part_that_differs_is_shown(
    key: Key, signed: bytes, sent: bytes, name: str, part: str
) -> None:
    problem = refused(ask(key, right_message(key).replace(signed, sent)))
    assert problem["diagnosis"] == name
    difference = problem["difference"]
    assert difference["part"] == part
    assert difference["received"] == problem["received"][part]
    assert sent.decode() in difference["signed"]


def test_another_body_is_shown_by_its_hash(key: Key) -> None:
    problem = refused(ask(key, right_message(key, b'{"subject":"Other"}')))
    assert problem["diagnosis"] == "body_differs"
    assert problem["difference"]["received"] == problem["received"]["body_sha256"]


def test_a_timestamp_in_milliseconds_that_nobody_can_guess_is_shown(key: Key) -> None:
    at = now(key)
    problem = refused(ask(key, right_message(key).replace(at, at + b"123", 1)))
    assert problem["diagnosis"] == "timestamp_differs"
    assert problem["difference"]["signed"] == (at + b"123").decode()


def test_a_body_that_is_too_large_to_be_searched_is_compared(key: Key) -> None:
    large = b" " * (64 * 1024 + 1)
    problem = refused(ask(key, right_message(key), body=large))
    assert problem["diagnosis"] == "body_differs"


def test_a_file_is_compared_too(key: Key) -> None:
    text = right_message(key, b"another file", UPLOAD)
    headers = {"content-type": "text/plain", **headers_of(key, text)}
    problem = refused(send(key.service, "POST", UPLOAD, b"a file", headers))
    assert problem["difference"]["part"] == "body_sha256"
    assert problem["diagnosis"] == "body_differs"


def test_another_secret_or_algorithm_is_told_from_another_message(key: Key, tenant: Tenant) -> None:
    def diagnosis(secret: str | bytes) -> object:
        problem = refused(ask(key, right_message(key) + b"more", secret))
        assert "difference" not in problem
        return problem["diagnosis"]

    assert diagnosis("1" * 64) == "secret_or_algorithm_differs"
    assert diagnosis(bytes.fromhex(key.api_secret)) == "secret_hex_decoded"
    assert diagnosis(tenant.key().api_secret) == "secret_of_another_key"
    assert diagnosis(key.service.tenant().key().api_secret) == "secret_or_algorithm_differs"


def test_a_rotation_is_named_where_an_old_secret_may_be_in_use(key: Key, tenant: Tenant) -> None:
    def details() -> list[str]:
        sent = headers_of(key, right_message(key), WRONG) | {"content-type": "application/json"}
        without = {name: sent[name] for name in sent if name != "x-api-signed-message"}
        answers = (send(key.service, "POST", TICKETS, BODY, each) for each in (sent, without))
        return [refused(each)["detail"] for each in answers]

    assert not any("was rotated" in each for each in details())
    key.service.settings.data_dir.mkdir(exist_ok=True)
    tenant.admin().post(f"/api/v1/api-keys/{key.id}/rotate")
    assert all("was rotated at 20" in each for each in details())


def test_an_old_message_does_not_tell_whether_its_secret_is_in_use(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what is answered, and by the time that comparisons take."""
    compared: list[bytes] = []
    has_signed = Verifier.has_signed

    def count(verifier: Verifier, text: bytes, signature: bytes) -> bool:
        compared.append(text)
        return has_signed(verifier, text, signature)

    monkeypatch.setattr(Verifier, "has_signed", count)
    old = b"1700000000POST" + TICKETS.encode() + b"ab" * 32
    live = refused(ask(key, old))
    of_live = len(compared)
    dead = refused(ask(key, old, "1" * 64))
    assert len(compared) == 2 * of_live > 20  # as many as secrets of others are tried
    assert live["diagnosis"] == dead["diagnosis"] == "signed_message_old"
    assert "difference" not in live
    live["received"]["timestamp"] = dead["received"]["timestamp"]
    changing = ("request_id",)
    assert {k: v for k, v in live.items() if k not in changing} == {
        k: v for k, v in dead.items() if k not in changing
    }


def test_who_follows_the_advice_is_accepted_in_the_end(key: Key) -> None:
    at = now(key)
    wrong = right_message(key).replace(at, at + b"123", 1)
    headers = headers_of(key, wrong) | {"content-type": "application/json"}
    del headers["x-api-signed-message"]
    problem = refused(send(key.service, "POST", TICKETS, BODY, headers))
    assert problem["diagnosis"] == "unknown" and "x-api-signed-message" in problem["detail"]
    headers["x-api-signed-message"] = encoded(wrong)
    difference = refused(send(key.service, "POST", TICKETS, BODY, headers))["difference"]
    mended = wrong.replace(difference["signed"].encode(), difference["received"].encode())
    mended_headers = headers_of(key, mended) | {"x-api-timestamp": difference["received"]}
    sent = headers | mended_headers
    assert send(key.service, "POST", TICKETS, BODY, sent).status_code == 201


@pytest.mark.parametrize("sent", ["", "not base64", encoded(bytes(4097)), "ä"])
def test_a_message_that_cannot_be_read_is_named(key: Key, sent: str) -> None:
    headers = headers_of(key, b"any") | {"x-api-signed-message": sent}
    problem = refused(send(key.service, "GET", TICKETS, b"", headers))
    assert problem["diagnosis"] == "signed_message_malformed"


def test_a_known_mistake_is_named_even_if_the_message_cannot_be_read(key: Key) -> None:
    signed = key.signature_headers("get", TICKETS) | {"x-api-signed-message": "not base64"}
    problem = refused(send(key.service, "GET", TICKETS, b"", signed))
    assert problem["diagnosis"] == "method_lowercase"


@pytest.mark.parametrize("sent", ["not base64", encoded(b"of another request"), ""])
def test_with_a_right_signature_it_is_ignored(key: Key, sent: str) -> None:
    assert key.get(TICKETS, x_api_signed_message=sent).status_code == 200


def test_head_has_the_diagnosis_in_a_header(key: Key) -> None:
    signed = key.signature_headers("GET", TICKETS)
    response = send(key.service, "HEAD", TICKETS, b"", signed)
    assert (response.status_code, response.text) == (401, "")
    assert response.headers["x-api-diagnosis"] == "method_differs"


def test_the_message_is_neither_stored_nor_logged(
    key: Key, tenant: Tenant, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    canary = b"canary-of-a-message"
    with caplog.at_level(logging.DEBUG):
        refused(ask(key, right_message(key).replace(b"tickets", canary)))
    text = encoded(right_message(key).replace(b"tickets", canary))
    assert tenant.admin().get(f"/api/v1/api-keys/{key.id}/refusals").json()["data"]
    stored = service.bytes_at_rest()
    assert canary not in stored and text.encode() not in stored
    assert canary.decode() not in caplog.text and text not in caplog.text
