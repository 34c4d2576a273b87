"""Interface section 4.3: pagination, the same for every list."""

import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sealdesk.crypto.sealing import KeyRing
from sealdesk.errors import BadRequest
from sealdesk.resources.paging import Listing, open_cursor, seal_cursor
from tests.support.client import Key, Person
from tests.support.examples import examples
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
RING = KeyRing([bytes(range(32))])
LISTING = Listing("0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", TICKETS, {"status": "open"})
CURSOR = seal_cursor(RING, LISTING, ["0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e10"])
LETTERS = string.ascii_letters + string.digits + "-_"


def tickets(tenant: Tenant) -> tuple[Key, str]:
    key = tenant.key()
    for _ in range(3):
        key.ticket()
    return key, TICKETS


def replies(tenant: Tenant) -> tuple[Key, str]:
    key = tenant.key()
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    for place in range(3):
        key.post(path, {"body": f"Reply {place}"})
    return key, path


def customers(tenant: Tenant) -> tuple[Key, str]:
    key = tenant.key()
    for place in range(3):
        key.customer(f"customer{place}@example.test")
    return key, CUSTOMERS


def agents(tenant: Tenant) -> tuple[Key, str]:
    tenant.user(), tenant.user()  # beside the administrator
    return tenant.key(), "/api/v1/external/agents"


def api_keys(tenant: Tenant) -> tuple[Person, str]:
    for _ in range(3):
        tenant.key()
    return tenant.admin(), "/api/v1/api-keys"


def refusals(tenant: Tenant) -> tuple[Person, str]:
    key = tenant.key()
    for place in range(3):
        key.get(TICKETS, x_api_signature=f"{place:064x}")
    return tenant.admin(), f"/api/v1/api-keys/{key.id}/refusals"


@pytest.fixture(params=[tickets, replies, customers, agents, api_keys, refusals])
def page(request: pytest.FixtureRequest, tenant: Tenant) -> Callable[[str], Any]:
    """A function that gets a page of a list with three rows, for each list."""
    who, path = request.param(tenant)
    return lambda query: who.get(path + query).json()


def test_4_3_per_page_is_25_by_default(page: Callable[[str], Any]) -> None:
    assert page("")["meta"]["per_page"] == 25


def test_4_3_per_page_is_at_most_100(page: Callable[[str], Any]) -> None:
    assert page("?per_page=101")["meta"]["per_page"] == 100


def test_4_3_a_page_has_at_most_per_page_rows(page: Callable[[str], Any]) -> None:
    assert len(page("?per_page=2")["data"]) == 2


def test_4_3_without_a_cursor_a_list_starts_at_its_first_row(page: Callable[[str], Any]) -> None:
    assert page("?per_page=2")["data"] == page("")["data"][:2]


def test_4_3_1_pages_joined_by_cursors_are_the_whole_list(page: Callable[[str], Any]) -> None:
    first = page("?per_page=2")
    second = page(f"?per_page=2&cursor={first['meta']['next_cursor']}")
    assert first["data"] + second["data"] == page("")["data"]


def test_4_3_2_per_page_is_the_number_of_items_per_page(page: Callable[[str], Any]) -> None:
    assert page("?per_page=2")["meta"]["per_page"] == 2


def test_4_3_2_has_more_is_true_when_more_items_exist(page: Callable[[str], Any]) -> None:
    assert page("?per_page=2")["meta"]["has_more"] is True


def test_4_3_2_has_more_is_false_on_a_full_last_page(page: Callable[[str], Any]) -> None:
    assert page("?per_page=3")["meta"]["has_more"] is False


def test_4_3_2_next_cursor_is_a_string_when_there_are_more(page: Callable[[str], Any]) -> None:
    assert isinstance(page("?per_page=1")["meta"]["next_cursor"], str)


def test_4_3_2_next_cursor_is_null_on_the_last_page(page: Callable[[str], Any]) -> None:
    assert page("?per_page=3")["meta"]["next_cursor"] is None


def test_4_3_3_traversal_ends_when_has_more_is_false(page: Callable[[str], Any]) -> None:
    query, rows, pages = "?per_page=1", [], 0
    while query:
        got = page(query)
        rows += got["data"]
        pages += 1
        query = (
            f"?per_page=1&cursor={got['meta']['next_cursor']}" if got["meta"]["has_more"] else ""
        )
    assert (pages, rows) == (3, page("")["data"])


def test_4_3_4_filters_are_applied_before_pagination(key: Key) -> None:
    wanted = [key.ticket(priority=priority) for priority in ("high", "low", "low", "high")]
    first = key.get(f"{TICKETS}?priority=high&per_page=2").json()
    assert first["data"] == [wanted[3], wanted[0]]
    assert first["meta"]["has_more"] is False


@pytest.mark.parametrize("query", ["", "status=pending", "status=open&priority=low", "sort=asc"])
def test_4_3_4_a_cursor_is_refused_with_another_query(key: Key, query: str) -> None:
    key.ticket(), key.ticket()
    cursor = key.get(f"{TICKETS}?per_page=1&status=open").json()["meta"]["next_cursor"]
    response = key.get(f"{TICKETS}?per_page=1&{query}&cursor={cursor}")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_cursor"


def test_4_3_5_a_cursor_does_not_reveal_its_contents(key: Key) -> None:
    key.ticket(), key.ticket()
    newest = key.get(f"{TICKETS}?per_page=1&status=open").json()
    cursor = newest["meta"]["next_cursor"]
    assert newest["data"][0]["id"] not in cursor
    assert "open" not in cursor


@given(data=st.data())
@settings(max_examples=examples(100))
def test_4_3_5_no_modified_cursor_is_accepted(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(CURSOR) - 1))
    length = data.draw(st.integers(0, 3))
    put = data.draw(st.text(LETTERS, max_size=3))
    modified = CURSOR[:place] + put + CURSOR[place + length :]
    assume(modified != CURSOR)
    with pytest.raises(BadRequest):
        open_cursor(RING, LISTING, modified)


@given(cursor=st.text(max_size=200) | st.text(LETTERS, max_size=200))
@settings(max_examples=examples(100))
def test_4_3_5_no_constructed_cursor_is_accepted(cursor: str) -> None:
    with pytest.raises(BadRequest):
        open_cursor(RING, LISTING, cursor)


def test_4_3_5_no_cursor_with_one_bit_changed_is_accepted() -> None:
    for place, letter in enumerate(CURSOR):
        for bit in range(7):
            changed = CURSOR[:place] + chr(ord(letter) ^ 1 << bit) + CURSOR[place + 1 :]
            with pytest.raises(BadRequest):
                open_cursor(RING, LISTING, changed)


def test_4_3_6_the_default_order_is_newest_first(page: Callable[[str], Any]) -> None:
    rows = page("")["data"]
    assert [one["id"] for one in rows] == sorted((one["id"] for one in rows), reverse=True)


def test_4_3_6_sort_asc_reverses_the_order(key: Key) -> None:
    older, newer = key.ticket(), key.ticket()
    assert key.walk(f"{TICKETS}?sort=asc") == [older, newer]


def test_4_3_6_sort_by_changes_the_order(key: Key) -> None:
    urgent, low = key.ticket(priority="urgent"), key.ticket(priority="low")
    assert key.walk(f"{TICKETS}?sort_by=priority") == [urgent, low]
