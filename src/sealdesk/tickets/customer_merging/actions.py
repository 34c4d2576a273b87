"""Merging customers, and undoing it; each is one transaction's worth of work."""

from collections.abc import Sequence

from sealdesk.caller import Caller
from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers import store as customer_store
from sealdesk.customers.errors import CUSTOMER_EMAIL_TAKEN
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, gettext_noop, invalid
from sealdesk.event_log import events
from sealdesk.event_log.events import Changes
from sealdesk.records import audit
from sealdesk.tickets.customer_merging import rules, store
from sealdesk.tickets.customer_merging.errors import CUSTOMER_ERASED
from sealdesk.tickets.customer_merging.types import CustomerMerge, StoredMerge
from sealdesk.tickets.erasing import rules as erasing
from sealdesk.tickets.erasing import store as erasures
from sealdesk.tickets.merging.errors import MERGE_FINAL, NOT_MERGED
from sealdesk.tickets.merging.rules import UNDO_HOURS
from sealdesk.tickets.promises import keeping
from sealdesk.tickets.ticket.store import tickets
from sealdesk.tickets.ticket.types import ENDED

_NO_CUSTOMER = gettext_noop("There is no customer with this id.")
_RENEWED_AT_ONCE = 50
_NOT_MERGED = NOT_MERGED.variant(
    "This customer is not merged into another one, so there is nothing to undo."
)


async def merge(
    tx: Tx, caller: Caller, source_id: str, new: CustomerMerge, *, now_us: int
) -> Customer:
    """Give the tickets, addresses and data of a customer to another one; that one.

    Raises NotFound, ValidationFailed, Conflict.
    """
    tenant_id = caller.tenant_id
    source, target = await _get_both(tx, tenant_id, source_id, new.into)
    ticket_ids = await store.list_ticket_ids(tx, tenant_id, source.id, rules.MAX_TICKETS + 1)
    rules.check_count(len(ticket_ids))
    for email in (source.email, *source.other_emails):  # another one may have it: decision 0141
        await customers.check_email_free(tx, tenant_id, email, source.id, target.id)
    gained = rules.gain(source, target)
    after = rules.with_gained(target, source, gained, now_us)
    ended = rules.ended(source, target.id, now_us)
    await store.move_tickets(tx, tenant_id, ticket_ids, from_id=source.id, to_id=target.id)
    await customer_store.remove(tx, source)
    await customer_store.replace(tx, target, after)
    await _renew_promises(tx, caller, ticket_ids, now_us)
    await store.add(
        tx,
        StoredMerge(tenant_id, source.id, target.id, ended, gained, ticket_ids, now_us),
    )
    changes: Changes = {"merged_into_id": (None, target.id)}
    await _record(tx, "customer.merged", ended, changes, now_us)
    await _record(tx, "customer.updated", after, customer_rules.differences(target, after), now_us)
    details = {"into": target.id, "tickets": len(ticket_ids)}
    await audit.record(tx, caller, "customer.merged", source.id, details, now_us)
    return after


async def undo(tx: Tx, caller: Caller, source_id: str, *, now_us: int) -> Customer:
    """Take a merged customer out of the other one again; the customer.

    Tickets that were opened after the merge stay. Raises NotFound, Conflict.
    """
    tenant_id = caller.tenant_id
    merge = await _get_merge(tx, tenant_id, source_id)
    rules.check_not_final(merge, now_us)
    target = await customer_store.find(tx, tenant_id, merge.target_id)
    if target is None:  # it was merged since
        raise Conflict(MERGE_FINAL, hours=UNDO_HOURS, merged_into_id=merge.target_id)
    taken = await _list_taken(tx, merge.customer, target)
    source = rules.restored(merge, target, taken, now_us)
    after = rules.without_gained(target, merge, now_us)
    await customer_store.release_addresses(tx, target, customer_rules.addresses(source))
    await customer_store.restore(tx, source)
    await store.move_tickets(tx, tenant_id, merge.ticket_ids, from_id=target.id, to_id=source.id)
    await customer_store.replace(tx, target, after)
    await _renew_promises(tx, caller, merge.ticket_ids, now_us)
    await store.delete(tx, tenant_id, source.id)
    changes: Changes = {"merged_into_id": (target.id, None)}
    await _record(tx, "customer.updated", source, changes, now_us)
    await _record(tx, "customer.updated", after, customer_rules.differences(target, after), now_us)
    await audit.record(tx, caller, "customer.unmerged", source.id, {"from": target.id}, now_us)
    return source


async def _renew_promises(tx: Tx, caller: Caller, ticket_ids: Sequence[str], now_us: int) -> None:
    """Give tickets that have moved what is promised to their customer now."""
    if not caller.has_policies:
        return
    for at in range(0, len(ticket_ids), _RENEWED_AT_ONCE):
        part = ticket_ids[at : at + _RENEWED_AT_ONCE]
        found = await tickets.list_by_ids(tx, caller.tenant_id, part)
        unfinished = [each for each in found if each.ticket.status not in ENDED]
        await keeping.renew(tx, caller.tenant_id, unfinished, now_us)


async def _get_both(
    tx: Tx, tenant_id: str, source_id: str, target_id: str
) -> tuple[Customer, Customer]:
    """Raises NotFound, ValidationFailed, Conflict."""
    source = await customers.get_customer(tx, tenant_id, source_id)
    try:
        target = await customers.get_customer(tx, tenant_id, target_id)
    except NotFound:
        raise invalid([Fault("/into", "unknown_customer", _NO_CUSTOMER)]) from None
    rules.check_not_itself(source.id, target.id)
    for each in (source, target):
        erasure = await erasures.find(tx, tenant_id, each.id)
        is_pending = erasure is not None and erasure.finished_at is None
        if is_pending or erasing.is_anonymous(each):
            raise Conflict(CUSTOMER_ERASED, customer_id=each.id)
    return source, target


async def _get_merge(tx: Tx, tenant_id: str, source_id: str) -> StoredMerge:
    """Raises NotFound, Conflict."""
    merge = await store.find(tx, tenant_id, source_id)
    if merge is None:
        await customers.get_customer(tx, tenant_id, source_id)
        raise Conflict(_NOT_MERGED)
    return merge


async def _list_taken(tx: Tx, source: Customer, target: Customer) -> list[str]:
    """Addresses of a merged customer that are another one's now. Raises Conflict for the first."""
    taken: list[str] = []
    for email, identity in zip(
        (source.email, *source.other_emails), customer_rules.addresses(source), strict=True
    ):
        owner = await customer_store.find_by_email(tx, source.tenant_id, email)
        is_free = owner is None or owner.id == target.id
        if is_free and identity != customer_rules.addresses(target)[0]:
            continue
        if owner is not None and email == source.email:
            raise Conflict(CUSTOMER_EMAIL_TAKEN, existing_id=owner.id)
        taken.append(identity)
    return taken


async def _record(
    tx: Tx, kind: events.EventType, customer: Customer, changes: Changes, now_us: int
) -> None:
    document = customer_rules.to_json(customer)
    await events.record(tx, customer.tenant_id, kind, document, changes, now_us)
