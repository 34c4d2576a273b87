"""Bodies of signed requests: how large, of which type (spec decision 3)."""

import json

import pytest

from tests.support.client import Headers, Key
from tests.support.for_each import for_each
from tests.support.wire import Wire, exchange

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
MIB = 1024 * 1024


def padded(size: int) -> bytes:
    """A valid new customer in a body of `size` bytes."""
    return json.dumps({"email": "ada@example.test"}).encode().ljust(size)


def test_a_body_of_1_mib_is_accepted(key: Key) -> None:
    assert key.call("POST", CUSTOMERS, content=padded(MIB)).status_code == 201


def test_a_body_over_1_mib_is_413_and_nothing_is_stored(key: Key) -> None:
    response = key.call("POST", CUSTOMERS, content=padded(MIB + 1))
    assert response.status_code == 413
    assert response.json()["code"] == "body_too_large"
    assert key.walk(CUSTOMERS) == []


def test_an_announced_body_over_1_mib_is_413_before_it_is_sent(key: Key) -> None:
    lines = [*key.signature_headers("POST", CUSTOMERS).items(), ("content-length", str(MIB + 1))]
    assert exchange(key.service, "POST", CUSTOMERS, lines).status == 413


def test_a_body_in_chunks_over_1_mib_is_413_before_its_end(key: Key) -> None:
    headers = key.signature_headers("POST", CUSTOMERS)
    with Wire(key.service) as wire:
        wire.head("POST", CUSTOMERS, [*headers.items(), ("transfer-encoding", "chunked")])
        wire.write(b"110000\r\n" + b" " * 0x110000)
        assert wire.answer().status == 413


def test_a_body_in_chunks_is_signed_as_a_whole(key: Key) -> None:
    body = padded(40)
    headers = key.signature_headers("POST", CUSTOMERS, body) | {"content-type": "application/json"}
    with Wire(key.service) as wire:
        wire.head("POST", CUSTOMERS, [*headers.items(), ("transfer-encoding", "chunked")])
        wire.write(b"14\r\n" + body[:20] + b"\r\n14\r\n" + body[20:] + b"\r\n0\r\n\r\n")
        assert wire.answer().status == 201


def test_headers_over_16_kib_are_431(key: Key) -> None:
    lines = [*key.signature_headers("GET", TICKETS).items(), ("x-padding", "x" * 16 * 1024)]
    response = exchange(key.service, "GET", TICKETS, lines)
    assert response.status == 431
    assert response.json()["code"] == "headers_too_large"


def test_over_100_headers_are_431(key: Key) -> None:
    own = [*key.signature_headers("GET", TICKETS).items()]
    padding = [(f"x-padding-{place}", "x") for place in range(99 - len(own))]
    assert exchange(key.service, "GET", TICKETS, [*own, *padding]).status == 200
    more = [*own, *padding, ("x-one", "1"), ("x-two", "2")]
    assert exchange(key.service, "GET", TICKETS, more).status == 431


def test_an_invalid_http_request_gets_a_problem_with_status_400(key: Key) -> None:
    with Wire(key.service) as wire:
        wire.write(b"GET /\x00 NONSENSE\r\n\r\n")
        response = wire.answer()
    assert response.status == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["connection"] == "close"
    assert response.json()["code"] == "malformed_request"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_body_is_hashed_whatever_the_method(key: Key, method: str) -> None:
    assert key.call(method, TICKETS, content=b"{}").status_code == 200
    headers = key.signature_headers(method, TICKETS) | {"content-type": "application/json"}
    sent = [*headers.items(), ("content-length", "2")]
    with Wire(key.service) as wire:
        wire.head(method, TICKETS, sent)
        wire.write(b"{}")
        assert wire.answer(method).status == 401


@for_each("encoding", ["gzip", "br", "deflate", "identity, gzip"])
def test_an_encoded_body_is_415(key: Key, encoding: str) -> None:
    headers: Headers = {"content-encoding": encoding}
    response = key.call("POST", CUSTOMERS, content=padded(40), headers=headers)
    assert response.status_code == 415
    assert response.json()["code"] == "unsupported_media_type"


def test_identity_is_no_encoding(key: Key) -> None:
    headers: Headers = {"content-encoding": "Identity"}
    response = key.call("POST", CUSTOMERS, content=padded(40), headers=headers)
    assert response.status_code == 201


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON ;a=b"]
)
def test_a_body_is_json_with_or_without_parameters(key: Key, content_type: str) -> None:
    response = key.post(CUSTOMERS, {"email": "ada@example.test"}, content_type=content_type)
    assert response.status_code == 201


@for_each(
    "content_type",
    ["", "text/plain", "text/json", "application/jsonp", "application/x-www-form-urlencoded",
     "application/merge-patch+json", "application/vnd.api+json"],
)  # fmt: skip
def test_a_body_of_another_type_is_415(key: Key, content_type: str) -> None:
    response = key.post(CUSTOMERS, {"email": "ada@example.test"}, content_type=content_type)
    assert response.status_code == 415
    assert response.json()["code"] == "unsupported_media_type"


def test_a_patch_may_be_called_a_merge_patch(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    response = key.patch(path, {"name": "Ada"}, content_type="application/merge-patch+json")
    assert response.status_code == 200


def test_a_missing_body_is_400(key: Key) -> None:
    response = key.call("POST", CUSTOMERS)
    assert response.status_code == 400
    assert response.json()["code"] == "malformed_json"
