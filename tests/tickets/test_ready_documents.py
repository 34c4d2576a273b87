"""Ready documents of earlier versions: completed when read, and rewritten by the worker."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store import ready_documents
from sealdesk.tickets.ticket.store.ready_documents import SHAPE, Batch
from sealdesk.tickets.ticket.types import NEWEST_MEMBER, TicketDocument
from tests.support.client import Key
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
_ADDED = ("attachments", NEWEST_MEMBER)


def rewrite(tenant: Tenant, after_id: str, limit: int) -> Batch:
    return tenant.service.write(
        lambda tx: ready_documents.rewrite_batch(tx, tenant.id, after_id, limit)
    )


def make_outdated(tenant: Tenant, ticket_id: str) -> None:
    """Store a document as an earlier version wrote it, without its newest members."""

    async def work(tx: Tx) -> None:
        key = {"tenant_id": tenant.id, "id": ticket_id}
        sql = "SELECT document FROM tickets WHERE tenant_id = :tenant_id AND id = :id LIMIT 1"
        row = await tx.fetch_one(sql, key)
        assert row is not None
        document: dict[str, Any] = msgspec.json.decode(row["document"])
        for name in _ADDED:
            del document[name]
        update = "UPDATE tickets SET document = :document WHERE tenant_id = :tenant_id AND id = :id"
        await tx.execute(update, key | {"document": msgspec.json.encode(document)})

    tenant.service.write(work)


def stored_documents(tenant: Tenant) -> list[dict[str, Any]]:
    sql = "SELECT document FROM tickets WHERE tenant_id = :id ORDER BY id LIMIT 1000"
    return [msgspec.json.decode(row["document"]) for row in tenant.service.rows(sql, id=tenant.id)]


def is_outdated(document: dict[str, Any]) -> bool:
    return NEWEST_MEMBER not in document


def test_a_document_of_an_earlier_version_is_shown_with_all_members(
    key: Key, tenant: Tenant
) -> None:
    ticket = key.ticket(custom_fields={"size": 1.5, "müll": None})
    make_outdated(tenant, ticket["id"])
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"] == ticket
    assert key.walk(TICKETS) == [ticket]


def test_the_newest_member_is_named() -> None:
    """Somebody who changes the members names the newest, with a default, in `ticket/types.py`."""
    assert (SHAPE, NEWEST_MEMBER) == ("dbebf856519c5147", "satisfaction")
    (newest,) = (each for each in fields(TicketDocument) if each.name == NEWEST_MEMBER)
    assert not newest.required


def test_outdated_documents_get_the_current_fields_in_batches(key: Key, tenant: Tenant) -> None:
    tickets = [key.ticket(tags=["a"]) for _ in range(5)]
    for ticket in tickets[1:]:
        make_outdated(tenant, ticket["id"])
    after_id, batches = ready_documents.FIRST_ID, []
    while True:
        batch = rewrite(tenant, after_id, 2)
        batches.append(batch.rewritten)
        if batch.last_id is None:
            break
        after_id = batch.last_id
    assert batches == [1, 2, 1]
    assert not any(map(is_outdated, stored_documents(tenant)))
    assert key.walk(TICKETS) == tickets[::-1]


def test_current_documents_are_not_written(key: Key, tenant: Tenant) -> None:
    key.ticket()
    assert rewrite(tenant, ready_documents.FIRST_ID, 10) == Batch(None, 0)


def test_a_concurrent_change_keeps_its_newer_document(
    key: Key, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = key.ticket()
    make_outdated(tenant, ticket["id"])

    async def work(tx: Tx) -> None:
        sql = "UPDATE tickets SET version = version + 1 WHERE tenant_id = :tenant_id AND id = :id"
        read = type(tx).fetch_all

        async def changed_after_reading(of: Tx, *args: Any) -> Any:
            rows = await read(of, *args)
            if of is tx:  # the service has transactions of its own meanwhile
                await tx.execute(sql, {"tenant_id": tenant.id, "id": ticket["id"]})
            return rows

        with monkeypatch.context() as patched:
            patched.setattr(type(tx), "fetch_all", changed_after_reading)
            await ready_documents.rewrite_batch(tx, tenant.id, ready_documents.FIRST_ID, 10)

    tenant.service.write(work)
    assert list(map(is_outdated, stored_documents(tenant))) == [True]


def test_tickets_of_another_tenant_are_not_changed(key: Key, tenant: Tenant) -> None:
    make_outdated(tenant, key.ticket()["id"])
    other = tenant.service.tenant()
    assert rewrite(other, ready_documents.FIRST_ID, 10) == Batch(None, 0)
