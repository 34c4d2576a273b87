"""Query strings: declared names, strict values (spec decisions 9 and 10)."""

import re

import httpx

from sealdesk.api_keys.permissions import PERMISSIONS
from sealdesk.routes import ROUTES
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
_SCHEMES = ("hmac", "jwt")


def refused(response: httpx.Response, code: str, parameter: str) -> str:
    """The detail of a 400 about this parameter."""
    assert response.status_code == 400, response.text
    problem = response.json()
    assert (problem["code"], problem["parameter"]) == (code, parameter)
    return str(problem["detail"])


@for_each(
    ("sent", "nearest"),
    [
        ("perpage=5", "per_page"),
        ("state=open", "status"),
        ("sortby=priority", "sort_by"),
        ("Status=open", "status"),
        ("created_afer=x", "created_after"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_nearest_name(
    key: Key, sent: str, nearest: str
) -> None:
    detail = refused(key.get(f"{TICKETS}?{sent}"), "unknown_parameter", sent.partition("=")[0])
    assert f"Did you mean {nearest}?" in detail


def test_no_change_and_no_list_ignores_a_parameter(tenant: Tenant) -> None:
    """A reply with ?is_internal=true would be public."""
    key, admin = tenant.key(permissions=list(PERMISSIONS)), tenant.admin()
    ticket_id = key.ticket()["id"]
    taken: list[tuple[str, str, int]] = []
    for route in ROUTES:
        if route.is_api_change or (route.operation.params and route.guard.scheme in _SCHEMES):
            caller = key if route.guard.scheme == "hmac" else admin
            target = re.sub(r"{\w+}", ticket_id, route.path) + "?no_such=1"
            response = caller.call(route.method, target)
            if response.status_code != 400 or response.json()["code"] != "unknown_parameter":
                taken.append((route.method, route.path, response.status_code))
    assert taken == []


def test_a_field_in_the_query_of_a_change_is_told_to_belong_in_the_body(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}/replies"
    detail = refused(
        key.post(f"{at}?is_internal=true", {"body": "b"}), "unknown_parameter", "is_internal"
    )
    assert "in its body" in detail


def test_an_unknown_parameter_without_a_similar_name_lists_all_names(key: Key) -> None:
    detail = refused(key.get(f"{CUSTOMERS}?zz=x"), "unknown_parameter", "zz")
    assert "cursor, email, external_id, per_page, q, sort, sort_by, updated_after" in detail


@for_each("twice", ["sort=asc&sort=asc", "per_page=1&status=open&per_page=1", "cursor=a&cursor=a"])
def test_a_repeated_parameter_is_refused(key: Key, twice: str) -> None:
    name = twice.partition("=")[0]
    detail = refused(key.get(f"{TICKETS}?{twice}"), "invalid_parameter", name)
    assert "more than once" in detail


def test_a_repeated_list_means_its_values_with_commas(key: Key) -> None:
    for status in ("open", "pending", "resolved"):
        key.ticket(status=status)
    repeated = key.get(f"{TICKETS}?status=open&per_page=1&status=pending").json()
    cursor = repeated["meta"]["next_cursor"]
    then = key.get(f"{TICKETS}?status=pending,open&cursor={cursor}").json()
    assert [page["data"][0]["status"] for page in (repeated, then)] == ["pending", "open"]
    refused(key.get(f"{TICKETS}?status=open&status=new"), "invalid_parameter", "status")


def test_every_list_of_values_may_be_repeated(key: Key, tenant: Tenant) -> None:
    admin, ticket_id = tenant.admin(), key.ticket()["id"]
    for row in ROUTES:
        path = row.path.replace("{id}", ticket_id)
        for param in row.operation.params:
            if param.schema["type"] == "array":
                twice = f"{path}?{param.name}={param.example}&{param.name}={param.example}"
                caller = key if row.guard.scheme == "hmac" else admin
                assert caller.get(twice).status_code == 200, twice


def test_a_repeated_name_is_found_in_any_encoding(key: Key) -> None:
    twice = f"{TICKETS}?sort=asc&%73ort=asc"
    refused(key.get(twice), "invalid_parameter", "sort")


@for_each(
    "sent",
    [
        "status=new",
        "status=",
        "status",
        "status=Open",
        "status=open,",
        "status=open,%20closed",
        "status=open;closed",
        "priority=normal",
        "priority=1",
        "sort_by=number",
        "sort_by=",
        "sort=up",
        "sort=DESC",
        "customer_id=5",
        "customer_id=",
        "assignee_id=null",
        "tag=",
        f"tag={'x' * 65}",
        f"external_id={'x' * 256}",
        "external_id=",
        "created_after=yesterday",
        "created_after=",
        "created_after=1700000000",
        "created_after=2026-01-31",
        "created_after=2026-01-31T09:30:00",
        "created_before=2026-02-30T00:00:00Z",
        "created_before=2026-01-31T25:00:00Z",
        "updated_after=2026-01-31T09:30:00%2B24:00",
        "updated_after=2026-01-31T09:30:00%2B02:60",
        "updated_after=%D9%A2026-01-31T09:30:00Z",
    ],
)
def test_a_value_outside_the_set_is_refused(key: Key, sent: str) -> None:
    refused(key.get(f"{TICKETS}?{sent}"), "invalid_parameter", sent.partition("=")[0])


@for_each("value", ["1", "TRUE", "yes", ""])
def test_a_flag_is_true_or_false(key: Key, value: str) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    refused(key.get(f"{path}?is_internal={value}"), "invalid_parameter", "is_internal")


@for_each(
    "sent",
    [
        "2026-01-31T09:30:00+02:00",
        "2026-01-31T09:30:00+0200",
        "2026-01-31T09:30+02:00",
        "2026-01-31%2009:30:00+02:00",
        "2026-01-31%2009:30:00.5+0200",
    ],
)
def test_a_plus_that_arrives_as_a_space_is_explained(key: Key, sent: str) -> None:
    response = key.get(f"{TICKETS}?created_after={sent}")
    assert "%2B" in refused(response, "invalid_parameter", "created_after")


@for_each(
    "sent",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31t09:30:00z",
        "2026-01-31T09:30Z",
        "2026-01-31%2009:30:00Z",
        "2026-01-31T09:30:00.123456789Z",
        "2026-01-31T09:30:00%2B02:00",
        "2026-01-31T09:30:00-0330",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ],
)
def test_times_are_iso_8601_with_an_offset(key: Key, sent: str) -> None:
    for name in ("created_after", "created_before", "updated_after"):
        assert key.get(f"{TICKETS}?{name}={sent}").status_code == 200


@for_each(
    ("sent", "used"),
    [("1", 1), ("100", 100), ("101", 100), ("5000", 100), ("007", 7), (str(10**30), 100)],
)
def test_a_page_has_at_most_100_items_and_says_so(key: Key, sent: str, used: int) -> None:
    for path in (TICKETS, CUSTOMERS):
        meta = key.get(f"{path}?per_page={sent}").json()["meta"]
        assert meta == {"per_page": used, "has_more": False, "next_cursor": None}


@for_each(
    "sent",
    ["0", "00", "-1", "", "1.0", "1e1", "0x10", "%2B5", "+5", "5%20", "1_0", "ten", "%D9%A1%D9%A0"],
)
def test_per_page_is_a_whole_number_from_1_in_ascii_digits(key: Key, sent: str) -> None:
    refused(key.get(f"{TICKETS}?per_page={sent}"), "invalid_parameter", "per_page")


def test_without_per_page_a_page_has_25_items(key: Key) -> None:
    assert key.get(TICKETS).json()["meta"]["per_page"] == 25


@for_each(
    "sent",
    ["tag=%FF", "tag=%C3", "tag=a%00b", "%FF=x", "tag=%zz", "tag=100%", "tag=%4", "tag=%u00e9"],
)
def test_a_query_that_is_not_utf_8_text_is_refused(key: Key, sent: str) -> None:
    response = key.get(f"{TICKETS}?{sent}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")


def test_values_are_percent_decoded(key: Key) -> None:
    ticket = key.ticket(tags=["a&b=c +é"])
    for sent in ("a%26b%3Dc%20%2B%C3%A9", "%61%26b=c+%2b%c3%a9"):
        assert key.walk(f"{TICKETS}?tag={sent}") == [ticket]


@for_each("query", ["&", "&&", "&per_page=25&"])
def test_empty_pairs_of_a_query_are_ignored(key: Key, query: str) -> None:
    assert key.get(f"{TICKETS}?{query}").status_code == 200


def test_a_parameter_of_several_values_is_sent_once_for_each(key: Key) -> None:
    wanted = key.ticket(tags=["a", "b", "c"])
    key.ticket(tags=["a"])
    found = key.get(f"{TICKETS}?tag=b&tag=a&tag=b").json()["data"]
    assert [each["id"] for each in found] == [wanted["id"]]
    response = key.get(f"{TICKETS}?{'&'.join(f'tag=t{place}' for place in range(11))}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")
    assert "must be sent at most 10 times" in response.json()["detail"]


def test_a_cursor_is_of_the_same_values_in_whatever_order(key: Key) -> None:
    for _ in range(3):
        key.ticket(tags=["a", "b"])
    meta = key.get(f"{TICKETS}?tag=a&tag=b&per_page=1").json()["meta"]
    cursor = meta["next_cursor"]
    assert key.get(f"{TICKETS}?tag=b&tag=a&per_page=1&cursor={cursor}").status_code == 200
    assert key.get(f"{TICKETS}?tag=a&per_page=1&cursor={cursor}").status_code == 400


@for_each("sent", ["0", "-1", "1.5", "x", "%D9%A3", "1234567890123", ""])
def test_a_ticket_number_is_a_whole_number_from_1(key: Key, sent: str) -> None:
    response = key.get(f"{TICKETS}?number={sent}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")


def test_nobody_is_an_assignee_of_the_filter_and_no_customer(key: Key) -> None:
    assert key.get(f"{TICKETS}?assignee_id=none").status_code == 200
    assert "or none" in key.get(f"{TICKETS}?assignee_id=nobody").json()["detail"]
    assert key.get(f"{TICKETS}?customer_id=none").status_code == 400
