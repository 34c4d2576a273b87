"""The event feed: complete, in order, and filtered by permissions (spec decision 11)."""

import json
from itertools import combinations
from typing import Any

import pytest

from sealdesk.event_log import events
from sealdesk.event_log.events import EventType
from sealdesk.feed.rules import NEEDS
from tests.support.client import Key, Person
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_ONLY
from tests.support.feed import EVENTS, Feed, record, unplaced, wait_until_placed
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
READS = ("tickets:read", "replies:read", "customers:read")
ALL_TYPES = tuple(NEEDS)


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


# These need a page, a mail server, tests/mail/sending, time, tests/tickets/promises, a customer, or
# a rule.
_OF_OTHERS = {
    *("reply.updated", "reply.delivered", "reply.bounced"),
    *("ticket.sla_warning", "ticket.sla_breached", "ticket.rated"),
    "ticket.rule_matched",
}


def everything(key: Key, admin: Person) -> None:
    """Cause an event of each type, also of those that no key sees."""
    ticket = key.ticket()
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "pending"})
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"})
    customer = f"/api/v1/external/customers/{ticket['customer']['id']}"
    key.patch(customer, {"name": "Maria"})
    without_tickets = key.customer("bo@example.test")["id"]
    key.delete(f"/api/v1/external/customers/{without_tickets}")
    merge = {"into": key.customer(f"{ticket['id']}@example.test")["id"]}
    key.post(f"{customer}/merge", merge)
    other = admin.post("/api/v1/api-keys", {"name": "Other"}).json()["data"]["id"]
    admin.delete(f"/api/v1/api-keys/{other}")


def test_events_are_listed_in_the_order_in_which_they_were_recorded(
    key: Key, admin: Person, feed: Feed
) -> None:
    everything(key, admin)
    rows = feed.recorded()
    made = {*ALL_TYPES} - {"customer.erased"} - _OF_OTHERS  # which the worker records later
    assert {row["type"] for row in rows} >= {*made, "api_key.created", "api_key.revoked"}
    shown = [json.loads(events.payload(row)) for row in rows if row["type"] in ALL_TYPES]
    assert key.get(f"{EVENTS}?per_page=100").json()["data"] == shown
    assert key.walk(EVENTS, per_page=2) == shown


def test_a_page_holds_the_bytes_that_webhooks_send(key: Key, feed: Feed) -> None:
    key.ticket(subject="Übergröße 😀", custom_fields={"n": 1.50})
    rows = [row for row in feed.recorded() if row["type"] in ALL_TYPES]
    bodies = b",".join(events.payload(row) for row in rows)
    assert key.get(EVENTS).content.startswith(b'{"data":[' + bodies + b'],"meta":')


def test_the_object_is_what_the_api_shows(key: Key, feed: Feed) -> None:
    ticket = key.ticket()
    feed.recorded()
    event = key.get(f"{EVENTS}?type=ticket.created").json()["data"][0]
    assert event["data"] == {"object": ticket, "changes": {}}
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == event["data"]["object"]


def test_before_the_last_page_both_cursors_are_equal(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    meta = key.get(f"{EVENTS}?per_page=1").json()["meta"]
    assert (meta["per_page"], meta["has_more"]) == (1, True)
    assert meta["resume_cursor"] == meta["next_cursor"] is not None


def test_at_the_end_a_client_continues_from_the_resume_cursor(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    meta = key.get(EVENTS).json()["meta"]
    assert meta["has_more"] is False and meta["next_cursor"] is None
    again = key.get(f"{EVENTS}?cursor={meta['resume_cursor']}").json()
    assert again == {"data": [], "meta": meta}
    key.customer("new@example.test")
    feed.recorded()
    more = key.get(f"{EVENTS}?cursor={meta['resume_cursor']}").json()["data"]
    assert [event["type"] for event in more] == ["customer.created"]


def test_a_page_that_ends_with_the_feed_says_so(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    page = key.get(f"{EVENTS}?per_page=2").json()
    assert len(page["data"]) == 2 and page["meta"]["has_more"] is False


def test_an_empty_feed_has_a_cursor(tenant: Tenant, feed: Feed) -> None:
    key = tenant.key()
    tenant.service.write(_forget(tenant))
    page = key.get(EVENTS).json()
    assert page["data"] == []
    key.customer("first@example.test")
    feed.recorded()
    more = key.get(f"{EVENTS}?cursor={page['meta']['resume_cursor']}").json()["data"]
    assert [event["type"] for event in more] == ["customer.created"]


def _forget(tenant: Tenant) -> Any:
    async def work(tx: Any) -> None:
        for table in ("events", "feed_positions"):
            await tx.execute(
                f"DELETE FROM {table} WHERE tenant_id = :tenant_id", {"tenant_id": tenant.id}
            )

    wait_until_placed(tenant.service)
    return work


def test_a_filter_without_matches_resumes_at_the_end_of_the_feed(key: Key, feed: Feed) -> None:
    for n in range(3):
        key.customer(f"c{n}@example.test")
    feed.recorded()
    target = f"{EVENTS}?type=reply.created"
    meta = key.get(target).json()["meta"]
    assert feed.position_of(meta["resume_cursor"], type="reply.created") == feed.last()


def test_the_latest_start_shows_only_new_events(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    page = key.get(f"{EVENTS}?start=latest").json()
    assert (page["data"], page["meta"]["has_more"]) == ([], False)
    key.customer("new@example.test")
    feed.recorded()
    more = key.get(f"{EVENTS}?cursor={page['meta']['resume_cursor']}").json()["data"]
    assert [event["type"] for event in more] == ["customer.created"]


def test_several_types_are_merged_in_order(key: Key, admin: Person, feed: Feed) -> None:
    for _ in range(2):
        everything(key, admin)
    rows = feed.recorded()
    for count in (1, 2, 3):
        for types in combinations(ALL_TYPES, count):
            expected = [row["id"] for row in rows if row["type"] in types]
            found = key.get(f"{EVENTS}?per_page=100&type={','.join(types)}").json()["data"]
            assert [event["id"] for event in found] == expected


def test_each_type_is_shown_only_with_its_permission(
    tenant: Tenant, key: Key, admin: Person, feed: Feed
) -> None:
    everything(key, admin)
    sets = [{*may} for n in (1, 2, 3) for may in combinations(READS, n)]
    keys = [tenant.key(permissions=sorted(may)) for may in sets]
    rows = feed.recorded()
    for may, limited in zip(sets, keys, strict=True):
        expected = [row["id"] for row in rows if may & {*NEEDS.get(row["type"], ())}]
        assert [event["id"] for event in limited.walk(EVENTS, per_page=3)] == expected
        for kind in ALL_TYPES:
            check_type(limited, kind, may)


def check_type(key: Key, kind: EventType, may: set[str]) -> None:
    """Request a type together with reply.created."""
    response = key.get(f"{EVENTS}?type=reply.created,{kind}")
    asked: set[EventType] = {"reply.created", kind}
    lacking = [name for name in sorted(asked) if not may & {*NEEDS[name]}]
    if not lacking:
        assert response.status_code == 200
        return
    problem = response.json()
    assert (problem["status"], problem["code"]) == (403, "insufficient_permissions")
    assert problem["required"] == list(NEEDS[lacking[0]])
    assert problem["granted"] == sorted(may)
    assert lacking[0] in problem["detail"]


def test_a_type_needs_what_listing_its_objects_needs() -> None:
    assert NEEDS == {
        "ticket.created": ("tickets:read",),
        "ticket.updated": ("tickets:read",),
        "ticket.status_changed": ("tickets:read",),
        "ticket.sla_warning": ("tickets:read",),
        "ticket.sla_breached": ("tickets:read",),
        "ticket.rated": ("tickets:read",),
        "ticket.rule_matched": ("tickets:read",),
        "reply.created": ("tickets:read", "replies:read"),
        "reply.updated": ("tickets:read", "replies:read"),
        "reply.delivered": ("tickets:read", "replies:read"),
        "reply.bounced": ("tickets:read", "replies:read"),
        "customer.created": ("customers:read",),
        "customer.updated": ("customers:read",),
        "customer.deleted": ("customers:read",),
        "customer.merged": ("customers:read",),
        "customer.erased": ("customers:read",),
    }


@pytest.mark.parametrize("may", [[], ["tickets:write", "replies:write", "customers:write"]])
def test_a_key_without_read_permissions_cannot_list_events(tenant: Tenant, may: list[str]) -> None:
    problem = tenant.key(permissions=may).get(EVENTS).json()
    assert (problem["code"], problem["required"]) == ("insufficient_permissions", list(READS))


@for_each(
    "query",
    [
        *(f"type={kind}" for kind in events.TYPES if kind not in NEEDS),
        "type=",
        "type=ticket",
        "type=ticket.*",
        "type=Ticket.created",
        "type=ticket.created,",
        "type=ticket.created,nonsense",
        "wait=",
        "wait=-1",
        "wait=1.5",
        "wait=%D9%A1",
        "start=now",
        "start=",
        "per_page=0",
    ],
)
def test_an_invalid_parameter_is_refused(key: Key, query: str) -> None:
    problem = key.get(f"{EVENTS}?{query}").json()
    assert (problem["status"], problem["code"]) == (400, "invalid_parameter")
    assert problem["parameter"] == query.partition("=")[0]


def test_sort_is_an_unknown_parameter(key: Key) -> None:
    assert key.get(f"{EVENTS}?sort=desc").json()["code"] == "unknown_parameter"


def test_only_the_types_are_bound_to_a_cursor(key: Key) -> None:
    cursor = key.get(f"{EVENTS}?start=latest&per_page=7").json()["meta"]["resume_cursor"]
    for query in ("", "&wait=0", "&per_page=1", "&start=oldest"):
        assert key.get(f"{EVENTS}?cursor={cursor}{query}").status_code == 200
    problem = key.get(f"{EVENTS}?cursor={cursor}&type=ticket.created").json()
    assert (problem["reason"], problem["parameters"]) == ("query_changed", ["type"])


def test_types_may_come_in_another_order(key: Key) -> None:
    target = f"{EVENTS}?type=ticket.created,reply.created"
    cursor = key.get(target).json()["meta"]["resume_cursor"]
    same = f"{EVENTS}?type=reply.created,ticket.created&cursor={cursor}"
    assert key.get(same).status_code == 200


def test_another_tenants_events_are_never_shown(service: Service, key: Key, feed: Feed) -> None:
    stranger = service.tenant()
    theirs = stranger.key()
    theirs.ticket()
    key.ticket()
    feed.recorded()
    ours = {row["id"] for row in feed.recorded()}
    shown = {event["id"] for event in key.walk(EVENTS)}
    assert shown < ours
    cursor = theirs.get(EVENTS).json()["meta"]["resume_cursor"]
    assert key.get(f"{EVENTS}?cursor={cursor}").json()["reason"] == "malformed"


def test_a_cursor_is_valid_with_every_key_of_its_tenant(
    tenant: Tenant, key: Key, feed: Feed
) -> None:
    key.ticket()
    feed.recorded()
    cursor = key.get(f"{EVENTS}?per_page=1").json()["meta"]["resume_cursor"]
    other = tenant.key(permissions=["tickets:read"])
    assert [e["type"] for e in other.get(f"{EVENTS}?cursor={cursor}").json()["data"]] == [
        "ticket.created"
    ]


@SQLITE_ONLY
def test_an_event_is_in_the_feed_when_its_change_is_acknowledged(key: Key) -> None:
    for count in range(1, 4):
        key.customer(f"{count}@example.test")
        shown = key.get(EVENTS).json()["data"]
        assert [event["type"] for event in shown] == ["customer.created"] * count


@POSTGRESQL_ONLY
def test_an_event_without_a_position_is_not_shown(key: Key, feed: Feed) -> None:
    feed.recorded()
    with unplaced():
        key.customer("new@example.test")
        assert key.get(EVENTS).json()["data"] == []
    feed.recorded()
    assert len(key.get(EVENTS).json()["data"]) == 1


def test_a_rare_type_is_found_among_all_others(tenant: Tenant, feed: Feed) -> None:
    for kind in (*events.TYPES, *NEEDS, *events.TYPES):
        record(tenant, kind)
    rows, key = feed.recorded(), tenant.key()
    for wanted in NEEDS:
        expected = [row["id"] for row in rows if row["type"] == wanted]
        assert len(expected) == 3
        found = key.get(f"{EVENTS}?type={wanted}").json()["data"]
        assert [event["id"] for event in found] == expected
