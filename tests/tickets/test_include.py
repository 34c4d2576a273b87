"""`include` adds customers and replies to tickets, for keys that may read them."""

from typing import Any

import pytest

from tests.support.client import Key
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"


def get(key: Key, target: str) -> Any:
    response = key.get(target)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_ticket_includes_its_customer_and_newest_replies(key: Key) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    written = [
        key.post(f"{path}/replies", {"body": f"Reply {n}"}).json()["data"] for n in range(27)
    ]
    customer = get(key, f"/api/v1/external/customers/{ticket['customer']['id']}")["data"]
    replies = {"data": written[:1:-1], "has_more": True}
    plain = get(key, path)["data"]
    expected = plain | {"included": {"customer": customer, "replies": replies}}
    assert get(key, f"{path}?include=customer,replies")["data"] == expected
    assert get(key, f"{path}?include=replies")["data"]["included"] == {"replies": replies}
    assert get(key, f"{TICKETS}?include=replies,customer")["data"] == [expected]
    shown = get(key, f"{path}?include=customer&html=true")["data"]
    assert shown["description_html"] and shown["included"] == {"customer": customer}
    etags = [key.get(each).headers["etag"] for each in (path, f"{path}?include=replies")]
    assert etags[0] == etags[1]


@pytest.mark.parametrize("target", [TICKETS, f"{TICKETS}/{{}}"])
def test_a_customer_is_included_for_keys_that_may_read_them(tenant: Tenant, target: str) -> None:
    ticket = tenant.key().ticket()
    path = target.format(ticket["id"])
    reader = tenant.key(permissions=["tickets:read"])
    assert reader.get(f"{path}?include=replies").status_code == 200
    response = reader.get(f"{path}?include=customer")
    assert (response.status_code, response.json()["code"]) == (403, "insufficient_permissions")
    assert response.json()["required"] == ["customers:read"]
    assert reader.get(f"{path}?include=audit").status_code == 400


def test_a_page_with_replies_ends_where_they_fill_it_and_misses_no_ticket(key: Key) -> None:
    made = []
    for _ in range(4):
        ticket = key.ticket()
        made.append(ticket["id"])
        for _ in range(7):
            key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "x" * 65_536})
    response = key.get(f"{TICKETS}?include=replies")
    assert len(response.content) < 1_100_000
    assert 1 <= len(response.json()["data"]) < 4
    rows = key.walk(f"{TICKETS}?include=replies", per_page=25)
    assert [row["id"] for row in rows] == made[::-1]
    assert all(len(row["included"]["replies"]["data"]) == 7 for row in rows)
