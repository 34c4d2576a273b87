"""A tenant whose objects are as large as the rules allow, so that each answer is the largest."""

from typing import Any, NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import SYSTEM, Caller
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.identity import actions as identity
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import NewReply, NewTicket, TicketChange
from sealdesk.webhooks.store import endpoints
from sealdesk.webhooks.types import SUBSCRIBABLE, Attempt, Endpoint
from tests.support.service import Tenant
from tests.webhooks.factories import log_delivery

LONGEST_JSON = "\x01" * 65_536  # six bytes each in JSON
LONGEST_HTML = '"' * 65_536  # five characters each in HTML
_LINKS = "http://a.b/&&&& " * 4_000
_NAME = '"' * 255
_OBJECT = {str(n): '"' * 20 for n in range(300)}


class Counts(NamedTuple):
    """How many objects a tenant has of each kind. replies: of one ticket, with as many changes."""

    tickets: int
    replies: int
    customers: int
    people: int
    refusals: int
    webhooks: int


# More than the largest page of each.
MANY = Counts(tickets=60, replies=60, customers=101, people=300, refusals=50, webhooks=50)
FEW = Counts(tickets=2, replies=2, customers=2, people=2, refusals=2, webhooks=2)


def fill(tenant: Tenant, counts: Counts) -> dict[str, str]:
    """The ids for the paths of its routes, by what stands before `{id}`."""
    service, key = tenant.service, tenant.key(name='"' * 100)
    customer = key.customer("large@example.test", name=_NAME, company=_NAME, metadata=_OBJECT)["id"]
    ticket = service.write(lambda tx: _tickets(tx, tenant, counts))
    service.write(lambda tx: _people(tx, tenant, counts.people))
    for _ in range(counts.refusals):
        key.get(f"/api/v1/external/tickets?{'%22' * 4_000}", x_api_signature="0" * 64)
    webhook = _webhooks(tenant, counts.webhooks)
    delivery = log_delivery(tenant, webhook, *map(_attempt, range(1, 101))).id
    user = tenant.user("agent", name='"' * 100)
    service.settle()
    return {
        "tickets": ticket,
        "customers": customer,
        "people": user,
        "api-keys": key.id,
        "webhooks": webhook,
        "deliveries": delivery,
    }


async def _tickets(tx: Tx, tenant: Tenant, counts: Counts) -> str:
    """Tickets of one customer; the id of the newest, which has replies and changes."""
    caller, now_us = Caller(tenant.id, SYSTEM, frozenset(), ""), tenant.service.clock.now_us()
    opened: list[str] = []
    for number in range(counts.tickets):
        fields: dict[str, Any] = {
            "subject": _NAME,
            "description": LONGEST_HTML if number % 2 else LONGEST_JSON,
            "customer": {"email": "large@example.test"},
            "tags": [f"{n:<64}".replace(" ", '"') for n in range(50)],
            "custom_fields": _OBJECT,
        }
        new = msgspec.convert(fields, NewTicket)
        created = await tickets.open_ticket(tx, caller, new, source="api", now_us=now_us + number)
        opened.append(created.id)
    for number in range(counts.replies):
        at_us, text = now_us + 100 + number, (LONGEST_HTML, LONGEST_JSON, _LINKS)[number % 3]
        await tickets.reply(tx, caller, opened[-1], NewReply(text), now_us=at_us)
        change = TicketChange(
            subject=f"{number}{_NAME}"[:255], description=f"{number}{text}"[:65_536]
        )
        await tickets.change_ticket(tx, caller, opened[-1], change, if_match=None, now_us=at_us)
    for number in range(counts.customers):
        new_customer = NewCustomer(f"c{number}@example.test", name=_NAME, metadata=_OBJECT)
        await customers.add_customer(tx, tenant.id, new_customer, now_us=now_us)
    return opened[-1]


async def _people(tx: Tx, tenant: Tenant, count: int) -> None:
    for number in range(count):
        await identity.create_user(
            tx,
            tenant.id,
            email=f"person{number}-{tenant.id}@example.test",
            name='"' * 100,
            role="agent",
            password_hash=None,
            actor=SYSTEM,
            now_us=tenant.service.clock.now_us(),
        )


def _webhooks(tenant: Tenant, count: int) -> str:
    """Paused endpoints, which nothing is sent to; the id of the newest."""

    async def work(tx: Tx) -> str:
        made = ""
        for _ in range(count):
            made = ids.mint(tenant.service.clock.now_us())
            await endpoints.add(
                tx, msgspec.structs.replace(_ENDPOINT, tenant_id=tenant.id, id=made)
            )
        return made

    return tenant.service.write(work)


_ENDPOINT = Endpoint(
    tenant_id="", id="", url="https://example.test/" + "&" * 2_000, events=SUBSCRIBABLE,
    description=_NAME, is_active=False, disabled_reason=None, sealed_secret=b"x", secret_version=1,
    sealed_old_secret=None, old_secret_until=None, failing_since=None, created_at=0,
)  # fmt: skip


def _attempt(number: int) -> Attempt:
    headers = msgspec.json.encode({f"x-{n}": '"' * 200 for n in range(20)}).decode()
    return Attempt(
        number=number, sent_at=number, duration_ms=1, url="https://example.test/" + "&" * 2_000,
        request_headers=headers, status=500, answer_headers=headers, answer_body='"' * 2_048,
        error=None,
    )  # fmt: skip
