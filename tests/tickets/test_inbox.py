"""The inbox: its tickets, its links, and its notice of new tickets."""

import html
import re
import subprocess
from typing import Any

import pytest

from sealdesk import ids
from sealdesk.errors import QueryTooSlow
from sealdesk.tickets.pages import inbox as inbox_pages
from sealdesk.tickets.ticket.store import lists
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.pages import INBOX, Form, Page, Visitor, ticket_ids
from tests.support.searching import wait_until_customers
from tests.support.service import Service, Tenant
from tests.tickets.factories import PlannedTicket, create_tickets

TICKETS = "/api/v1/external/tickets"
_NOW = 1_790_000_000_000_000


def made(tenant: Tenant, *each: dict[str, Any]) -> list[str]:
    """The ids of new tickets, each created one second after the previous one."""
    return create_tickets(
        tenant, [PlannedTicket(fields, _NOW + n * 1_000_000) for n, fields in enumerate(each)]
    )


def filters(page: Page) -> Form:
    """The form of the filters, not that of the search."""
    (found,) = [form for form in page.forms if "tag" in dict(form.fields)]
    return found


def test_the_inbox_shows_open_tickets_last_changed_first(visitor: Visitor, tenant: Tenant) -> None:
    fields = {"customer": {"email": "ann@example.test", "name": "Ann"}, "priority": "urgent"}
    old, new, _ = made(tenant, fields, {}, {"subject": "Done", "status": "resolved"})
    page = visitor.get(INBOX)
    assert (page.status, ticket_ids(page)) == (200, [new, old])
    assert re.search(r"Urgent #1 Ann .* Assigned to nobody waiting \d+ d", page.text)
    assert "Done" not in page.text
    assert "Open 2 Pending 0 On hold 0 Resolved 1 Closed 0 All" in page.text


def test_each_tab_shows_its_status(visitor: Visitor, tenant: Tenant) -> None:
    statuses = ("open", "pending", "on_hold", "resolved")
    made_ids = made(tenant, *({"status": status} for status in statuses))
    for ticket_id, status in zip(made_ids, statuses, strict=True):
        assert ticket_ids(visitor.get(f"{INBOX}?status={status}")) == [ticket_id]
    assert ticket_ids(visitor.get(f"{INBOX}?status=all")) == made_ids[::-1]
    assert ticket_ids(visitor.get(f"{INBOX}?status=closed")) == []
    assert ticket_ids(visitor.get(f"{INBOX}?status=nonsense")) == [made_ids[0]]


def test_what_is_filtered_stands_above_the_list_and_an_order_is_no_filter(
    visitor: Visitor, key: Key
) -> None:
    key.ticket()
    for query, is_filtered in (("sort=due", False), ("sort=waiting&tag=vip", True)):
        shown = 'class="by"' in visitor.get(f"{INBOX}?{query}").answer.text
        assert (query, shown) == (query, is_filtered)


def test_filters_are_joined(visitor: Visitor, tenant: Tenant) -> None:
    me, bo = visitor_id(tenant), tenant.user("agent", f"bo.{tenant.id}@example.test", "Bo")
    mine, his, free = made(
        tenant,
        {"assignee_id": me, "priority": "high", "tags": ["refund"]},
        {"assignee_id": bo, "priority": "high", "customer": {"email": "Ann@example.test"}},
        {"tags": ["refund"]},
    )
    for query, found in {
        "assignee=me": [mine],
        f"assignee={bo}": [his],
        "assignee=nobody": [free],
        "priority=high": [his, mine],
        "tag=refund": [free, mine],
        "tag=refund&assignee=nobody": [free],
        "tag=none": [],
        "customer=ann@example.test": [his],
        "customer=%20ANN@example.test": [his],
        "customer=nobody@example.test": [],
        "customer=ann@example.test&assignee=me": [],
        "priority=high&sort=priority": [his, mine],
    }.items():
        assert ticket_ids(visitor.get(f"{INBOX}?{query}")) == found, query
    tenant.deactivate(bo)
    page = visitor.get(f"{INBOX}?assignee={bo}")
    assert "Ann@example.test" in page.text and "Bo (deactivated)" in page.text
    assert [filters(page).value("assignee"), page.answer.text.count(f'value="{bo}"')] == [bo, 1]


def test_a_row_shows_two_tags_and_how_many_more_there_are(visitor: Visitor, tenant: Tenant) -> None:
    made(tenant, {"tags": ["a1", "b2", "c3"]}, {"tags": ["a1", "b2", "c3", "d4", "e5"]})
    text = visitor.get(INBOX).text
    assert ("a1 b2 +1" in text, "a1 b2 +3" in text, "c3" in text) == (True, True, False)


def visitor_id(tenant: Tenant) -> str:
    return str(tenant.admin().get("/api/v1/auth/me").json()["data"]["id"])


def test_the_filter_form_shows_its_values_and_reports_an_unknown_customer(
    visitor: Visitor, tenant: Tenant
) -> None:
    made(tenant, {"customer": {"email": "ann@example.test"}})
    page = visitor.get(f"{INBOX}?status=all&priority=high&assignee=me&tag=a&sort=newest")
    form = filters(page)
    assert (form.method, form.action) == ("get", INBOX)
    for name, value in {
        "status": "all", "priority": "high", "assignee": "me", "tag": "a", "sort": "newest"
    }.items():  # fmt: skip
        assert form.value(name) == value
    page = visitor.get(f"{INBOX}?customer=who@example.test")
    assert filters(page).value("customer") == "who@example.test"
    assert "No customers found" in page.text
    customer = tenant.key().get("/api/v1/external/customers").json()["data"][0]["id"]
    page = visitor.get(f"{INBOX}?customer={customer}")
    assert filters(page).value("customer") == "ann@example.test"


def test_words_find_one_customer_or_suggest_several(visitor: Visitor, tenant: Tenant) -> None:
    ann, lee, _ = made(
        tenant,
        {"customer": {"email": "ann@example.test", "name": "Ann Lindgren"}},
        {"customer": {"email": "lee@example.test", "name": "Lee Linde"}},
        {"customer": {"email": "bo@example.test", "name": "Bo"}},
    )
    listed = tenant.key().get("/api/v1/external/customers").json()["data"]
    wait_until_customers(tenant, "exam", *(customer["id"] for customer in listed))
    page = visitor.get(f"{INBOX}?status=all&priority=medium&customer=lin+ann")
    assert ticket_ids(page) == [ann]
    assert filters(page).value("customer") == "ann@example.test"
    assert filters(page).value("priority") == "medium"
    page = visitor.get(f"{INBOX}?status=all&customer=lind")
    assert ticket_ids(page) == []
    assert "Which customer?" in page.text and "Bo" not in page.text
    to_lee, to_ann = [link for link in page.links if re.search("customer=[0-9a-f-]{36}", link)]
    assert [ticket_ids(visitor.get(to_lee)), ticket_ids(visitor.get(to_ann))] == [[lee], [ann]]
    page = visitor.get(f"{INBOX}?customer=nobody+lind")
    assert "No customers found" in page.text and "Which customer?" not in page.text


def test_a_foreign_customer_and_person_are_nobody_here(visitor: Visitor, tenant: Tenant) -> None:
    made(tenant, {})
    other = tenant.service.tenant()
    theirs = other.key().ticket(customer={"email": f"secret.{other.id}@example.test"})
    page = visitor.get(f"{INBOX}?customer={theirs['customer']['id']}")
    assert (page.status, ticket_ids(page)) == (200, [])
    assert "secret" not in page.text
    assert ticket_ids(visitor.get(f"{INBOX}?assignee={visitor_id(other)}")) == []


@pytest.mark.parametrize("sort", ["newest", "changed", "priority", "waiting"])
def test_older_and_newer_lead_through_all_tickets_and_back(
    visitor: Visitor, tenant: Tenant, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_pages, "PER_PAGE", 2)
    ranks = ["low", "urgent", "low", "high", "high"]
    made_ids = made(tenant, *({"priority": priority} for priority in ranks))
    wanted = made_ids[::-1]
    if sort == "priority":
        wanted = [made_ids[n] for n in (1, 4, 3, 2, 0)]
    if sort == "waiting":
        wanted = made_ids
    page = visitor.get(f"{INBOX}?sort={sort}")
    forth = [ticket_ids(page)]
    while older := turned(page, "next"):
        page = visitor.get(older)
        forth.append(ticket_ids(page))
    assert [len(each) for each in forth] == [2, 2, 1]
    assert [one for each in forth for one in each] == wanted
    back = []
    while newer := turned(page, "prev"):
        page = visitor.get(newer)
        back.append(ticket_ids(page))
    assert back == forth[-2::-1]


def turned(page: Page, rel: str) -> str:
    """The URL of the link "older" (next) or "newer" (prev), "" when there is none."""
    for place, (tag, name, value) in enumerate(page.attributes):
        if (tag, name, value) == ("a", "rel", rel):
            return page.attributes[place - 1][2]
    return ""


@pytest.mark.parametrize(
    "before", ["x", "_", "1_x", f"{'9' * 20}_{ids.NONE}", f"%C2%B2_{ids.NONE}"]
)
def test_an_invalid_position_is_ignored(visitor: Visitor, tenant: Tenant, before: str) -> None:
    (one,) = made(tenant, {})
    for sort in ("newest", "changed"):
        assert ticket_ids(visitor.get(f"{INBOX}?sort={sort}&before={before}")) == [one]


def test_a_position_without_a_valid_priority_is_ignored(visitor: Visitor, tenant: Tenant) -> None:
    (one,) = made(tenant, {})
    for rank in ("99999", "00000"):
        assert ticket_ids(visitor.get(f"{INBOX}?sort=priority&before={rank}_{ids.NONE}")) == [one]


def test_counting_stops_at_a_limit(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MAX_COUNT", 2)
    monkeypatch.setattr(lists, "_COUNT", lists._COUNT.replace("LIMIT 1001", "LIMIT 3"))
    made(tenant, *[{}] * 5, {"status": "pending"}, {"status": "pending"})
    assert "Open 2+ Pending 2 On hold 0" in visitor.get(INBOX).text


def test_the_error_of_a_slow_query_has_a_remedy(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tenant, {})

    async def cut_off(*_: Any) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(lists, "list_inbox", cut_off)
    page = visitor.get(f"{INBOX}?tag=a&sort=changed")
    assert page.status == 503
    assert "Use fewer filters" in page.text
    assert filters(page).value("tag") == "a"


def test_hostile_text_is_shown_as_text(visitor: Visitor, tenant: Tenant) -> None:
    for text in HOSTILE_TEXTS:
        usable = text.replace("\0", "")[:60]
        made(
            tenant,
            {
                "subject": usable,
                "tags": [usable],
                "customer": {"email": "a@example.test", "name": usable},
            },
        )
    page = visitor.get(INBOX)
    assert all(" ".join(text[:60].split()) in page.text for text in HOSTILE_TEXTS if text.strip())
    assert page.tags.count("script") == 1
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    page = visitor.get(f"{INBOX}?tag=%22%3E%3Cscript%3E&customer=%22%3E%3Cscript%3E")
    assert page.tags.count("script") == 1
    assert filters(page).value("tag") == '"><script>'


def polled(page: Page) -> str:
    (address,) = [value for _, name, value in page.attributes if name == "data-poll"]
    return address


def test_new_tickets_are_counted_from_the_newest_one_shown(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    key.ticket()
    address = polled(visitor.get(INBOX))
    assert visitor.get(address).text == ""
    key.ticket()
    assert visitor.get(address).text == "1 ticket is new or changed. Show it."
    key.ticket()
    key.ticket(status="pending")
    page = visitor.get(address)
    assert page.text == "2 tickets are new or changed. Show them."
    assert page.links == [INBOX]
    assert visitor.get(polled(visitor.get(INBOX))).text == ""


def test_replies_and_changes_of_tickets_in_view_are_counted(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    old, older = key.ticket(), key.ticket()
    for query in ("", "?sort=newest", "?sort=priority&tag=none", "?waiting=yes"):
        address = polled(visitor.get(f"{INBOX}{query}"))
        assert visitor.get(address).text == ""
        key.post(f"{TICKETS}/{old['id']}/replies", {"body": "?", "author": {"type": "customer"}})
        key.patch(f"{TICKETS}/{older['id']}", {"priority": "low"})
        key.patch(f"{TICKETS}/{older['id']}", {"priority": "high"})
        text = "" if "tag" in query else "2 tickets are new or changed. Show them."
        assert visitor.get(address).text == text, query


def test_an_answered_ticket_comes_first(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    first, second = key.ticket()["id"], key.ticket()["id"]
    assert ticket_ids(visitor.get(INBOX)) == [second, first]
    key.post(f"{TICKETS}/{first}/replies", {"body": "And now?", "author": {"type": "customer"}})
    assert ticket_ids(visitor.get(INBOX)) == [first, second]
    key.post(f"{TICKETS}/{first}/replies", {"body": "Soon."})
    assert ticket_ids(visitor.get(f"{INBOX}?status=all&waiting=yes")) == [second]
    assert ticket_ids(visitor.get(f"{INBOX}?status=all&sort=waiting")) == [second]


def test_new_tickets_are_counted_with_the_filters_of_the_page(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    key.ticket()
    address = polled(visitor.get(f"{INBOX}?status=all&priority=urgent&sort=newest"))
    key.ticket()
    assert visitor.get(address).text == ""
    urgent = key.ticket(priority="urgent")
    page = visitor.get(address)
    assert page.text == "1 ticket is new or changed. Show it."
    assert page.links == [f"{INBOX}/{urgent['id']}"]
    key.ticket(priority="urgent")
    page = visitor.get(address)
    assert page.text == "2 tickets are new or changed. Show them."
    assert page.links == [f"{INBOX}?status=all&priority=urgent&sort=newest"]
    assert visitor.get(f"{INBOX}/arrived?since=nonsense").text == ""


def test_a_ticket_committed_after_an_empty_page_was_shown_is_new(
    visitor: Visitor, tenant: Tenant
) -> None:
    made(tenant, {})
    address = polled(visitor.get(f"{INBOX}?status=pending"))
    under_way = PlannedTicket({"status": "pending"}, tenant.service.clock.now_us() - 5_000_000)
    create_tickets(tenant, [under_way])
    assert visitor.get(address).text == "1 ticket is new or changed. Show it."


def test_new_tickets_are_counted_up_to_a_limit(visitor: Visitor, tenant: Tenant) -> None:
    address = polled(visitor.get(INBOX)).replace("status=all&", "")
    made(tenant, *[{}] * 26)
    assert "first ticket has arrived" in visitor.get(address).text
    text = visitor.get(address.replace("since=0_", "since=1_")).text
    assert text == "More than 25 tickets are new or changed. Show them."


def test_an_empty_desk_shows_the_first_steps_until_the_first_ticket(
    visitor: Visitor, key: Key
) -> None:
    for each in ("?view=unassigned", "?status=closed&priority=high", ""):
        page = visitor.get(INBOX + each)
        assert "Your desk is ready" in page.text, each
    others = ("/customers", "/notifications", "/team-now", "/reports")
    assert [each for each in others if "Let tickets arrive" not in visitor.get(each).text] == []
    assert f"export SEALDESK_API_URL={visitor.service.url}" in page.text
    assert "Let tickets arrive Done" in page.text and "colleagues Done" not in page.text
    assert visitor.get(polled(page)).text == ""
    command = html.unescape(page.answer.text.partition('id="first-ticket"')[2])
    command = command.partition(">")[2].partition("</pre>")[0]
    for name, value in (("KEY", key.api_key), ("SECRET", key.api_secret)):
        command = command.replace(f"SEALDESK_API_{name}='…'", f"SEALDESK_API_{name}='{value}'")
    subprocess.run(["sh", "-eu", "-c", command], check=True, capture_output=True, timeout=300)
    response = visitor.get(polled(page))
    assert response.text == "Your first ticket has arrived. Show it."
    (link,) = response.links
    assert link.startswith(f"{INBOX}/") and "This is our first ticket." in visitor.get(link).text


def test_the_first_step_is_to_create_a_key_while_there_is_none(
    visitor: Visitor, tenant: Tenant
) -> None:
    other = tenant.service.tenant().key()
    page = visitor.get(INBOX)
    assert "/settings/api-keys/new" in page.links and "arrive Done" not in page.text
    assert {"/settings/email/new", "/settings/email/form"} <= {*page.links}
    tenant.user("agent", f"bo.{tenant.id}@example.test", "Bo")
    key = tenant.key()
    assert "Invite your colleagues Done" in visitor.get(INBOX).text
    assert "/settings/api-keys/new" not in visitor.get(INBOX).links
    tenant.admin().delete(f"/api/v1/api-keys/{key.id}")
    assert "/settings/api-keys/new" in visitor.get(INBOX).links
    assert other.ticket()["number"] == 1


def test_an_agent_reads_who_can_create_keys(service: Service, tenant: Tenant) -> None:
    tenant.user("agent", email := f"agent.{tenant.id}@example.test")
    visitor = Visitor(service)
    page = visitor.log_in(email)
    assert "An administrator of your desk sets this up" in page.text
    assert "/settings/api-keys/new" not in page.links
