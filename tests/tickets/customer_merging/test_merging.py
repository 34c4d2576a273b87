"""Merging customers and undoing it, through the API."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sealdesk.tickets.customer_merging import rules
from sealdesk.tickets.merging.rules import UNDO_HOURS
from tests.support.client import Key
from tests.support.pages import logged_in, ticket_ids
from tests.support.service import Service, Tenant

CUSTOMERS = "/api/v1/external/customers"
TICKETS = "/api/v1/external/tickets"
HOME, WORK = "maria@home.example", "Maria@work.example"


def merge(key: Key, source: dict[str, Any], target: dict[str, Any]) -> httpx.Response:
    return key.post(f"{CUSTOMERS}/{source['id']}/merge", {"into": target["id"]})


def undo(key: Key, source: dict[str, Any]) -> httpx.Response:
    return key.delete(f"{CUSTOMERS}/{source['id']}/merge")


def read(key: Key, customer: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{CUSTOMERS}/{customer['id']}").json()["data"]
    return shown


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def owner(key: Key, ticket: dict[str, Any]) -> str:
    return str(key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["customer"]["id"])


def opened_by(key: Key, email: str) -> str:
    return str(key.ticket(customer={"email": email})["customer"]["id"])


def without_stamps(customer: dict[str, Any]) -> dict[str, Any]:
    return {name: customer[name] for name in customer if name not in ("version", "updated_at")}


def test_the_other_customer_has_the_tickets_the_addresses_and_what_it_lacked(key: Key) -> None:
    target = key.customer(HOME, name="Maria", phone="+351 1", metadata={"plan": "pro"})
    source = key.customer(
        WORK, name="M. Santos", phone="+351 2", company="Ceramics", metadata={"plan": "x", "n": 1}
    )
    ticket = key.ticket(customer={"email": WORK})
    merged = merge(key, source, target)
    assert merged.status_code == 200, merged.text
    shown = merged.json()["data"]
    assert shown == read(key, target)
    assert merged.headers["etag"] == f'"{shown["version"]}"'
    assert without_stamps(shown) == {
        **without_stamps(target),
        "company": "Ceramics",
        "metadata": {"plan": "pro", "n": 1},
        "other_emails": [WORK],
        "other_phones": ["+351 2"],
    }
    assert owner(key, ticket) == target["id"]
    assert opened_by(key, WORK.lower()) == target["id"]


def test_a_merged_customer_is_read_and_names_the_other_one_but_takes_no_changes(key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    merge(key, source, target)
    path = f"{CUSTOMERS}/{source['id']}"
    shown = read(key, source)
    assert (shown["email"], shown["merged_into_id"]) == (WORK, target["id"])
    for response in (
        key.patch(path, {"name": "N"}),
        key.delete(path),
        merge(key, source, target),
        merge(key, target, source),
    ):
        assert code(response) == (409, "customer_merged")
        assert response.json()["merged_into_id"] == target["id"]
    assert [each["id"] for each in key.walk(CUSTOMERS)] == [target["id"]]
    last = key.customer("last@home.example")
    merge(key, target, last)
    assert key.patch(path, {"name": "N"}).json()["merged_into_id"] == last["id"]


@pytest.mark.parametrize("email", [WORK, "new@home.example"])
def test_an_upsert_by_the_external_id_of_a_merged_customer_names_the_other_one(
    key: Key, email: str
) -> None:
    target, source = key.customer(HOME, external_id="E-1"), key.customer(WORK, external_id="E-2")
    merge(key, source, target)
    response = key.call("PUT", f"{CUSTOMERS}/by-external-id/E-2", {"email": email})
    assert code(response) == (409, "customer_merged")
    ids = (response.json()["customer_id"], response.json()["merged_into_id"])
    assert ids == (source["id"], target["id"])
    assert [each["id"] for each in key.walk(CUSTOMERS)] == [target["id"]]


def test_lists_by_a_merged_customer_show_what_the_other_one_has(tenant: Tenant, key: Key) -> None:
    target, source = key.customer(HOME, external_id="E-1"), key.customer(WORK, external_id="E_2")
    other = key.customer("other@home.example")
    ticket = key.ticket(customer={"email": HOME})
    visitor = logged_in(tenant)
    form = visitor.get(f"/tickets/views/new?customer={source['id']}").form("/tickets/views")
    view = visitor.submit(form, name="Theirs", owner="me").answer.extensions["target"]
    lists = [f"{TICKETS}?customer_id={source['id']}&{more}" for more in ("sort=asc", "tag=a")]
    assert [key.get(each).json()["data"] for each in lists] == [[], []]
    key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["a"]})
    merge(key, source, target)
    merge(key, target, other)
    found = [ticket["id"]]
    for each in lists:
        assert [one["id"] for one in key.get(each).json()["data"]] == found
    email = f"customer_id={source['id']}&customer_email={HOME}"
    assert [one["id"] for one in key.walk(f"{TICKETS}?{email}")] == found
    for path in (
        view,
        f"/tickets?customer={source['id']}",
    ):
        page = visitor.get(str(path))
        assert (ticket_ids(page), "no longer exists" in page.text) == (found, False), path
    csv = visitor.get(f"/tickets/export/file?customer={source['id']}").answer.text
    assert ticket["id"] in csv
    assert key.walk(f"{CUSTOMERS}?external_id=E_2")[0]["merged_into_id"] == target["id"]
    assert key.walk(f"{CUSTOMERS}?external_id=E-2") == []
    assert [one["id"] for one in key.walk(f"{CUSTOMERS}?email={WORK}")] == [other["id"]]


def test_the_etag_of_a_ticket_that_moves_changes(key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    path = f"{TICKETS}/{key.ticket(customer={'email': WORK})['id']}"
    key.patch(f"{CUSTOMERS}/{source['id']}", {"name": "Of the same version as the other one"})
    before = key.get(path).headers["etag"]
    merge(key, source, target)
    merged = key.get(path).headers["etag"]
    undo(key, source)
    assert len({before, merged, key.get(path).headers["etag"]}) == 3


def test_undoing_gives_the_customer_everything_back(key: Key) -> None:
    target = key.customer(HOME, metadata={"a": 1})
    source = key.customer(WORK, name="M", phone="+351 2", metadata={"b": 2})
    before = key.ticket(customer={"email": WORK})
    merge(key, source, target)
    later = key.ticket(customer={"email": WORK})
    undone = undo(key, source)
    assert undone.status_code == 200, undone.text
    assert undone.json()["data"] == read(key, source)
    assert without_stamps(read(key, source)) == without_stamps(source)
    assert without_stamps(read(key, target)) == without_stamps(target)
    assert (owner(key, before), owner(key, later)) == (source["id"], target["id"])
    assert opened_by(key, WORK) == source["id"]
    assert code(undo(key, source)) == (409, "not_merged")


def test_what_was_changed_after_the_merge_stays_with_the_other_customer(key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK, name="M", company="C")
    merge(key, source, target)
    key.patch(f"{CUSTOMERS}/{target['id']}", {"name": "Maria", "other_phones": ["7"]})
    undo(key, source)
    shown = read(key, target)
    assert (shown["name"], shown["company"], shown["other_phones"]) == ("Maria", None, ["7"])


def test_a_merge_is_undone_within_a_day_and_before_the_next_one(own_service: Service) -> None:
    key = own_service.tenant().key()
    first, second, third = (key.customer(f"{n}@shop.example") for n in range(3))
    merge(key, first, second)
    own_service.clock.advance(UNDO_HOURS * 3600)
    assert code(undo(key, first)) == (409, "merge_final")
    merge(key, second, third)
    assert read(key, first)["merged_into_id"] == second["id"]
    assert opened_by(key, "0@shop.example") == third["id"]
    own_service.clock.advance(UNDO_HOURS * 3600 - 60)
    assert undo(key, second).status_code == 200
    assert opened_by(key, "0@shop.example") == second["id"]


def test_an_address_that_is_anothers_meanwhile_is_not_taken_back(key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    merge(key, source, target)
    key.patch(f"{CUSTOMERS}/{target['id']}", {"other_emails": []})
    other = key.customer(WORK)
    refused = undo(key, source)
    assert code(refused) == (409, "customer_email_taken")
    assert refused.json()["existing_id"] == other["id"]
    assert read(key, source)["merged_into_id"] == target["id"]


def test_a_customer_is_not_merged_into_themselves_nor_into_nobody(key: Key) -> None:
    source = key.customer(WORK)
    assert code(merge(key, source, source)) == (409, "merge_into_itself")
    refused = merge(key, source, {"id": str(uuid.uuid4())})
    assert code(refused) == (422, "validation_failed")
    assert refused.json()["errors"][0]["code"] == "unknown_customer"
    assert read(key, source) == source


def test_customers_of_another_tenant_do_not_exist(tenant: Tenant, key: Key) -> None:
    own, stranger = key.customer(HOME), tenant.service.tenant().key()
    theirs = stranger.customer(WORK)
    assert merge(stranger, own, theirs).status_code == 404
    assert merge(key, own, theirs).status_code == 422
    assert undo(stranger, own).status_code == 404
    assert (read(key, own), read(stranger, theirs)) == (own, theirs)


def test_an_erased_customer_is_not_merged(tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:read", "customers:write", "customers:erase"])
    erased, other = key.customer(HOME), key.customer(WORK)
    key.post(f"{CUSTOMERS}/{erased['id']}/erase", {})
    for pair in ((erased, other), (other, erased)):
        refused = merge(key, *pair)
        assert code(refused) == (409, "customer_erased")
        assert refused.json()["customer_id"] == erased["id"]
    assert read(key, other) == other


def test_erasing_takes_those_who_were_merged_too(tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:read", "customers:write", "customers:erase"])
    first, second, third = (key.customer(f"{n}@shop.example", name=f"Nell{n}") for n in range(3))
    merge(key, first, second)
    merge(key, second, third)
    assert code(key.post(f"{CUSTOMERS}/{first['id']}/erase", {})) == (409, "customer_merged")
    assert key.post(f"{CUSTOMERS}/{third['id']}/erase", {}).status_code == 202
    for each in (first, second):
        shown = read(key, each)
        assert (shown["name"], shown["email"]) == (None, f"{each['id']}@erased.invalid")
        refused = undo(key, each)
        assert code(refused) == (409, "merge_final") and "erased" in refused.json()["detail"]
    again = key.customer("0@shop.example")
    assert again["id"] != third["id"]


def test_deleting_the_other_customer_deletes_the_merged_one(key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    merge(key, source, target)
    assert key.delete(f"{CUSTOMERS}/{target['id']}").status_code == 204
    assert key.get(f"{CUSTOMERS}/{source['id']}").status_code == 404
    assert undo(key, source).status_code == 404
    assert key.customer(WORK)["id"] != source["id"]


def test_too_much_for_one_customer_moves_nothing(key: Key) -> None:
    target = key.customer(HOME, metadata={"a": "x" * 9000})
    source = key.customer(WORK, metadata={"b": "x" * 9000})
    many = [f"{n}@many.example" for n in range(20)]
    other = key.customer("first@many.example", other_emails=many)
    for pair in ((source, target), (source, other)):
        refused = merge(key, *pair)
        assert code(refused) == (422, "validation_failed")
        assert refused.json()["errors"][0]["pointer"] == "/into"
    assert [read(key, each) for each in (source, target, other)] == [source, target, other]


def test_the_feed_and_the_audit_log_tell_of_a_merge(tenant: Tenant, key: Key) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    merge(key, source, target)
    undo(key, source)
    tenant.service.settle()
    events = key.get("/api/v1/external/events").json()["data"][2:]
    assert [(each["type"], each["data"]["object"]["id"]) for each in events] == [
        ("customer.merged", source["id"]),
        ("customer.updated", target["id"]),
        ("customer.updated", source["id"]),
        ("customer.updated", target["id"]),
    ]
    assert events[0]["data"]["changes"] == {"merged_into_id": [None, target["id"]]}
    assert events[1]["data"]["changes"] == {"other_emails": [[], [WORK]]}
    assert events[2]["data"]["changes"] == {"merged_into_id": [target["id"], None]}
    sql = "SELECT action, object_id FROM audit WHERE tenant_id = :id ORDER BY id LIMIT 100"
    rows = tenant.service.rows(sql, id=tenant.id)
    told = [tuple(row) for row in rows if row[0].startswith("customer.")]
    assert told == [("customer.merged", source["id"]), ("customer.unmerged", source["id"])]


def test_tickets_that_are_opened_meanwhile_are_the_survivors(tenant: Tenant) -> None:
    key = tenant.key()
    pairs = [(key.customer(f"a{n}@s.example"), key.customer(f"b{n}@s.example")) for n in range(6)]

    def merge_or_open(n: int) -> Any:
        source, target = pairs[n // 3]
        if n % 3 == 0:
            return merge(key, source, target).status_code
        return key.ticket(customer={"email": source["email"]})

    with ThreadPoolExecutor(9) as pool:
        results = list(pool.map(merge_or_open, range(18)))
    assert set(results[::3]) == {200}
    for n, (_, target) in enumerate(pairs):
        assert {owner(key, each) for each in results[3 * n + 1 : 3 * n + 3]} == {target["id"]}


def test_two_merges_at_once_make_no_circle(tenant: Tenant) -> None:
    key = tenant.key()
    one, two = key.customer(HOME), key.customer(WORK)
    with ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(lambda pair: merge(key, *pair), ((one, two), (two, one))))
    assert sorted(each.status_code for each in responses) == [200, 409]


def test_more_tickets_than_may_move_stay(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = key.customer(HOME), key.customer(WORK)
    tickets = [key.ticket(customer={"email": WORK}) for _ in range(2)]
    monkeypatch.setattr(rules, "MAX_TICKETS", 1)
    assert code(merge(key, source, target)) == (409, "too_many_tickets")
    assert {owner(key, each) for each in tickets} == {source["id"]}
    monkeypatch.setattr(rules, "MAX_TICKETS", 2)
    assert merge(key, source, target).status_code == 200


def test_a_merge_and_an_erasure_at_once_leave_nothing_of_the_person(tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:read", "customers:write", "customers:erase"])
    pairs = [(key.customer(f"a{n}@s.example"), key.customer(f"b{n}@s.example")) for n in range(6)]

    def merge_or_erase(n: int) -> int:
        source, target = pairs[n // 2]
        if n % 2:
            return merge(key, source, target).status_code
        return key.post(f"{CUSTOMERS}/{target['id']}/erase", None).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(merge_or_erase, range(12)))
    assert set(statuses[::2]) == {202}
    for status, (source, target) in zip(statuses[1::2], pairs, strict=True):
        assert read(key, target)["email"].endswith("@erased.invalid")
        shown = read(key, source)
        is_erased = shown["email"].endswith("@erased.invalid")
        assert (status, is_erased, shown["merged_into_id"]) in (
            (200, True, target["id"]),
            (409, False, None),
        )
