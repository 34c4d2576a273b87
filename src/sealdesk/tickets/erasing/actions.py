"""Erasing a customer: a request begins it, the worker carries it out (`steps`)."""

from sealdesk.caller import Caller
from sealdesk.customers import actions as customers
from sealdesk.customers import store as customer_store
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Tx
from sealdesk.errors import must_exist
from sealdesk.records import audit
from sealdesk.tickets.erasing import rules, store
from sealdesk.tickets.erasing.types import Erasure

FIRST_STAGE = "customer"
_MAX_COUNT = 1_000_000


async def begin(tx: Tx, caller: Caller, customer_id: str, *, now_us: int) -> Erasure:
    """Begin to erase a customer; the person is gone from their row at once.

    The erasure that there is already, unless something is known of the customer again. Raises
    NotFound.
    """
    await tx.lock(f"erasure {customer_id}", caller.tenant_id)
    customer = await customers.get_customer(tx, caller.tenant_id, customer_id)
    existing = await store.find(tx, caller.tenant_id, customer_id)
    if existing is not None and (existing.finished_at is None or rules.is_anonymous(customer)):
        return existing
    erasure = await _new_erasure(tx, caller, customer, now_us)
    await customer_store.replace(tx, customer, rules.anonymous(customer, now_us))
    await store.add(tx, erasure)
    details = {"tickets": erasure.ticket_count}
    await audit.record(tx, caller, "customer.erased", customer_id, details, now_us)
    return erasure


async def get_erasure(tx: Tx, tenant_id: str, customer_id: str) -> Erasure:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, customer_id))


async def _new_erasure(tx: Tx, caller: Caller, customer: Customer, now_us: int) -> Erasure:
    merged_ids = await customer_store.list_merged(tx, caller.tenant_id, customer.id)
    merged = [
        each
        for merged_id in merged_ids
        if (each := await customer_store.find_merged(tx, caller.tenant_id, merged_id)) is not None
    ]
    for each in merged:
        await store.erase_merged(tx, rules.anonymous(each, now_us))
    return Erasure(
        tenant_id=caller.tenant_id,
        customer_id=customer.id,
        actor_kind=caller.actor.kind,
        actor_id=caller.actor.id,
        actor_name=caller.actor.name,
        texts=rules.texts_of(customer, *merged),
        stage=FIRST_STAGE,
        cursor="",
        ticket_count=await store.count_tickets(tx, caller.tenant_id, customer.id, _MAX_COUNT),
        erased_ticket_count=0,
        created_at=now_us,
        stepped_at=now_us,
        finished_at=None,
    )
