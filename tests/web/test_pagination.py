"""Paginated lists: the envelope, and which queries accept a cursor (spec decision 9)."""

import base64
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def cursor_of(key: Key, target: str) -> str:
    """The cursor after the first row of a list with more rows."""
    meta = key.get(f"{target}{'&' if '?' in target else '?'}per_page=1").json()["meta"]
    assert meta["has_more"] is True
    return str(meta["next_cursor"])


def malformed(response: httpx.Response) -> bool:
    problem = response.json()
    assert (response.status_code, problem["code"]) == (400, "invalid_cursor")
    return bool(problem["reason"] == "malformed")


@pytest.fixture
def full(key: Key) -> Key:
    """A key whose tenant has three open tickets, each with its own customer."""
    for n in range(3):
        key.ticket(customer={"email": f"c{n}@example.test"})
    return key


def test_the_last_page_has_no_cursor(full: Key) -> None:
    cursor = cursor_of(full, TICKETS)
    page = full.get(f"{TICKETS}?per_page=2&cursor={cursor}").json()
    assert len(page["data"]) == 2
    assert page["meta"] == {"per_page": 2, "has_more": False, "next_cursor": None}


def test_a_page_that_ends_with_the_list_has_no_cursor(full: Key) -> None:
    meta = full.get(f"{TICKETS}?per_page=3").json()["meta"]
    assert meta == {"per_page": 3, "has_more": False, "next_cursor": None}


def test_a_cursor_needs_no_percent_encoding(full: Key) -> None:
    for target in (TICKETS, f"{TICKETS}?sort_by=priority&status=open", CUSTOMERS):
        assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor_of(full, target))


def test_a_cursor_reveals_nothing_of_its_query(key: Key) -> None:
    for _ in range(2):
        key.ticket(tags=["very-secret-tag"])
    cursor = cursor_of(key, f"{TICKETS}?tag=very-secret-tag")
    assert b"secret" not in base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def test_the_page_size_may_change_between_pages(full: Key) -> None:
    rows = full.walk(TICKETS)
    first = full.get(f"{TICKETS}?per_page=1").json()
    cursor = first["meta"]["next_cursor"]
    rest = full.get(f"{TICKETS}?per_page=100&cursor={cursor}").json()
    assert first["data"] + rest["data"] == rows


def test_a_cursor_may_be_used_again(full: Key) -> None:
    target = f"{TICKETS}?cursor={cursor_of(full, TICKETS)}"
    assert full.get(target).json() == full.get(target).json()


@pytest.mark.parametrize(
    ("made_by", "used_by"),
    [
        ("", "sort=desc"),
        ("", "sort_by=created_at"),
        ("sort_by=created_at&sort=desc", ""),
        ("status=open,pending", "status=pending,open"),
        ("status=open", "status=open,open"),
        ("status=open&sort=asc", "sort=asc&status=open"),
        ("tag=a%2Db", "tag=a-b"),
        ("created_after=2026-01-01T00:00:00Z", "created_after=2026-01-01T01:00:00.000%2B01:00"),
    ],
)
def test_an_equivalent_query_accepts_the_cursor(key: Key, made_by: str, used_by: str) -> None:
    for _ in range(2):
        key.ticket(tags=["a-b"])
    cursor = cursor_of(key, f"{TICKETS}?{made_by}")
    response = key.get(f"{TICKETS}?{used_by}&cursor={cursor}")
    assert response.status_code == 200
    assert len(response.json()["data"]) == 1


SOME_ID = "00000000-0000-7000-8000-000000000000"


@for_each(
    ("made_by", "used_by", "changed"),
    [
        ("", "status=open", ["status"]),
        ("status=open", "", ["status"]),
        ("status=open", "status=open,closed", ["status"]),
        ("", "priority=medium", ["priority"]),
        ("", f"customer_id={SOME_ID}", ["customer_id"]),
        ("", f"assignee_id={SOME_ID}", ["assignee_id"]),
        ("", "tag=x", ["tag"]),
        ("", "external_id=x", ["external_id"]),
        ("", "created_after=2020-01-01T00:00:00Z", ["created_after"]),
        ("created_after=2020-01-01T00:00:00Z", "created_after=2021-01-01T00:00:00Z",
         ["created_after"]),
        ("", "created_before=2090-01-01T00:00:00Z", ["created_before"]),
        ("", "updated_after=2020-01-01T00:00:00Z", ["updated_after"]),
        ("", "sort=asc", ["sort"]),
        ("", "sort_by=updated_at", ["sort_by"]),
        ("sort_by=priority", "sort_by=updated_at", ["sort_by"]),
        ("status=open", "priority=low&sort=asc", ["priority", "sort", "status"]),
    ],
)  # fmt: skip
def test_another_query_is_told_which_parameter_changed(
    full: Key, made_by: str, used_by: str, changed: list[str]
) -> None:
    cursor = cursor_of(full, f"{TICKETS}?{made_by}")
    response = full.get(f"{TICKETS}?{used_by}&cursor={cursor}")
    assert not malformed(response)
    problem = response.json()
    assert (problem["reason"], problem["parameters"]) == ("query_changed", changed)
    assert all(name in problem["detail"] for name in changed)


def test_a_cursor_of_customers_is_bound_to_its_query(full: Key) -> None:
    cursor = cursor_of(full, CUSTOMERS)
    response = full.get(f"{CUSTOMERS}?sort=asc&cursor={cursor}")
    assert response.json()["parameters"] == ["sort"]


def test_a_cursor_of_another_list_is_malformed(full: Key) -> None:
    cursor = cursor_of(full, TICKETS)
    assert malformed(full.get(f"{CUSTOMERS}?cursor={cursor}"))
    assert malformed(full.get(f"/api/v1/external/agents?cursor={cursor}"))


def test_a_cursor_of_another_tickets_replies_is_malformed(key: Key) -> None:
    one, other = (f"{TICKETS}/{key.ticket()['id']}/replies" for _ in range(2))
    for path in (one, one, other, other):
        key.post(path, {"body": "Hello"})
    cursor = cursor_of(key, one)
    assert key.get(f"{one}?cursor={cursor}").status_code == 200
    assert malformed(key.get(f"{other}?cursor={cursor}"))


def test_a_cursor_of_another_tenant_is_malformed(full: Key, service: Any) -> None:
    stranger: Tenant = service.tenant()
    assert malformed(stranger.key().get(f"{TICKETS}?cursor={cursor_of(full, TICKETS)}"))


def test_a_cursor_is_valid_with_every_key_of_its_tenant(full: Key, tenant: Tenant) -> None:
    response = tenant.key().get(f"{TICKETS}?cursor={cursor_of(full, TICKETS)}")
    assert len(response.json()["data"]) == 2


CHANGES: dict[str, Callable[[str], str]] = {
    "empty": lambda cursor: "",
    "a word": lambda cursor: "garbage",
    "an id": lambda cursor: SOME_ID,
    "cut": lambda cursor: cursor[:-1],
    "halved": lambda cursor: cursor[: len(cursor) // 2],
    "longer": lambda cursor: cursor + "A",
    "doubled": lambda cursor: cursor + cursor,
    "padded": lambda cursor: cursor + "%3D",
    "one letter": lambda cursor: cursor[:20] + ("A" if cursor[20] != "A" else "B") + cursor[21:],
    "first letter": lambda cursor: ("A" if cursor[0] != "A" else "B") + cursor[1:],
    "reversed": lambda cursor: cursor[::-1],
    "white space": lambda cursor: cursor + "%20",
    "line break": lambda cursor: cursor + "%0A",
    "standard alphabet": lambda cursor: cursor[:-1] + "%2F",
    "not ASCII": lambda cursor: cursor[:-1] + "%C3%A9",
    "huge": lambda cursor: "A" * 8000,
}


@for_each("change", CHANGES.values())
def test_a_modified_cursor_is_malformed(full: Key, change: Callable[[str], str]) -> None:
    cursor = cursor_of(full, TICKETS)
    assert malformed(full.get(f"{TICKETS}?cursor={change(cursor)}"))


def test_a_cursor_continues_after_a_row_that_left_the_list(full: Key) -> None:
    newest, middle, oldest = full.walk(f"{TICKETS}?status=open")
    cursor = cursor_of(full, f"{TICKETS}?status=open")
    full.patch(f"{TICKETS}/{newest['id']}", {"status": "pending"})
    response = full.get(f"{TICKETS}?status=open&cursor={cursor}")
    assert response.json()["data"] == [middle, oldest]


def test_head_of_a_list_has_the_headers_and_no_body(full: Key) -> None:
    head, get = full.call("HEAD", TICKETS), full.get(TICKETS)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]
