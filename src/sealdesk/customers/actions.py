"""What happens to customers; each is one transaction's worth of work."""

import unicodedata

from sealdesk import ids
from sealdesk.customers import rules, store
from sealdesk.customers.store import Filter
from sealdesk.customers.types import Customer, CustomerChange, NewCustomer, Referred
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, invalid
from sealdesk.event_log import events
from sealdesk.paging import PageRequest
from sealdesk.resources import etags, fields
from sealdesk.search import actions as search
from sealdesk.state import AppState

_MOST_WORDS = 8
_LOOKED_THROUGH = 10_000  # customers, within 0.05 s


async def add_customer(tx: Tx, tenant_id: str, new: NewCustomer, *, now_us: int) -> Customer:
    """A new customer. Raises Clash when the e-mail address is taken."""
    await _check_email_free(tx, tenant_id, new.email)
    return await _add(tx, tenant_id, new, now_us)


async def add_or_name(
    tx: Tx, tenant_id: str, found: Referred | None, *, email: str, name: str | None, now_us: int
) -> Referred:
    """The customer with this address: the one just found, whose name is filled in if none is known,
    or a new one."""
    if found is None:
        new = NewCustomer(email, name)
        return rules.referred(await _add(tx, tenant_id, new, now_us))
    if name is None or not name.strip() or (found.name or "").strip():
        return found
    customer = await get_customer(tx, tenant_id, found.id)
    return rules.referred(await _store_change(tx, customer, CustomerChange(name=name), now_us))


async def change_customer(
    tx: Tx,
    tenant_id: str,
    customer_id: str,
    change: CustomerChange,
    *,
    if_match: tuple[str, ...] | None,
    now_us: int,
) -> Customer:
    """The customer after the change. Raises Missing, Stale, Clash, Invalid."""
    customer = await get_customer(tx, tenant_id, customer_id)
    etags.check_match(if_match, rules.etag(customer))
    return await _store_change(tx, customer, change, now_us)


async def get_customer(tx: Tx, tenant_id: str, customer_id: str) -> Customer:
    """Raises Missing."""
    customer = await store.find(tx, tenant_id, customer_id)
    if customer is None:
        raise NotFound
    return customer


async def find_customers(
    state: AppState, tenant_id: str, q: str, page: PageRequest
) -> list[Customer]:
    """Whoever has this e-mail address, else all whose words begin so, else of whom it is a part.

    Newest first; one more than the page when there are more. Raises QueryTooSlow.
    """
    database = state.database
    one = await database.read(lambda tx: store.find_by_email(tx, tenant_id, q), tenant_id)
    if one is not None:
        return [one]
    found = await search.find_customers(state, tenant_id, q, page)
    if found:
        return await database.read(lambda tx: store.list_chosen(tx, tenant_id, found), tenant_id)
    # Until the index is made all of them are looked through, for as long as that may take.
    parts = Filter(
        words=tuple(unicodedata.normalize("NFC", q).split()[:_MOST_WORDS]),
        newest=None if found is None else _LOOKED_THROUGH,
    )
    return await database.read_unindexed(
        lambda tx: store.list_customers(tx, tenant_id, parts, page), tenant_id
    )


async def _add(tx: Tx, tenant_id: str, new: NewCustomer, now_us: int) -> Customer:
    customer = Customer(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        email=new.email,
        name=new.name,
        phone=new.phone,
        company=new.company,
        external_id=new.external_id,
        metadata=new.metadata or {},
        created_at=now_us,
        updated_at=now_us,
        version=1,
    )
    await store.add(tx, customer)
    await _record(tx, "customer.created", customer, events.NO_CHANGES, now_us)
    return customer


async def _store_change(
    tx: Tx, customer: Customer, change: CustomerChange, now_us: int
) -> Customer:
    changed = rules.changed(customer, change, now_us)
    if changed is customer:
        return customer
    if fields.check_object(changed.metadata):
        raise invalid([Fault("/metadata", "too_large", "Together this is over 16 KiB of JSON.")])
    if changed.email != customer.email:
        await _check_email_free(tx, customer.tenant_id, changed.email, but_for=customer.id)
    await store.replace(tx, changed)
    changes = rules.differences(customer, changed)
    await _record(tx, "customer.updated", changed, changes, now_us)
    return changed


async def _check_email_free(
    tx: Tx, tenant_id: str, email: str, *, but_for: str | None = None
) -> None:
    other = await store.find_by_email(tx, tenant_id, email)
    if other is not None and other.id != but_for:
        raise Conflict(
            "customer_email_taken",
            "A customer with this e-mail address exists; see existing_id.",
            existing_id=other.id,
        )


async def _record(
    tx: Tx, kind: events.EventType, customer: Customer, changes: events.Changes, now_us: int
) -> None:
    document = rules.document(customer)
    await events.record(tx, customer.tenant_id, kind, document, changes, now_us)
