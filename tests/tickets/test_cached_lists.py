"""A list that is asked for again comes from memory, and never misses a change (decision 0121)."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.support.client import Key
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def bodies(key: Key, target: str = TICKETS) -> list[str]:
    """The list, until it comes from memory."""
    return [key.get(target).text for _ in range(3)]


def hits(key: Key) -> int:
    pages = key.service.state.ticket_pages._tenants
    return sum(bool(page) for each in pages.values() for page in each.by_name.values())


CHANGES: dict[str, Callable[[Key, str, str], object]] = {
    "another ticket": lambda key, *_: key.ticket(),
    "a changed field": lambda key, ticket, _: key.patch(f"{TICKETS}/{ticket}", {"priority": "low"}),
    "a tag": lambda key, ticket, _: key.patch(f"{TICKETS}/{ticket}", {"add_tags": ["vip"]}),
    "a reply": lambda key, ticket, _: key.post(f"{TICKETS}/{ticket}/replies", {"body": "Hello"}),
    "a customer's name": lambda key, _, person: key.patch(f"{CUSTOMERS}/{person}", {"name": "Zoe"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_list_shows_a_change_that_was_answered(key: Key, change: str) -> None:
    ticket = key.ticket()
    before = bodies(key)
    assert len({*before}) == 1
    CHANGES[change](key, ticket["id"], ticket["customer"]["id"])
    assert key.get(TICKETS).text != before[0]


@SQLITE_ONLY
def test_the_next_list_shows_what_another_process_wrote(own_service: Service) -> None:
    key = own_service.tenant().key()
    key.ticket()
    bodies(key)
    assert hits(key) == 1
    with closing(sqlite3.connect(own_service.settings.database_path)) as other, other:
        other.execute("UPDATE customers SET reference = CAST(replace(reference, '@', '-') AS BLOB)")
    assert "customer-example.test" in key.get(TICKETS).text


@SQLITE_ONLY
def test_another_tenants_change_leaves_the_page_in_memory(own_service: Service) -> None:
    key, other = (own_service.tenant().key() for _ in range(2))
    key.ticket()
    first = bodies(key)[0]
    other.ticket()
    assert hits(key) == 1
    assert key.get(TICKETS).text == first
    assert bodies(other)[0] != first


def test_what_includes_other_rows_is_read_each_time(key: Key) -> None:
    ticket = key.ticket()
    target = f"{TICKETS}?include=replies,customer"
    before = bodies(key, target)[0]
    assert "etag" not in key.get(target).headers
    key.patch(f"{CUSTOMERS}/{ticket['customer']['id']}", {"phone": "+1 555 0100"})
    assert key.get(target).text != before


@SQLITE_ONLY
def test_a_page_in_memory_is_refused_like_any_other(own_service: Service) -> None:
    tenant = own_service.tenant()
    key, stranger = tenant.key(), tenant.key(permissions=["customers:read"])
    key.ticket()
    bodies(key)
    assert stranger.get(TICKETS).status_code == 403
    assert key.get(f"{TICKETS}?per_page=0").status_code == 400
    assert key.get(f"{TICKETS}?per_page=0").status_code == 400


@SQLITE_ONLY
def test_an_unchanged_list_is_304_and_a_changed_one_is_not(own_service: Service) -> None:
    key = own_service.tenant().key()
    key.ticket()
    etag = key.get(TICKETS).headers["etag"]
    for _ in range(3):
        unchanged = key.get(TICKETS, if_none_match=etag)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert key.get(f"{TICKETS}?per_page=1", if_none_match=etag).status_code == 200
    key.ticket()
    assert key.get(TICKETS, if_none_match=etag).status_code == 200
