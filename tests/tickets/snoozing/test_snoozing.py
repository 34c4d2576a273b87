"""Snoozing: tickets leave the lists until a time, or until their customer replies."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec
import pytest

from sealdesk.clock import iso
from sealdesk.db.engine import SerializationConflict, Tx
from sealdesk.state import AppState
from sealdesk.tickets.snoozing import store, waking
from sealdesk.tickets.snoozing.store import DueTicket
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket import snoozing as rules
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.worker import loop
from tests.support.client import Key
from tests.support.feed import EVENTS, wait_until_placed
from tests.support.pages import INBOX, Visitor, ticket_ids
from tests.support.service import Service, Tenant, wait_until

API = "/api/v1/external/tickets"
HOUR_S = 3600


def in_hours(service: Service, hours: float) -> str:
    return iso(service.clock.now_us() + int(hours * HOUR_S * 1_000_000))


def snooze(key: Key, ticket: dict[str, Any], until: str | None) -> dict[str, Any]:
    response = key.patch(f"{API}/{ticket['id']}", {"snoozed_until": until})
    assert response.status_code == 200, response.text
    changed: dict[str, Any] = response.json()["data"]
    return changed


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{API}/{ticket['id']}").json()["data"]
    return shown


def fault(key: Key, ticket: dict[str, Any], **change: Any) -> tuple[int, str]:
    """The status and the code of a refused change, which leaves the ticket as it was."""
    before = read(key, ticket)
    problem = key.patch(f"{API}/{ticket['id']}", change)
    assert read(key, ticket) == before
    faults = problem.json().get("errors") or [problem.json()]
    return problem.status_code, faults[0]["code"]


def listed(visitor: Visitor, query: str = "") -> list[str]:
    return ticket_ids(visitor.get(f"{INBOX}{query}"))


def wake_all(service: Service) -> int:
    return service.in_background(loop.wake_snoozed)


def test_a_ticket_is_snoozed_until_a_time_and_woken_by_null(service: Service, key: Key) -> None:
    until = in_hours(service, 5)
    ticket = snooze(key, key.ticket(), until)
    assert ticket["snoozed_until"] == until
    assert read(key, ticket)["snoozed_until"] == until
    assert snooze(key, ticket, None)["snoozed_until"] is None


def test_a_ticket_is_snoozed_from_the_start(service: Service, key: Key) -> None:
    until = in_hours(service, 30)
    assert key.ticket(snoozed_until=until)["snoozed_until"] == until
    new = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    for fields, status in (
        ({"snoozed_until": in_hours(service, -1)}, 422),
        ({"snoozed_until": "soon"}, 422),
        ({"snoozed_until": "next_reply", "status": "resolved"}, 409),
    ):
        assert key.post(API, {**new, **fields}).status_code == status
    assert len(key.get(API).json()["data"]) == 1


def test_the_time_is_shown_in_utc(service: Service, key: Key) -> None:
    day = datetime.fromisoformat(in_hours(service, 48)).date().isoformat()
    ticket = snooze(key, key.ticket(), f"{day}T09:30:00+01:30")
    assert ticket["snoozed_until"] == f"{day}T08:00:00.000000Z"


def test_the_end_of_a_snooze_is_a_time_within_a_year(service: Service, key: Key) -> None:
    ticket = key.ticket()
    assert fault(key, ticket, snoozed_until="tomorrow") == (422, "not_a_time")
    assert fault(key, ticket, snoozed_until="") == (422, "not_a_time")
    assert fault(key, ticket, snoozed_until=7)[0] == 422
    assert fault(key, ticket, snoozed_until=in_hours(service, -0.01)) == (422, "time_is_over")
    late = in_hours(service, 24 * rules.MAX_DAYS + 1)
    assert fault(key, ticket, snoozed_until=late) == (422, "too_late")
    snooze(key, ticket, in_hours(service, 24 * rules.MAX_DAYS - 1))


def test_a_finished_ticket_is_not_snoozed(key: Key) -> None:
    resolved = key.ticket(status="resolved")
    assert fault(key, resolved, snoozed_until="next_reply") == (409, "snooze_of_ended")
    change = {"snoozed_until": "next_reply", "status": "closed"}
    assert fault(key, key.ticket(), **change) == (409, "snooze_of_ended")
    reopened = key.patch(f"{API}/{resolved['id']}", {**change, "status": "open"}).json()["data"]
    assert (reopened["status"], reopened["snoozed_until"]) == ("open", "next_reply")


@pytest.mark.parametrize("status", ["resolved", "closed"])
def test_resolving_and_closing_wake_a_ticket(key: Key, status: str) -> None:
    ticket = snooze(key, key.ticket(), "next_reply")
    ended = key.patch(f"{API}/{ticket['id']}", {**ticket, "status": status}).json()["data"]
    assert (ended["status"], ended["snoozed_until"]) == (status, None)


@pytest.mark.parametrize("status", ["open", "pending", "on_hold"])
def test_a_reply_of_the_customer_wakes_a_ticket_at_once(
    service: Service, key: Key, status: str
) -> None:
    ticket = snooze(key, key.ticket(status=status), "next_reply")
    new = {"body": "And now?", "author": {"type": "customer"}}
    assert key.post(f"{API}/{ticket['id']}/replies", new).status_code == 201
    assert (read(key, ticket)["snoozed_until"], read(key, ticket)["status"]) == (None, "open")
    wait_until_placed(service)
    events = key.get(EVENTS).json()["data"]
    (changes,) = [e["data"]["changes"] for e in events if e["type"] == "ticket.updated"][1:]
    assert changes["snoozed_until"] == ["next_reply", None]


def test_a_note_and_an_answer_leave_a_ticket_asleep(key: Key) -> None:
    ticket = snooze(key, key.ticket(), "next_reply")
    for new in ({"body": "x", "is_internal": True}, {"body": "y"}):
        key.post(f"{API}/{ticket['id']}/replies", new)
    assert read(key, ticket)["snoozed_until"] == "next_reply"


def test_a_ticket_wakes_when_its_time_comes_with_event_history_and_notification(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    eve = tenant.user("agent", "eve@example.test", "Eve")
    key, until = tenant.key(), in_hours(own_service, 2)
    ticket = snooze(key, key.ticket(assignee_id=eve, subject="Later"), until)
    other = snooze(key, key.ticket(), in_hours(own_service, 4))
    last = snooze(key, key.ticket(), "next_reply")
    wake_all(own_service)
    assert read(key, ticket) == ticket
    own_service.clock.advance(2 * HOUR_S + 1)
    wait_until(lambda: wake_all(own_service) == 0 and read(key, ticket)["snoozed_until"] is None)
    assert read(key, ticket)["version"] == ticket["version"] + 1
    assert read(key, ticket)["updated_at"] > until
    assert [read(key, each)["snoozed_until"] is None for each in (other, last)] == [False, False]
    wait_until_placed(own_service)
    event = key.get(EVENTS).json()["data"][-1]
    assert event["data"]["object"]["snoozed_until"] is None
    assert event["data"]["changes"] == {"snoozed_until": [until, None]}
    visitor = Visitor(own_service)
    visitor.log_in("eve@example.test")
    assert f"A snooze has ended: #{ticket['number']} Later" in visitor.get("/notifications").text
    history = visitor.get(f"{INBOX}/{ticket['id']}/history").text
    assert "Sealdesk" in history and "Snoozed until" in history


def test_a_tenant_with_many_ended_snoozes_delays_no_other(service: Service) -> None:
    busy, other = service.tenant("Busy"), service.tenant("Other")
    for tenant, hours, count in ((busy, 1, 3), (other, 2, 1)):
        key = tenant.key()
        for _ in range(count):
            snooze(key, key.ticket(), in_hours(service, hours))
    now_us = service.clock.now_us() + 3 * HOUR_S * 1_000_000

    async def list_next(state: AppState) -> list[DueTicket]:
        return [*await state.database.read(lambda tx: store.list_ended(tx, now_us, 1000))]

    tenants = [each.tenant_id for each in service.in_background(list_next)]
    ours = [each for each in tenants if each in (busy.id, other.id)]
    assert ours == [busy.id, other.id, busy.id, busy.id]


def test_two_workers_wake_a_ticket_once(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    tickets = [snooze(key, key.ticket(), in_hours(own_service, 1)) for _ in range(5)]

    async def twice(state: AppState) -> int:
        state.clock.advance(HOUR_S + 1)  # type: ignore[attr-defined]
        due = await waking.list_due(state)
        both = [waking.wake_due(each, state) for each in due for _ in range(2)]
        return sum(await asyncio.gather(*both))

    woken = own_service.in_background(twice)
    wait_until(lambda: all(read(key, each)["snoozed_until"] is None for each in tickets))
    assert woken <= len(tickets)
    assert [read(key, each)["version"] for each in tickets] == [3] * len(tickets)
    wait_until_placed(own_service)
    events = key.get(f"{EVENTS}?per_page=100").json()["data"]
    ends = [e for e in events if e["data"]["changes"].get("snoozed_until", [0, 0])[1] is None]
    assert len(ends) == len(tickets)


def test_a_snooze_that_ends_while_the_ticket_is_edited_loses_neither(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    ticket = snooze(key, key.ticket(), in_hours(own_service, 1))
    own_service.clock.advance(HOUR_S + 1)

    def edit(number: int) -> int:
        return key.patch(f"{API}/{ticket['id']}", {"subject": f"Subject {number}"}).status_code

    with ThreadPoolExecutor(4) as pool:
        edits = [pool.submit(edit, number) for number in range(8)]
        wake_all(own_service)
        assert [each.result() for each in edits] == [200] * 8
    wait_until(lambda: read(key, ticket)["snoozed_until"] is None)
    after = read(key, ticket)
    assert after["subject"].startswith("Subject")
    assert after["version"] == ticket["version"] + 9


def test_a_ticket_that_was_changed_since_it_was_read_is_not_woken_as_it_was(
    service: Service, tenant: Tenant
) -> None:
    key, runs = tenant.key(), list[str]()
    ticket = snooze(key, key.ticket(), "next_reply")

    async def work(tx: Tx) -> None:
        stored = await ticket_store.find(tx, tenant.id, ticket["id"])
        assert stored is not None
        runs.append(stored.ticket.id)
        if len(runs) == 1:  # PostgreSQL runs the work again
            known = msgspec.structs.replace(stored.ticket, version=1)
            await store.wake(tx, known, ticket_rules.wake(known, service.clock.now_us()).after)

    with suppress(SerializationConflict):
        service.write(work)
    assert read(key, ticket) == ticket


def test_a_ticket_whose_end_was_put_off_meanwhile_stays_asleep(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    ticket = snooze(key, key.ticket(), in_hours(own_service, 1))
    later = in_hours(own_service, 9)

    async def late(state: AppState) -> int:
        due = DueTicket(tenant.id, ticket["id"])
        return await waking.wake_due(due, state)

    snooze(key, ticket, later)
    own_service.clock.advance(2 * HOUR_S)
    assert own_service.in_background(late) == 0
    assert read(key, ticket)["snoozed_until"] == later


def test_a_snoozed_ticket_is_in_the_view_snoozed_and_in_the_search_only(
    visitor: Visitor, tenant: Tenant
) -> None:
    key = tenant.key()
    me = str(tenant.admin().get("/api/v1/auth/me").json()["data"]["id"])
    ticket = key.ticket(subject="Zanzibar", priority="urgent", assignee_id=me)
    awake = key.ticket(subject="Zanzibar", priority="urgent", assignee_id=me)
    queries = ["", "?view=mine", "?view=waiting", "?view=urgent", "?status=all", "?sort=newest"]
    assert all(ticket["id"] in listed(visitor, query) for query in queries)
    snooze(key, ticket, "next_reply")
    assert all(listed(visitor, query) == [awake["id"]] for query in queries)
    assert listed(visitor, "?view=snoozed") == [ticket["id"]]
    counts = visitor.get("/tickets/views/counts").text
    assert "Mine 1 Unassigned Waiting" in counts and "Snoozed 1" in counts
    assert "Open 1" in visitor.get(INBOX).text
    wait_until(lambda: len(listed(visitor, "?q=zanzibar")) == 2)
    assert listed(visitor, f"?q=%23{ticket['number']}") == [ticket["id"]]
    snooze(key, ticket, None)
    assert listed(visitor, "?view=snoozed") == []
    assert ticket["id"] in listed(visitor, "?view=mine")


def test_an_inbox_whose_tickets_are_all_snoozed_is_empty_and_not_new(
    visitor: Visitor, key: Key
) -> None:
    assert "first ticket" in visitor.get(INBOX).text
    snooze(key, key.ticket(), "next_reply")
    assert "first ticket" not in visitor.get(INBOX).text
    assert "Snoozed 1" in visitor.get(INBOX).text


def test_the_api_lists_all_tickets_unless_it_is_asked(key: Key) -> None:
    awake, ticket = key.ticket(tags=["x"]), snooze(key, key.ticket(tags=["x"]), "next_reply")
    found = {
        query: {each["id"] for each in key.get(f"{API}{query}").json()["data"]}
        for query in ("", "?status=open", "?snoozed=true", "?snoozed=false",
                      "?snoozed=false&status=open,pending", "?snoozed=false&tag=x",
                      "?snoozed=true&tag=x&sort_by=updated_at",
                      "?snoozed=true&status=pending")
    }  # fmt: skip
    both, one, other = {awake["id"], ticket["id"]}, {ticket["id"]}, {awake["id"]}
    assert list(found.values()) == [both, both, one, other, other, other, one, set()]


def test_the_snoozed_tickets_are_read_page_by_page(key: Key) -> None:
    tickets = [snooze(key, key.ticket(), "next_reply")["id"] for _ in range(5)]
    for order in ("created_at", "updated_at"):
        walked = key.walk(f"{API}?snoozed=true&sort_by={order}")
        assert [each["id"] for each in walked] == tickets[::-1], order


def test_a_desk_has_a_bounded_number_of_snoozed_tickets(
    service: Service, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_SNOOZED", 2)
    first, second, third = (key.ticket() for _ in range(3))
    snooze(key, first, "next_reply")
    snooze(key, second, "next_reply")
    assert fault(key, third, snoozed_until="next_reply") == (409, "too_many_snoozed")
    new = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    refused = key.post(API, {**new, "snoozed_until": "next_reply"})
    assert refused.json()["code"] == "too_many_snoozed"
    snooze(key, second, in_hours(service, 9))
    snooze(key, first, None)
    snooze(key, third, "next_reply")


def test_merging_a_snoozed_ticket_wakes_it(key: Key) -> None:
    ticket, target = snooze(key, key.ticket(), "next_reply"), key.ticket()
    assert key.post(f"{API}/{ticket['id']}/merge", {"into": target["id"]}).status_code == 200
    assert read(key, ticket)["snoozed_until"] is None


def test_snoozed_tickets_of_other_desks_are_not_counted_or_listed(
    service: Service, visitor: Visitor
) -> None:
    key = service.tenant("Other").key()
    snooze(key, key.ticket(), "next_reply")
    assert listed(visitor, "?view=snoozed") == []
    assert "Snoozed Recently" in visitor.get("/tickets/views/counts").text


def test_the_form_of_a_finished_ticket_says_why_it_is_not_snoozed(
    visitor: Visitor, key: Key
) -> None:
    path = f"/tickets/{key.ticket(status='resolved')['id']}"
    page = visitor.submit(visitor.get(path).form(path), snoozed_until="next_reply")
    assert page.status == 409
    assert "the ticket is finished" in page.text and "status change" not in page.text
