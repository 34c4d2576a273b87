"""Factories of webhook endpoints and their deliveries."""

from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import Attempt, Delivery
from tests.support.client import Person
from tests.support.receiver import Receiver
from tests.support.service import Tenant

WEBHOOKS = "/api/v1/webhooks"
UNKNOWN = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"


def made(admin: Person, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    """A new endpoint, from the response."""
    new = {"url": receiver.url, "events": ["ticket.created"], **fields}
    answer = admin.post(WEBHOOKS, new)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def faults(answer: Any) -> list[tuple[str, str]]:
    """(pointer, code) of each fault of a body."""
    assert answer.status_code == 422, answer.text
    return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]


def log_delivery(tenant: Tenant, endpoint_id: str, *attempts: Attempt, **fields: Any) -> Delivery:
    """A finished delivery with these attempts, as the worker stores it.

    Its event is of a type that endpoints of `made` are not subscribed to.
    """
    service = tenant.service

    async def work(tx: Tx) -> Delivery:
        now_us = service.clock.now_us()
        event_id = await events.record(
            tx, tenant.id, "customer.created", b'{"id":"1"}', events.NO_CHANGES, now_us
        )
        delivery = Delivery(
            tenant_id=tenant.id,
            id=ids.mint(now_us),
            endpoint_id=endpoint_id,
            event_id=event_id,
            event_type="customer.created",
            status="failed",
            attempt_count=len(attempts),
            retry_count=len(attempts),
            due_at=None,
            created_at=now_us,
        )
        delivery = msgspec.structs.replace(delivery, **fields)
        await endpoint_store.add_delivery(tx, delivery)
        for attempt in attempts:
            await endpoint_store.add_attempt(tx, tenant.id, delivery.id, attempt)
        return delivery

    return service.write(work)


def refused(number: int) -> Attempt:
    """An attempt with a response of status 500."""
    return Attempt(
        number=number,
        sent_at=1_772_442_941_000_000 + number,
        duration_ms=12,
        url="http://127.0.0.1:9/hook",
        request_headers='{"webhook-id":"1"}',
        status=500,
        answer_headers='{"date":"now"}',
        answer_body="no",
        error=None,
    )


def unanswered(number: int) -> Attempt:
    """An attempt without a response."""
    return msgspec.structs.replace(
        refused(number), status=None, answer_headers=None, answer_body=None, error="Refused."
    )


def record_events(tenant: Tenant, count: int) -> None:
    """Record events of type ticket.created."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for _ in range(count):
            await events.record(tx, tenant.id, "ticket.created", b"{}", {}, now_us)

    tenant.service.write(work)
