"""Mailboxes in the database of a service."""

from typing import Any

from sealdesk.caller import SYSTEM, without_rights
from sealdesk.mail.mailboxes import actions
from sealdesk.mail.mailboxes.types import Failure, Side, address_identity
from tests.support.client import Person
from tests.support.service import Service, Tenant

MAILBOXES = "/api/v1/mailboxes"


def made(admin: Person, address: str, **fields: Any) -> dict[str, Any]:
    """A new mailbox, as the API shows it, whose addresses the operator has verified."""
    created = admin.post(MAILBOXES, {"address": address, **fields})
    assert created.status_code == 201, created.text
    found: dict[str, Any] = created.json()["data"]
    for each in found["unverified_addresses"]:
        verify(admin, found["id"], each)
    path = f"{MAILBOXES}/{found['id']}"
    return found if not found["unverified_addresses"] else dict(admin.get(path).json()["data"])


def verify(admin: Person, mailbox_id: str, address: str) -> None:
    """Verify an address as the operator does with a command."""
    tenant_id = admin.get("/api/v1/auth/me").json()["data"]["tenant_id"]
    caller, now_us = without_rights(tenant_id, SYSTEM), admin.service.clock.now_us()
    identity = address_identity(address)
    admin.service.write(
        lambda tx: actions.verify_address(tx, caller, mailbox_id, identity, now_us=now_us)
    )


def set_problem(
    service: Service, tenant: Tenant, mailbox_id: str, side: Side, failure: Failure | None
) -> bool:
    """Store how receiving or sending went, as the tasks of e-mail do; whether it has changed."""
    now_us = service.clock.now_us()
    return service.write(
        lambda tx: actions.set_problem(tx, tenant.id, mailbox_id, side, failure, now_us=now_us)
    )
