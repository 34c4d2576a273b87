"""A tag takes the spelling that the desk has already."""

from typing import Any

import pytest

from sealdesk.db.engine import Tx
from tests.support.client import Key
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"


def tags_of(key: Key, ticket: dict[str, Any]) -> list[str]:
    return list(key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["tags"])


@pytest.mark.parametrize("known", ["VIP", "vip", "Vip"])
def test_a_new_tag_takes_the_spelling_of_the_desk(key: Key, known: str) -> None:
    key.ticket(tags=[known])
    for typed in ("vip", "VIP", "Vip"):
        assert key.ticket(tags=["new", typed])["tags"] == ["new", known]
    listed = key.get(f"{TICKETS}?tag={known}").json()["data"]
    assert len(listed) == 4


def test_a_ticket_has_a_tag_once_and_keeps_its_own_spelling(key: Key) -> None:
    ticket = key.ticket(tags=["vIp", "VIP", "refund"])
    assert ticket["tags"] == ["vIp", "refund"]
    changed = key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["Refund", "VIP"]})
    assert changed.json()["data"]["tags"] == ["refund", "vIp"]
    unchanged = key.patch(f"{TICKETS}/{ticket['id']}", {"tags": ["REFUND", "vip"]})
    assert unchanged.headers["etag"] == changed.headers["etag"]


def test_the_spelling_of_another_tenant_is_not_taken(service: Service, key: Key) -> None:
    service.tenant("Other").key().ticket(tags=["VIP"])
    assert key.ticket(tags=["vip"])["tags"] == ["vip"]


def test_spellings_that_a_desk_has_already_stay_two(
    service: Service, tenant: Tenant, key: Key
) -> None:
    sql = "INSERT INTO ticket_tags (tenant_id, tag, ticket_id) VALUES (:tenant, :tag, :ticket)"
    ticket_id = key.ticket()["id"]

    async def store_as_before(tx: Tx) -> None:
        for tag in ("vip", "VIP"):
            await tx.execute_one(sql, {"tenant": tenant.id, "tag": tag, "ticket": ticket_id})

    service.write(store_as_before)
    assert [key.ticket(tags=[tag])["tags"] for tag in ("VIP", "vip")] == [["VIP"], ["vip"]]
