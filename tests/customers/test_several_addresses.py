"""Several e-mail addresses and phone numbers of one customer, through the API."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.client import Key
from tests.support.searching import wait_until_customers
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"
TICKETS = "/api/v1/external/tickets"
FIRST, OTHER = "ana@home.example", "ana@work.example"


def test_who_writes_from_a_further_address_is_the_same_customer(key: Key) -> None:
    ana = key.customer(FIRST, other_emails=[OTHER], other_phones=["+49 30 1", "+49 30 2"])
    assert (ana["other_emails"], ana["other_phones"]) == ([OTHER], ["+49 30 1", "+49 30 2"])
    ticket = key.ticket(customer={"email": OTHER.upper()})
    assert ticket["customer"] == {"id": ana["id"], "email": FIRST, "name": ana["name"]}
    assert key.walk(f"{CUSTOMERS}?email={OTHER}") == [ana]
    assert [each["id"] for each in key.walk(f"{TICKETS}?customer_email={OTHER}")] == [ticket["id"]]


def test_the_lists_are_replaced_and_cleared(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer(FIRST, other_emails=[OTHER])['id']}"
    changed = key.patch(path, {"other_emails": ["b@x.example", FIRST, "B@x.example"]}).json()
    assert changed["data"]["other_emails"] == ["b@x.example"]
    assert key.customer(OTHER)["id"] != changed["data"]["id"]
    cleared = key.patch(path, {"other_emails": None, "other_phones": None}).json()["data"]
    assert (cleared["other_emails"], cleared["other_phones"]) == ([], [])
    assert key.patch(path, cleared).json()["data"] == cleared


def test_a_further_address_changes_places_with_the_first_one(key: Key) -> None:
    ana = key.customer(FIRST, other_emails=[OTHER])
    changed = key.patch(f"{CUSTOMERS}/{ana['id']}", {"email": OTHER}).json()["data"]
    assert (changed["email"], changed["other_emails"]) == (OTHER, [FIRST])
    assert key.ticket(customer={"email": FIRST})["customer"]["id"] == ana["id"]


@pytest.mark.parametrize("taken", [FIRST, OTHER])
def test_an_address_of_another_customer_is_refused(key: Key, taken: str) -> None:
    ana, bo = key.customer(FIRST, other_emails=[OTHER]), key.customer("bo@x.example")
    path = f"{CUSTOMERS}/{bo['id']}"
    for response in (
        key.patch(path, {"email": taken}),
        key.patch(path, {"name": "Bo", "other_emails": ["bo2@x.example", taken]}),
        key.post(CUSTOMERS, {"email": taken}),
        key.post(CUSTOMERS, {"email": "cy@x.example", "other_emails": [taken]}),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "customer_email_taken")
        assert response.json()["existing_id"] == ana["id"]
    assert key.get(path).json()["data"] == bo


def test_an_upsert_by_a_further_address_leaves_the_first_one(key: Key) -> None:
    ana = key.customer(FIRST, other_emails=[OTHER])
    path = f"{CUSTOMERS}/by-external-id/C-1"
    shown = key.call("PUT", path, {"email": OTHER, "name": "Ana"}).json()["data"]
    assert (shown["id"], shown["email"], shown["name"]) == (ana["id"], FIRST, "Ana")


@pytest.mark.parametrize(
    "fields",
    [
        {"other_emails": ["no address"]},
        {"other_emails": [f"{n}@x.example" for n in range(21)]},
        {"other_phones": ["1" * 65]},
        {"other_phones": [""]},
        {"other_emails": OTHER},
    ],
)
def test_what_is_no_list_of_addresses_or_numbers_is_refused(key: Key, fields: object) -> None:
    path = f"{CUSTOMERS}/{key.customer(FIRST)['id']}"
    assert key.patch(path, fields).status_code == 422


def test_customers_are_found_by_further_addresses_and_numbers(tenant: Tenant, key: Key) -> None:
    ana = key.customer(FIRST, other_emails=["zelda@q.example"], other_phones=["+49 30 4455667"])
    wait_until_customers(tenant, "zelda", ana["id"])
    wait_until_customers(tenant, "4455667", ana["id"])


def test_an_address_that_is_given_and_taken_at_once_is_one_customers(tenant: Tenant) -> None:
    key = tenant.key()
    ana = key.customer(FIRST)

    def give_or_take(n: int) -> int:
        email = f"{n // 2}@race.example"
        if n % 2:
            return key.patch(f"{CUSTOMERS}/{ana['id']}", {"other_emails": [email]}).status_code
        return key.post(CUSTOMERS, {"email": email}).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(give_or_take, range(16)))
    assert set(statuses) <= {200, 201, 409}
    addresses = [
        each for one in key.walk(CUSTOMERS) for each in (one["email"], *one["other_emails"])
    ]
    assert len(addresses) == len(set(addresses))
