"""Bulk changes of tickets: the preview, the changes, and why a ticket is not changed."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.tickets.ticket.store import tickets as ticket_store
from tests.support.client import Key
from tests.support.databases import SQLITE_FIRST
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.pages import INBOX, Page, Visitor, ticket_ids
from tests.support.service import PASSWORD, Service, Tenant
from tests.tickets.factories import PlannedTicket, create_tickets

BULK = f"{INBOX}/bulk"
TICKETS = "/api/v1/external/tickets"


def now(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    """A ticket as it is now."""
    return dict(key.get(f"{TICKETS}/{ticket['id']}").json()["data"])


def closed(key: Key, **fields: Any) -> dict[str, Any]:
    ticket = key.ticket(**fields)
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "closed"})
    return ticket


def choose(visitor: Visitor, *tickets: dict[str, Any], **wanted: str) -> Page:
    """The preview page."""
    form = visitor.get(f"{INBOX}?status=all").form(f"{BULK}?status=all")
    return visitor.submit(form, ticket=[ticket["id"] for ticket in tickets], **wanted)


def confirm(visitor: Visitor, page: Page) -> Page:
    """The page with the results."""
    return visitor.submit(page.form(f"{BULK}?status=all"))


def test_selected_tickets_are_changed_after_one_confirmation(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    first, second, other = (key.ticket(subject=f"Order {n}") for n in range(3))
    wanted = {"status": "pending", "priority": "urgent", "assignee": "me"}
    page = choose(visitor, first, second, **wanted)
    assert "Change 2 tickets?" in page.text
    assert "Status Pending Priority Urgent Assigned to" in page.text
    assert now(key, first) == first
    page = confirm(visitor, page)
    assert "2 tickets were changed" in page.text and "not changed" not in page.text
    assert f"{INBOX}/{first['id']}" in page.links and f"{INBOX}?status=all" in page.links
    for ticket in (first, second):
        after = now(key, ticket)
        assert (after["status"], after["priority"]) == ("pending", "urgent")
        assert after["assignee_id"] is not None
    assert now(key, other) == other


@pytest.mark.prove
@SQLITE_FIRST
def test_the_preview_holds_few_long_descriptions_at_a_time(visitor: Visitor, key: Key) -> None:
    tickets = [key.ticket(description=60_000 * "\U0001f600") for _ in range(60)]
    peaks_bytes = []
    for _ in range(4):  # the background loop reads the same tickets beside some of them
        tracemalloc.start()
        try:
            page = choose(visitor, *tickets, status="pending")
            peaks_bytes.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert "Change 60 tickets?" in page.text
    assert min(peaks_bytes) < 12_000_000  # 7 now, and 18 with all at once


def test_each_change_is_in_the_history_and_has_an_event(
    visitor: Visitor, tenant: Tenant, key: Key, service: Service
) -> None:
    tickets = [key.ticket(), key.ticket()]
    confirm(visitor, choose(visitor, *tickets, status="resolved"))
    of_tenant = {"id": tenant.id}
    service.settle()
    rows = service.rows("SELECT type FROM events WHERE tenant_id = :id LIMIT 20", **of_tenant)
    kinds = [row[0] for row in rows]
    assert (kinds.count("ticket.updated"), kinds.count("ticket.status_changed")) == (2, 2)
    rows = service.rows(
        "SELECT actor_kind, changes FROM ticket_changes WHERE tenant_id = :id LIMIT 9", **of_tenant
    )
    assert [tuple(row) for row in rows] == [("user", '{"status":["open","resolved"]}')] * 2


def test_a_preview_names_the_reason_why_a_ticket_cannot_be_changed(
    visitor: Visitor, key: Key
) -> None:
    free, done, so = key.ticket(), closed(key), key.ticket(status="pending")
    page = choose(visitor, free, done, so, status="pending")
    assert "Change 1 ticket?" in page.text and "2 will not be changed" in page.text
    assert "It is closed. Open it first." in page.text
    assert "It already has these values." in page.text
    assert "1 ticket was changed" in confirm(visitor, page).text
    assert now(key, done)["status"] == "closed"
    assert now(key, so) == so


def test_a_ticket_that_changed_since_the_preview_is_not_changed(visitor: Visitor, key: Key) -> None:
    free, busy, done = key.ticket(), key.ticket(subject="Busy"), key.ticket()
    page = choose(visitor, free, busy, done, status="resolved")
    key.post(f"{TICKETS}/{busy['id']}/replies", {"body": "And another thing"})
    key.patch(f"{TICKETS}/{done['id']}", {"status": "closed"})
    page = confirm(visitor, page)
    assert "1 ticket was changed" in page.text and "2 were not changed" in page.text
    assert "It has changed since you opened this page." in page.text
    assert (now(key, free)["status"], now(key, busy)["status"]) == ("resolved", "open")


def test_a_ticket_that_cannot_be_stored_does_not_stop_the_others(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [key.ticket(), key.ticket(subject="Unlucky"), key.ticket()]
    page = choose(visitor, *tickets, priority="high")
    replace = ticket_store.replace

    async def fail(tx: Any, before: Any, after: Any) -> bytes:
        if before.subject == "Unlucky":
            raise ServiceUnavailable
        return await replace(tx, before, after)

    monkeypatch.setattr(ticket_store, "replace", fail)
    page = confirm(visitor, page)
    assert "2 tickets were changed" in page.text and "1 was not changed" in page.text
    assert "It could not be stored right now." in page.text
    priorities = [now(key, ticket)["priority"] for ticket in tickets]
    assert priorities == ["high", "medium", "high"]


def test_tickets_of_another_tenant_are_not_found(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    mine = key.ticket()
    strange = tenant.service.tenant().key()
    theirs = strange.ticket(subject="Not yours to see")
    page = choose(visitor, mine, theirs, status="resolved")
    assert "It no longer exists." in page.text and "Not yours" not in page.text
    form = page.form(f"{BULK}?status=all")
    fields = [*form.fields, ("confirmed", f'{theirs["id"]} "1.1"')]
    page = visitor.post(form.action, fields)
    assert "1 ticket was changed" in page.text and "It no longer exists." in page.text
    assert now(strange, theirs) == theirs


def test_a_user_of_another_tenant_cannot_be_assigned(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket()
    stranger = visitor.service.tenant().user("agent")
    page = choose(visitor, ticket, assignee=stranger)
    assert (page.status, "is no longer available" in page.text) == (422, True)
    fields = [*visitor.get(INBOX).form(BULK).fields, ("assignee", stranger)]
    fields.append(("confirmed", f'{ticket["id"]} "1.1"'))
    visitor.post(BULK, [field for field in fields if field != ("assignee", "")])
    assert now(key, ticket) == ticket


def test_assigned_tickets_can_become_unassigned(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(assignee_id=tenant.user("agent"))
    page = choose(visitor, ticket, assignee="nobody")
    assert "Assigned to Nobody" in page.text
    confirm(visitor, page)
    assert now(key, ticket)["assignee_id"] is None


def test_without_tickets_or_a_change_the_page_says_what_to_do(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket()
    page = choose(visitor, status="resolved")
    assert (page.status, "No tickets selected" in page.text) == (422, True)
    page = choose(visitor, ticket)
    assert (page.status, "What should be changed?" in page.text) == (422, True)
    form = visitor.get(INBOX).form(BULK)
    assert visitor.submit(form, ticket="nonsense", status="open").status == 422
    assert visitor.submit(form, ticket=ticket["id"], status="nonsense").status == 422
    assert visitor.submit(form, confirmed=ticket["id"], status="open").status == 422
    assert now(key, ticket) == ticket


def test_the_link_back_leads_to_the_same_query(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket(priority="high")
    view = f"{INBOX}?priority=high&sort=newest"
    form = visitor.get(view).form(f"{BULK}?priority=high&sort=newest")
    page = visitor.submit(form, ticket=ticket["id"], priority="low")
    assert view in page.links
    page = visitor.submit(page.form(form.action))
    assert view in page.links and ("section", "data-address", view) in page.attributes
    assert ticket_ids(visitor.get(view)) == []


class _Behind(Visitor):
    """A browser that uses a proxy which strips a path prefix."""

    def once(self, method: str, path: str, body: bytes = b"", **headers: str) -> httpx.Response:
        return super().once(method, path.removeprefix("/support"), body, **headers)


def test_behind_a_prefix_a_reload_leads_to_the_same_query(
    start: Callable[..., Service],
) -> None:
    tenant = start(SEALDESK_EXTERNAL_PATH_PREFIX="/support").tenant()
    (ticket_id,) = create_tickets(tenant, [PlannedTicket({}, tenant.service.clock.now_us())])
    visitor = _Behind(tenant.service)
    visitor.post("/log-in", [("email", tenant.admin_email), ("password", PASSWORD)])
    bulk = f"/support{BULK}?status=all"
    form = visitor.get(f"{INBOX}?status=all").form(bulk)
    page = visitor.submit(form, ticket=ticket_id, status="pending")
    page = visitor.submit(page.form(bulk))
    assert "1 ticket was changed" in page.text
    assert ("section", "data-address", f"/support{INBOX}?status=all") in page.attributes


def test_selected_tickets_are_read_in_one_query(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [key.ticket() for _ in range(3)]
    form, asked = visitor.get(INBOX).form(BULK), []
    look = ticket_store.list_by_ids

    async def noted(tx: Any, tenant_id: str, chosen: Any) -> Any:
        asked.append(sorted(chosen))
        return await look(tx, tenant_id, chosen)

    monkeypatch.setattr(ticket_store, "list_by_ids", noted)
    monkeypatch.setattr(ticket_store, "find", None)
    ids = sorted(ticket["id"] for ticket in tickets)
    assert visitor.submit(form, ticket=ids, status="pending").status == 200
    assert asked == [ids]


def test_hostile_subjects_are_shown_as_text(visitor: Visitor, key: Key) -> None:
    tickets = [key.ticket(subject=text.replace("\0", "")[:200]) for text in HOSTILE_TEXTS]
    page = choose(visitor, *tickets, priority="low")
    for each in (page, confirm(visitor, page)):
        assert each.tags.count("script") == 1
        assert not [name for _, name, _ in each.attributes if name.startswith("on")]
        assert HOSTILE_TEXTS[0] in each.text
