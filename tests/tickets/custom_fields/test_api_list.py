"""Lists of the API by values of custom fields."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.client import Key
from tests.support.searching import wait_until_tickets
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"


def opened(key: Key, **fields: Any) -> str:
    return str(key.ticket(subject="Parcel", custom_fields=fields)["id"])


def listed(key: Key, *pairs: str, others: str = "") -> list[str]:
    """The ids of all pages of one ticket each."""
    query = "&".join(f"custom_field={quote(pair)}" for pair in pairs)
    return [each["id"] for each in key.walk(f"{TICKETS}?{query}{others}", per_page=1)]


def test_tickets_are_listed_by_values_of_custom_fields(
    tenant: Tenant, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = opened(key, carrier="DHL", weight=12.5, sizes=["S", "M"])
    dhl = opened(key, carrier="dhl")
    ups = opened(key, carrier="UPS", weight=12.5)
    wait_until_tickets(tenant, "parcel", ups, dhl, both)
    assert listed(key, "carrier:DHL") == [dhl, both]
    assert listed(key, "weight:12.50") == [ups, both]
    assert listed(key, "carrier:DHL", "weight:12.5") == [both]
    assert listed(key, "sizes:m") == [both] and listed(key, "carrier:GLS") == []
    key.patch(f"{TICKETS}/{both}", {"status": "pending"})
    # Each page looks at two tickets only, and the list goes on where it has stopped.
    monkeypatch.setattr("sealdesk.tickets.views.searching._MAX_NARROWED", 1)
    assert listed(key, "carrier:DHL", others="&status=pending") == [both]
    assert listed(key, "carrier:DHL", others="&customer_email=nobody@example.test") == []


def test_another_tenants_values_are_not_listed(tenant: Tenant, key: Key, service: Any) -> None:
    mine = opened(key, carrier="DHL")
    other = service.tenant("Other")
    opened(other.key(), carrier="DHL")
    wait_until_tickets(tenant, "parcel", mine)
    assert listed(key, "carrier:DHL") == [mine]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("custom_field=carrier", "a key and a value"),
        ("custom_field=:DHL", "a key and a value"),
        ("custom_field=a:b&sort_by=priority", "created_at"),
        ("custom_field=a:b&sort=asc", "sort=desc"),
    ],
)
def test_a_wrong_list_by_custom_fields_is_refused(key: Key, query: str, named: str) -> None:
    response = key.get(f"{TICKETS}?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")
    assert named in response.json()["detail"]
