"""Finding tickets by custom fields: words, filters of the search, and the chip of the list."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest

from sealdesk.search import rules
from tests.support.client import Key, Person
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_QUERIES, HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import INBOX, Visitor, ticket_ids
from tests.support.searching import wait_until_tickets
from tests.support.service import Tenant
from tests.tickets.custom_fields.factories import define


def _search(visitor: Visitor, query: str) -> list[str]:
    page = visitor.get(f"{INBOX}?{urlencode({'q': query})}")
    assert page.status == 200
    return ticket_ids(page)


def test_filters_by_custom_fields_find_exactly_their_values(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    values = {
        "carrier": "Größe L", "weight": 12.5, "count": 7, "due": "2026-11-30", "fragile": True,
        "list": ["red", "Blue"], "nested": {"deep": "hidden"}, "minus": -5, "star": "★",
        "no": False,
    }  # fmt: skip
    ticket = key.ticket(subject="Kettle", custom_fields=values)
    other = key.ticket(subject="Kettle", custom_fields={"carrier": "Größe LX", "weight": "DHL"})
    wait_until_tickets(tenant, "kettle", other["id"], ticket["id"])
    found = [ticket["id"]]
    for query, expected in {
        'field.carrier:"grosse l"': found, 'FIELD.CARRIER:"Größe L"': found,
        "field.carrier:größe": [], "field.weight:12.50": found, "field.count:7": found,
        "field.count:7.0": found, "field.count:70": [], "field.due:2026-11-30": found,
        "field.count:0.7e1": found,
        "field.fragile:yes": found, "field.fragile:true": found, "field.no:false": found,
        "field.list:blue": found, "field.deep:hidden": [], "field.minus:-5": found,
        "field.minus:5": [], "field.star:★": found, "kettle field.weight:dhl": [other["id"]],
        "field.weight:12.5 status:open": found, "field.weight:12.5 status:closed": [],
        "field.other:7": [], '"field.count:7"': [],
    }.items():  # fmt: skip
        assert _search(visitor, query) == expected, query


def test_a_defined_key_is_a_filter_by_itself(
    visitor: Visitor, admin: Person, tenant: Tenant, key: Key
) -> None:
    define(admin, "Order_No")
    define(admin, "status")
    ticket = key.ticket(subject="Kettle", custom_fields={"Order_No": "A-17", "status": "lost"})
    wait_until_tickets(tenant, "kettle", ticket["id"])
    assert _search(visitor, "order_no:a-17") == [ticket["id"]]
    assert _search(visitor, "order_no:a-18") == []
    assert _search(visitor, "field.status:lost") == [ticket["id"]]
    assert _search(visitor, "status:closed") == []


def test_the_search_finds_words_of_values(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(custom_fields={"note": "urgently needed", "odd": {"deep": ["inside"]}})
    wait_until_tickets(tenant, "urgently", ticket["id"])
    assert _search(visitor, "inside needed") == [ticket["id"]]


def test_a_changed_value_is_found_and_the_old_one_is_not(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    ticket = key.ticket(subject="Kettle", custom_fields={"a": "before"})
    wait_until_tickets(tenant, "kettle", ticket["id"])
    key.patch(f"/api/v1/external/tickets/{ticket['id']}", {"custom_fields": {"a": "after"}})
    wait_until_tickets(tenant, "after", ticket["id"])
    assert _search(visitor, "field.a:after") == [ticket["id"]]
    assert _search(visitor, "field.a:before") == []


def test_the_chip_filters_the_list_and_its_views(
    visitor: Visitor, admin: Person, tenant: Tenant, key: Key
) -> None:
    define(admin, "carrier", "choice", label="Carrier")
    define(admin, "fragile", "checkbox", label="Fragile")
    define(admin, "size", "number")
    tickets = [
        key.ticket(subject="Kettle", custom_fields=values)["id"]
        for values in ({"carrier": "DHL"}, {"carrier": "UPS", "fragile": True}, {})
    ]
    done = key.ticket(subject="Kettle", custom_fields={"carrier": "UPS"}, status="resolved")["id"]
    wait_until_tickets(tenant, "kettle", done, *reversed(tickets))
    page = visitor.get(INBOX)
    options = {value for tag, name, value in page.attributes if (tag, name) == ("option", "value")}
    assert {"carrier:DHL", "carrier:UPS", "fragile:yes", "fragile:no"} <= options
    assert "size:" not in str(options)
    page = visitor.get(f"{INBOX}?field=carrier%3AUPS")
    assert ticket_ids(page) == [tickets[1]]
    assert ("field", "carrier:UPS") in [field for form in page.forms for field in form.fields]
    assert ticket_ids(visitor.get(f"{INBOX}?field=carrier%3AUPS&status=all")) == [done, tickets[1]]
    assert ticket_ids(visitor.get(f"{INBOX}?field=carrier%3AUPS&q=kettle+fragile:no")) == []
    form = visitor.get("/tickets/views/new?field=carrier%3AUPS").form("/tickets/views")
    saved = visitor.submit(form, name="By UPS", owner="me")
    assert ticket_ids(saved) == [tickets[1]]


def test_hostile_filters_are_shown_as_text(visitor: Visitor, key: Key) -> None:
    key.ticket()
    for text in HOSTILE_TEXTS:
        for asked in (f"field=a:{quote(text)}", f"q={quote(f'field.a:{text}')}"):
            page = visitor.get(f"{INBOX}?{asked}")
            assert page.status == 200
            assert_page_is_secure(page)
    for text in (query for query in HOSTILE_QUERIES if "\0" not in query):
        asked = quote(f"field.a:{text}", errors="replace")[:4000]
        assert visitor.get(f"{INBOX}?q={asked}").status == 200


def test_values_of_another_tenant_are_not_found(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    foreign = tenant.service.tenant()
    ticket = foreign.key().ticket(subject="Kettle", custom_fields={"a": "secret"})
    wait_until_tickets(foreign, "kettle", ticket["id"])
    own = key.ticket(subject="Kettle")
    wait_until_tickets(tenant, "kettle", own["id"])
    assert _search(visitor, "field.a:secret") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": "b c"}, {"a": "b", "c": "c"}),
        ({"ab": "c"}, {"a": "bc"}),
        ({"a": "1.5"}, {"a": "1 5"}),
        ({"a": 5}, {"a": -5}),
    ],
)
def test_different_values_have_different_words(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not {*rules.field_words(one).split()} & {*rules.field_words(other).split()}


@for_each("sent", ["1e21", "1E2", "1e-7", "0.0000001", "-0.0", "12345678901234567890.5", "-1.5e+3"])
def test_a_number_is_found_as_it_was_sent(sent: str) -> None:
    term = rules.field_term("n", sent)
    stored = rules.field_words({"n": float(sent)})
    assert stored in (*term.words, *term.others)


def test_the_words_of_values_are_bounded() -> None:
    many = {f"k{number}": number for number in range(1000)}
    assert len(rules.field_words(many).split()) == 200
    assert rules.field_words({"a": "x" * 256, "b": None, "c": {}, "d": ""}) == ""
