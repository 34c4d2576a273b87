"""Mailboxes in the database of a service."""

from typing import Any

from sealdesk.mail.mailboxes import actions
from sealdesk.mail.mailboxes.types import Failure, Side
from tests.support.client import Person
from tests.support.service import Service, Tenant

MAILBOXES = "/api/v1/mailboxes"


def made(admin: Person, address: str, **fields: Any) -> dict[str, Any]:
    """A new mailbox, as the API shows it."""
    created = admin.post(MAILBOXES, {"address": address, **fields})
    assert created.status_code == 201, created.text
    found: dict[str, Any] = created.json()["data"]
    return found


def set_problem(
    service: Service, tenant: Tenant, mailbox_id: str, side: Side, failure: Failure | None
) -> bool:
    """Store how receiving or sending went, as the tasks of e-mail do; whether it has changed."""
    now_us = service.clock.now_us()
    return service.write(
        lambda tx: actions.set_problem(tx, tenant.id, mailbox_id, side, failure, now_us=now_us)
    )
