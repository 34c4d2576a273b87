"""The form of the three headers, and the allowed clock skew (spec decision 3)."""

from collections.abc import Callable

import httpx
import pytest

from sealdesk.settings import BadSettings, from_env
from tests.support.client import Key, send
from tests.support.service import Service
from tests.support.wire import exchange

TICKETS = "/api/v1/external/tickets"
NAMES = ["x-api-key", "x-api-signature", "x-api-timestamp"]


def code_with(key: Key, name: str, value: str) -> str:
    lines = list((key.signature_headers("GET", TICKETS) | {name: value}).items())
    return str(exchange(key.service, "GET", TICKETS, lines).json()["code"])


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_header_is_named(key: Key, name: str) -> None:
    headers = key.signature_headers("GET", TICKETS)
    del headers[name]
    response = send(key.service, "GET", TICKETS, b"", headers)
    assert response.json()["code"] == "missing_credentials"
    assert name in response.json()["detail"]


def test_a_log_in_where_a_signature_is_needed_is_told_that_it_is_not_read(key: Key) -> None:
    for value in ("Basic YTpi", "Bearer a.b.c", key.api_key):
        refused = send(key.service, "GET", TICKETS, b"", {"authorization": value})
        assert refused.json()["detail"].startswith("Authorization is not read here")


@pytest.mark.parametrize("name", NAMES)
def test_a_header_sent_twice_is_refused(key: Key, name: str) -> None:
    headers = key.signature_headers("GET", TICKETS)
    lines = [*headers.items(), (name, headers[name])]
    response = exchange(key.service, "GET", TICKETS, lines)
    assert response.status == 401
    assert response.json()["code"] == "malformed_credentials"


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_header_is_malformed(key: Key, name: str) -> None:
    assert code_with(key, name, "") == "malformed_credentials"


@pytest.mark.parametrize(
    "timestamp",
    ["0123456789", "123456789", "12345678901", "-123456789", "+123456789", "1234567.89",
     "1e9", "12345 6789", "0x12345678", "17672256OO", "\u00b2234567890", "123456789012"],
)  # fmt: skip
def test_a_timestamp_that_is_not_ten_digits_is_malformed(key: Key, timestamp: str) -> None:
    assert code_with(key, "x-api-timestamp", timestamp) == "malformed_credentials"


def test_a_timestamp_of_13_digits_is_diagnosed_as_milliseconds(key: Key) -> None:
    assert code_with(key, "x-api-timestamp", "1767225600000") == "timestamp_not_seconds"


@pytest.mark.parametrize(
    "api_key",
    ["tk_live_" + "0" * 39, "tk_live_" + "0" * 41, "tk_live_" + "A" * 40, "TK_LIVE_" + "0" * 40,
     "tk_demo_" + "0" * 40, "0" * 40, "tk_live_" + "g" * 40],
)  # fmt: skip
def test_a_key_of_another_form_is_malformed(key: Key, api_key: str) -> None:
    assert code_with(key, "x-api-key", api_key) == "malformed_credentials"


@pytest.mark.parametrize("signature", ["0" * 63, "0" * 65, "g" * 64, "sha256=" + "0" * 64, "="])
def test_a_signature_of_another_form_is_malformed(key: Key, signature: str) -> None:
    assert code_with(key, "x-api-signature", signature) == "malformed_credentials"


def at(key: Key, seconds_away: int) -> httpx.Response:
    """Send a request whose timestamp is this far from the stopped clock."""
    timestamp = key.service.clock.now_us() // 1_000_000 + seconds_away
    headers = key.signature_headers("GET", TICKETS, timestamp=timestamp)
    return send(key.service, "GET", TICKETS, b"", headers)


def test_the_clocks_may_be_300_s_apart(own_service: Service) -> None:
    own_service.clock.stop()
    key = own_service.tenant().key()
    assert [at(key, unavailable).status_code for unavailable in (-300, 300)] == [200, 200]
    codes = [at(key, unavailable).json()["code"] for unavailable in (-301, 301)]
    assert codes == ["timestamp_out_of_range"] * 2


def test_a_refused_timestamp_gets_the_time_of_the_server(own_service: Service) -> None:
    own_service.clock.stop()
    response = at(own_service.tenant().key(), -1000).json()
    assert response["server_time"] == own_service.clock.now_us() // 1_000_000
    assert response["max_skew_seconds"] == 300


@pytest.mark.parametrize("skew_s", [30, 900])
def test_the_allowed_skew_is_a_setting(start: Callable[..., Service], skew_s: int) -> None:
    service = start(SEALDESK_MAX_SKEW_S=str(skew_s))
    service.clock.stop()
    key = service.tenant().key()
    assert at(key, -skew_s).status_code == 200
    assert at(key, -skew_s - 1).json()["max_skew_seconds"] == skew_s


@pytest.mark.parametrize("skew_s", ["29", "901", "300s", "-30", "\u0663\u0660"])
def test_a_skew_outside_30_to_900_is_refused_at_the_start(skew_s: str) -> None:
    with pytest.raises(BadSettings, match="SEALDESK_MAX_SKEW_S"):
        from_env({"SEALDESK_MAX_SKEW_S": skew_s})


def test_the_time_is_public(service: Service) -> None:
    before = service.clock.now_us() // 1_000_000
    reported = httpx.get(f"{service.url}/api/v1/time", timeout=60).json()["data"]
    assert before <= reported["unix"] <= service.clock.now_us() // 1_000_000
    assert reported["iso"].endswith("Z")
