"""What an erasure leaves: other customers, counts, and a new person with the same address."""

from typing import Any

from tests.support.client import Key
from tests.support.service import Tenant
from tests.tickets.erasing.filled import CUSTOMERS, TICKETS, Desk, all_rows, as_json

# What is about several customers, or moves by itself.
_OF_ONE = ("customers", "tickets", "replies", "ticket_changes", "attachments", "ticket_tags")


def _rows_of_others(desk: Desk) -> set[str]:
    """The rows that do not name the customer, their tickets, or the ticket with merged texts."""
    mine = {desk.id, desk.mixed["id"], *(each["id"] for each in _tickets(desk))}
    rows = all_rows(desk.service)
    found = {as_json(row) for name in _OF_ONE for row in rows[name]}
    return {row for row in found if not any(each in row for each in mine)}


def _tickets(desk: Desk) -> list[dict[str, Any]]:
    return desk.key.walk(f"{TICKETS}?customer_id={desk.id}", per_page=50)


def test_others_are_unchanged_and_counts_stay(desk: Desk) -> None:
    kept = ("id", "number", "status", "priority", "tags", "reply_count", "created_at", "updated_at")
    others, before = _rows_of_others(desk), _tickets(desk)
    assert others
    desk.erase()
    desk.finish()
    after = _tickets(desk)
    assert [[each[n] for n in kept] for each in after] == [
        [each[n] for n in kept] for each in before
    ]
    assert {each["subject"] for each in after} == {"[erased]"}
    mine = {desk.id, *(each["id"] for each in after)}
    assert others <= {row for row in _rows_of_others(desk) if not any(each in row for each in mine)}
    again = desk.key.ticket(customer={"email": desk.email})
    assert again["customer"]["id"] != desk.id


def test_an_erasure_needs_its_own_permission_and_is_repeated_without_effect(
    tenant: Tenant, key: Key
) -> None:
    path = f"{CUSTOMERS}/{key.customer('di@shop.example')['id']}"
    weak = tenant.key(permissions=["customers:read", "customers:write"])
    assert weak.post(f"{path}/erase", None).status_code == 403
    assert key.get(f"{path}/erasure").status_code == 404
    first, second = (key.post(f"{path}/erase", None).json()["data"] for _ in range(2))
    assert first["created_at"] == second["created_at"]
    assert "di@" not in key.get(path).text
    stranger = tenant.service.tenant().key()
    assert stranger.post(f"{path}/erase", None).status_code == 404


def test_an_earlier_address_that_somebody_else_has_now_is_theirs(desk: Desk) -> None:
    earlier = f"{desk.markers['earlier email']}@shop.example"
    desk.key.customer(earlier)
    desk.submission(earlier, "Of the other customer")
    desk.erase()
    desk.finish()
    sql = "SELECT address, request FROM form_submissions WHERE tenant_id = :t LIMIT 9"
    (left,) = desk.service.rows(sql, t=desk.tenant.id)
    assert (left["address"], left["request"]) == (earlier, "Of the other customer")
