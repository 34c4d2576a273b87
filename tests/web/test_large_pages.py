"""Pages of lists end early at 1 MiB, and following them gives each item once."""

import html
import re
from functools import partial
from itertools import chain
from typing import Any

import pytest

from sealdesk.db.engine import Tx
from tests.support.client import Key
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant, wait_until

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
MEBIBYTE = 1024 * 1024
_ENVELOPE_BYTES = 2000
# The longest text of a field; each of its characters takes six bytes of JSON.
LONGEST = "a" + "\x01" * 65535


def walk(key: Key, target: str) -> list[dict[str, Any]]:
    """All pages of a list, read with the largest page."""
    pages = [key.get(f"{target}per_page=100")]
    while cursor := pages[-1].json()["meta"]["next_cursor"]:
        pages.append(key.get(f"{target}per_page=100&cursor={cursor}"))
    for page in pages:
        has_one = len(page.json()["data"]) == 1
        assert has_one or len(page.content) < MEBIBYTE + _ENVELOPE_BYTES
    return [page.json() for page in pages]


def items(pages: list[dict[str, Any]]) -> list[str]:
    return [item["id"] for page in pages for item in page["data"]]


@pytest.fixture
def large(key: Key) -> Key:
    """A key whose tenant has five tickets of the largest size, and small ones before and after."""
    for description in ("small", *5 * [LONGEST], "small"):
        key.ticket(description=description, tags=["large"])
    return key


@pytest.mark.parametrize(
    "query", ["", "sort=asc&", "status=open,pending&", "tag=large&", "sort_by=updated_at&"]
)
def test_a_page_of_tickets_ends_early_at_one_mebibyte(large: Key, query: str) -> None:
    pages = walk(large, f"{TICKETS}?{query}")
    assert [len(page["data"]) for page in pages] == [3, 2, 2]
    assert [page["meta"]["per_page"] for page in pages] == [100, 100, 100]
    assert items(pages) == [row["id"] for row in large.walk(f"{TICKETS}?{query}", per_page=1)]


def test_a_page_of_replies_ends_early_at_one_mebibyte(key: Key) -> None:
    replies = f"{TICKETS}/{key.ticket()['id']}/replies"
    written = [
        key.post(replies, {"body": body}).json()["data"]["id"]
        for body in (*3 * [LONGEST], "short", *16 * ["é" * 65536])
    ]
    pages = walk(key, f"{replies}?sort=asc&")
    assert items(pages) == written
    # By stored bytes, and by the bytes of JSON.
    assert [len(page["data"]) for page in pages] == [2, 6, 7, 5]


def test_a_page_of_customers_ends_early_at_one_mebibyte(key: Key) -> None:
    metadata = {"note": "x" * 16_000}
    known = [key.customer(f"c{n}@example.test", metadata=metadata)["id"] for n in range(70)]
    pages = walk(key, f"{CUSTOMERS}?sort=asc&")
    assert items(pages) == known
    assert len(pages) == 2


def test_a_page_of_events_ends_early_and_has_one_event_at_least(key: Key, service: Service) -> None:
    ticket = key.ticket(description=LONGEST)["id"]
    for text in (LONGEST.replace("\x01", "\x02"), LONGEST):
        # Of more than a mebibyte: the description before, after, and in the ticket.
        key.patch(f"{TICKETS}/{ticket}", {"description": text})
    key.ticket()
    service.settle()
    pages = walk(key, "/api/v1/external/events?type=ticket.created,ticket.updated&")
    assert [len(page["data"]) for page in pages] == [1, 1, 1, 1]
    assert len({*items(pages)}) == 4
    resumed = pages[1]["meta"]["resume_cursor"]
    assert resumed == pages[1]["meta"]["next_cursor"]


def _linked_pages(visitor: Visitor, path: str, rel: str) -> list[Page]:
    """A page of the dashboard, and those that it links one after the other."""
    pages = [visitor.get(path)]
    link = re.compile(rf'<a href="([^"]*)" rel="{rel}"')
    while following := link.search(pages[-1].answer.text):
        pages.append(visitor.get(html.unescape(following[1])))
    return pages


def test_the_inbox_ends_early_and_leads_to_all_tickets(large: Key, tenant: Tenant) -> None:
    pages = _linked_pages(logged_in(tenant), "/tickets", "next")
    found = [re.findall(r'name="ticket" value="([^"]*)"', page.answer.text) for page in pages]
    assert [len(ids) for ids in found] == [3, 2, 2]
    assert [*chain(*found)] == [row["id"] for row in large.walk(TICKETS)]


def test_the_page_of_a_customer_ends_early_and_leads_to_all_tickets(
    large: Key, tenant: Tenant
) -> None:
    (customer,) = large.walk(CUSTOMERS)
    pages = _linked_pages(logged_in(tenant), f"/customers/{customer['id']}", "next")
    found = [re.findall(r'href="/tickets/([0-9a-f-]{36})"', page.answer.text) for page in pages]
    assert [*chain(*found)] == [row["id"] for row in large.walk(TICKETS)]
    assert len(found) == 3


def test_the_page_of_a_ticket_ends_early_and_leads_to_all_replies(key: Key, tenant: Tenant) -> None:
    path = f"/tickets/{key.ticket()['id']}"
    replies = f"/api/v1/external{path}/replies"
    for body in ("first", *9 * ['"' * 65536], "last"):
        key.post(replies, {"body": body})
    pages = _linked_pages(logged_in(tenant), path, "prev")
    found = [re.findall(r'id="reply-([0-9a-f-]{36})"', page.answer.text) for page in pages]
    assert [*chain(*found[::-1])] == [row["id"] for row in key.walk(f"{replies}?sort=asc")]
    assert [len(ids) for ids in found] == [2, 2, 2, 2, 2, 1]


def test_a_search_that_ends_early_leads_to_all_tickets(
    key: Key, tenant: Tenant, service: Service
) -> None:
    made = [key.ticket(subject="enormous", description=LONGEST)["id"] for _ in range(4)]
    service.settle()
    visitor = logged_in(tenant)

    def found() -> list[list[str]]:
        pages = _linked_pages(visitor, "/tickets?q=enormous", "next")
        return [re.findall(r'name="ticket" value="([^"]*)"', page.answer.text) for page in pages]

    wait_until(lambda: [*chain(*found())] == made[::-1])
    assert len(found()) > 1


def test_rows_behind_a_page_that_ends_early_are_not_fetched(service: Service) -> None:
    sql = """SELECT v.n, v.body FROM (SELECT column1 AS n, column2 AS body FROM
        (VALUES (1, 'éé'), (2, NULL), (3, 'aaa'), (4, 'b'), (5, 'c')) x) v LIMIT :limit"""

    async def numbers(tx: Tx, max_bytes: int, limit: int) -> list[int]:
        rows = await tx.fetch_page(sql, {"limit": limit}, ("body",), max_bytes)
        return [row["n"] for row in rows]

    for max_bytes, found in ((1, [1, 2]), (3, [1, 2]), (4, [1, 2, 3, 4]), (8, [1, 2, 3, 4, 5])):
        assert service.read(partial(numbers, max_bytes=max_bytes, limit=10)) == found
    assert service.read(partial(numbers, max_bytes=100, limit=3)) == [1, 2, 3]
