"""Paging: cursors are bound to their query, and pages are stable while rows are added."""

import os
import re
import string
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.crypto.sealing import KeyRing
from sealdesk.errors import BadRequest, Gone
from sealdesk.resources.paging import Listing, Position, open_cursor, seal_cursor
from tests.support.client import Key
from tests.support.service import Service, Tenant
from tests.tickets.factories import PlannedTicket, create_tickets

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
RING = KeyRing([b"k" * 32])
INT64 = st.integers(-(2**63), 2**63 - 1)
LISTINGS = st.builds(
    Listing,
    st.uuids().map(str),
    st.sampled_from([TICKETS, CUSTOMERS, f"{TICKETS}/x/replies"]),
    st.dictionaries(st.sampled_from(["status", "tag", "sort", "sort_by"]), st.text(), max_size=3),
)
POSITIONS: st.SearchStrategy[Position] = st.lists(INT64 | st.uuids().map(str), max_size=2)


@settings(max_examples=50)
@given(listing=LISTINGS, position=POSITIONS)
def test_an_opened_cursor_has_the_position_it_was_sealed_with(
    listing: Listing, position: Position
) -> None:
    cursor = seal_cursor(RING, listing, position)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert open_cursor(RING, listing, cursor) == position


@settings(max_examples=50)
@given(made_by=LISTINGS, used_by=LISTINGS, position=POSITIONS)
def test_a_cursor_opens_for_its_own_listing_only(
    made_by: Listing, used_by: Listing, position: Position
) -> None:
    cursor = seal_cursor(RING, made_by, position)
    if made_by == used_by:
        assert open_cursor(RING, used_by, cursor) == position
        return
    with pytest.raises(BadRequest) as refusal:
        open_cursor(RING, used_by, cursor)
    is_same_list = (made_by.tenant_id, made_by.path) == (used_by.tenant_id, used_by.path)
    assert refusal.value.members["reason"] == ("query_changed" if is_same_list else "malformed")


@settings(max_examples=50)
@given(listing=LISTINGS, position=POSITIONS, data=st.data())
def test_no_modified_cursor_opens(
    listing: Listing, position: Position, data: st.DataObject
) -> None:
    cursor = seal_cursor(RING, listing, position)
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda new: new != cursor[place]))
    with pytest.raises(BadRequest) as refusal:
        open_cursor(RING, listing, cursor[:place] + letter + cursor[place + 1 :])
    assert refusal.value.members["reason"] == "malformed"


# Of three lengths in a row two leave bits in the last letter that mean nothing.
@pytest.mark.parametrize("position", [["i"], ["id"], ["ids"]])
def test_a_cursor_has_one_encoding(position: Position) -> None:
    listing = Listing("t", TICKETS, {})
    cursor = seal_cursor(RING, listing, position)
    for letter in set(string.ascii_letters + string.digits + "-_") - {cursor[-1]}:
        with pytest.raises(BadRequest):
            open_cursor(RING, listing, cursor[:-1] + letter)


def test_a_cursor_opens_in_the_epoch_it_was_given_out_in() -> None:
    after_restore = Listing("t", TICKETS, {}, epoch=2)
    assert open_cursor(RING, after_restore, seal_cursor(RING, after_restore, [7])) == [7]
    with pytest.raises(Gone) as refusal:
        open_cursor(RING, after_restore, seal_cursor(RING, Listing("t", TICKETS, {}, epoch=1), [7]))
    assert refusal.value.code == "cursor_expired"


def test_a_refused_cursor_names_what_was_added_changed_and_left_away() -> None:
    cursor = seal_cursor(RING, Listing("t", TICKETS, {"sort": "id", "tag": "a", "q": "b"}), [7])
    with pytest.raises(BadRequest) as refusal:
        open_cursor(RING, Listing("t", TICKETS, {"q": "b", "tag": "c", "status": "open"}), cursor)
    assert refusal.value.members["parameters"] == ["sort", "status", "tag"]


@settings(max_examples=200)
@given(cursor=st.text() | st.text(st.characters(codec="ascii", categories=["L", "N"])))
def test_no_invented_cursor_opens(cursor: str) -> None:
    with pytest.raises(BadRequest) as error:
        open_cursor(RING, Listing("t", TICKETS, {}), cursor)
    assert error.value.members["reason"] == "malformed"


def test_a_cursor_is_valid_after_the_rotation_of_the_master_key() -> None:
    listing = Listing("t", TICKETS, {})
    cursor = seal_cursor(RING, listing, ["id"])
    assert open_cursor(KeyRing([os.urandom(32), b"k" * 32]), listing, cursor) == ["id"]
    with pytest.raises(BadRequest):
        open_cursor(KeyRing([os.urandom(32)]), listing, cursor)


@contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[None]:
    """Repeat `work` in two threads while the block runs, but not without end: a walk follows it."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def repeat() -> None:
        try:
            for _ in range(20):
                if is_over.is_set():
                    return
                work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert failures == []


@pytest.mark.parametrize("sort", ["desc", "asc"])
@pytest.mark.parametrize(
    "query", ["", "status=open", "status=open,pending", "tag=a", "created_after=2020-01-01T00:00Z"]
)
def test_tickets_created_between_pages_neither_repeat_nor_hide_others(
    key: Key, query: str, sort: str
) -> None:
    began = [key.ticket(tags=["a"])["id"] for _ in range(12)]
    with meanwhile(lambda: key.ticket(tags=["a"])):
        seen = [row["id"] for row in key.walk(f"{TICKETS}?{query}&sort={sort}", per_page=2)]
    assert len(seen) == len(set(seen))
    if sort == "desc":
        assert seen[-12:] == began[::-1]
    else:
        assert seen[:12] == began


@pytest.mark.parametrize("sort", ["desc", "asc"])
def test_replies_created_between_pages_neither_repeat_nor_hide_others(key: Key, sort: str) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}/replies"

    def write() -> str:
        return str(key.post(path, {"body": "Hello"}).json()["data"]["id"])

    began = [write() for _ in range(12)]
    with meanwhile(write):
        seen = [row["id"] for row in key.walk(f"{path}?sort={sort}", per_page=2)]
    assert len(seen) == len(set(seen))
    assert [row for row in seen if row in began] == (began if sort == "asc" else began[::-1])


@pytest.mark.parametrize("sort_by", ["created_at", "updated_at", "priority"])
@pytest.mark.parametrize("sort", ["desc", "asc"])
@pytest.mark.parametrize("per_page", [1, 3])
def test_rows_of_one_microsecond_are_each_listed_once(
    tenant: Tenant, sort_by: str, sort: str, per_page: int
) -> None:
    made = create_tickets(tenant, 8 * [PlannedTicket({}, 1_780_000_000_000_000)])
    rows = tenant.key().walk(f"{TICKETS}?sort_by={sort_by}&sort={sort}", per_page=per_page)
    assert [row["id"] for row in rows] == sorted(made, reverse=sort == "desc")


def test_rows_created_while_the_clock_is_stopped_are_each_listed_once(own_service: Service) -> None:
    own_service.clock.stop()
    key = own_service.tenant().key()
    path = f"{TICKETS}/{key.ticket()['id']}/replies"
    for n in range(7):
        key.customer(f"c{n}@example.test")
        key.post(path, {"body": str(n)})
    for target, count in ((CUSTOMERS, 8), (path, 7)):
        rows = key.walk(target, per_page=2)
        assert len({row["created_at"] for row in rows}) == 1
        assert len({row["id"] for row in rows}) == len(rows) == count


def test_a_row_with_an_earlier_time_is_not_listed_twice(own_service: Service) -> None:
    """The clock is set back during a walk: the new row is new, the old ones are as they were."""
    key = own_service.tenant().key()
    began = [key.ticket()["id"] for _ in range(4)]
    first = key.get(f"{TICKETS}?per_page=2").json()
    own_service.clock.correct(-30)
    key.ticket()
    cursor = first["meta"]["next_cursor"]
    second = key.get(f"{TICKETS}?per_page=2&cursor={cursor}").json()
    assert [row["id"] for row in first["data"] + second["data"]] == began[::-1]
