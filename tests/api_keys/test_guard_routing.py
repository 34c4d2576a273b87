"""The path is signed and routed as it was sent (spec decision 3)."""

import httpx
import pytest

from sealdesk.api_keys.request_log import recorder
from tests.support.client import Key, send
from tests.support.for_each import for_each
from tests.support.service import Tenant
from tests.support.wire import exchange

TICKETS = "/api/v1/external/tickets"


def is_proven(response: httpx.Response) -> bool:
    """Whether the signature was valid: only then there are rate limit headers."""
    return "ratelimit" in response.headers


@for_each(
    "query",
    ["status=open&per_page=5", "per_page=5&status=open", "status=%6fpen", "status=open%2Cpending",
     "tag=a+b", "tag=%C3%9C", "tag=%c3%9c", "&status=open&"],
)  # fmt: skip
def test_a_query_is_signed_as_it_was_sent(key: Key, query: str) -> None:
    assert key.get(f"{TICKETS}?{query}").status_code == 200


@pytest.mark.parametrize(
    ("signed", "sent"),
    [
        ("status=open&per_page=5", "per_page=5&status=open"),
        ("status=%6fpen", "status=open"),
        ("status=open", "status=%6fpen"),
        ("tag=a+b", "tag=a%20b"),
        ("tag=%C3%9C", "tag=%c3%9c"),
        ("status=open", "status=open&"),
    ],
)
def test_a_query_written_another_way_is_another_request(key: Key, signed: str, sent: str) -> None:
    headers = key.signature_headers("GET", f"{TICKETS}?{signed}")
    response = send(key.service, "GET", f"{TICKETS}?{sent}", b"", headers)
    assert response.json()["code"] == "invalid_signature"


def test_a_bare_question_mark_may_be_left_out_of_the_message(key: Key) -> None:
    lines = key.signature_headers("GET", TICKETS).items()
    assert exchange(key.service, "GET", f"{TICKETS}?", lines).status == 200


def test_a_bare_question_mark_may_be_signed_as_it_is_sent(key: Key) -> None:
    lines = key.signature_headers("GET", f"{TICKETS}?").items()
    assert exchange(key.service, "GET", f"{TICKETS}?", lines).status == 200


def test_a_bare_question_mark_that_was_signed_but_not_sent_is_named(key: Key) -> None:
    lines = key.signature_headers("GET", f"{TICKETS}?").items()
    response = exchange(key.service, "GET", TICKETS, lines)
    assert response.status == 401
    assert response.json()["diagnosis"] == "trailing_question_mark"


def test_a_percent_encoded_path_is_signed_undecoded(key: Key) -> None:
    response = key.get(f"{TICKETS}/%61%62c")
    assert response.status_code == 404
    assert is_proven(response)


def test_a_percent_encoded_name_is_another_path(key: Key) -> None:
    response = key.get("/api/v1/external/%74ickets")
    assert response.status_code == 404
    assert not is_proven(response)


def test_a_percent_encoded_slash_never_separates(key: Key) -> None:
    ticket = key.ticket()
    assert key.get(f"{TICKETS}%2F{ticket['id']}").status_code == 404
    assert key.get(f"{TICKETS}/{ticket['id']}%2Freplies").status_code == 404


@pytest.mark.parametrize("path", [TICKETS + "/", "/" + TICKETS, "/api/v1//external/tickets"])
def test_no_slash_is_added_or_dropped(key: Key, path: str) -> None:
    response = key.get(path)
    assert response.status_code == 404
    assert "location" not in response.headers


def test_an_id_may_be_written_in_upper_case(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id'].upper()}"
    assert key.get(path).json()["data"]["id"] == ticket["id"]
    listed = key.get(f"{TICKETS}?customer_id={ticket['customer']['id'].upper()}")
    assert [each["id"] for each in listed.json()["data"]] == [ticket["id"]]
    agent = tenant.user()
    changed = key.patch(path, {"assignee_id": agent.upper()})
    assert changed.json()["data"]["assignee_id"] == agent
    many = {"tickets": [{"id": ticket["id"].upper(), "priority": "high"}]}
    (result,) = key.patch(f"{TICKETS}/bulk", many).json()["data"]
    assert result["status"] == 200
    file = key.attachment()
    files = {"body": "B", "attachment_ids": [file["id"].upper()]}
    reply = key.post(f"{path}/replies", files).json()["data"]
    assert [each["id"] for each in reply["attachments"]] == [file["id"]]


def test_a_path_is_the_same_however_its_id_is_written(key: Key, tenant: Tenant) -> None:
    ticket = key.ticket()
    upper, lower = (f"{TICKETS}/{each}/replies" for each in (ticket["id"].upper(), ticket["id"]))
    first = key.post(upper, {"body": "One"}, idempotency_key="one")
    again = key.post(lower, {"body": "One"}, idempotency_key="one")
    assert first.json() == again.json()
    key.post(lower, {"body": "Two"})
    page = key.get(f"{upper}?per_page=1").json()
    rest = key.get(f"{lower}?per_page=1&cursor={page['meta']['next_cursor']}").json()
    assert {each["body"] for each in page["data"] + rest["data"]} == {"One", "Two"}
    key.service.in_serving(recorder.write_requests)
    logged = tenant.admin().get(f"/api/v1/requests/{first.headers['x-request-id']}").json()
    assert logged["data"]["target"] == lower


def test_an_external_id_is_exact(key: Key) -> None:
    known = "0199C0DE-1A2B-7C3D-8E4F-5A6B7C8D9E0F"
    assert key.ticket(external_id=known)["external_id"] == known


def test_an_id_without_hyphens_is_not_found(key: Key) -> None:
    ticket_id = key.ticket()["id"]
    assert key.get(f"{TICKETS}/{ticket_id.replace('-', '')}").status_code == 404


def test_head_is_get_without_a_body(key: Key) -> None:
    response = key.call("HEAD", TICKETS)
    assert response.status_code == 200
    assert response.content == b""
    assert response.headers["content-length"] == key.get(TICKETS).headers["content-length"]


def test_head_signed_as_get_is_refused(key: Key) -> None:
    headers = key.signature_headers("GET", TICKETS)
    assert send(key.service, "HEAD", TICKETS, b"", headers).status_code == 401


def test_options_is_405_and_there_is_no_cors(key: Key) -> None:
    asked = {"origin": "https://elsewhere.test", "access-control-request-method": "GET"}
    response = send(key.service, "OPTIONS", TICKETS, b"", asked)
    assert response.status_code == 405
    assert not [name for name in response.headers if name.startswith("access-control-")]


def test_a_fragment_in_the_target_is_not_ignored(key: Key) -> None:
    lines = key.signature_headers("GET", TICKETS).items()
    assert exchange(key.service, "GET", f"{TICKETS}#fragment", lines).status in (400, 401, 404)
