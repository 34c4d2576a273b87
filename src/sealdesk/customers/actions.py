"""What happens to customers; each action is one transaction's worth of work."""

import unicodedata

import msgspec

from sealdesk import ids
from sealdesk.customers import rules, store
from sealdesk.customers.errors import (
    CUSTOMER_EMAIL_TAKEN,
    CUSTOMER_HAS_TICKETS,
    CUSTOMER_MERGED,
    EXTERNAL_ID_NOT_UNIQUE,
)
from sealdesk.customers.store import Filter
from sealdesk.customers.types import (
    Customer,
    CustomerChange,
    CustomerRef,
    CustomerSummary,
    CustomerUpsert,
    NewCustomer,
    StoredReference,
)
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, invalid
from sealdesk.event_log import events
from sealdesk.resources import merge_patch, representation
from sealdesk.resources.identity import is_visible
from sealdesk.resources.paging import PageRequest
from sealdesk.search import actions as search
from sealdesk.state import AppState

_MAX_WORDS = 8
_MAX_MERGED_ALIKE = 25
_MAX_SCANNED = 10_000  # customers, within 0.05 s


async def add_customer(tx: Tx, tenant_id: str, new: NewCustomer, *, now_us: int) -> Customer:
    """A new customer. Raises Conflict when the e-mail address is taken."""
    for email in (new.email, *(new.other_emails or ())):
        await check_email_free(tx, tenant_id, email)
    return await _add(tx, tenant_id, new, now_us)


async def find_or_add(tx: Tx, tenant_id: str, new: NewCustomer, *, now_us: int) -> Customer:
    """The customer with this e-mail address, who is added if there is none."""
    found = await store.find_by_email(tx, tenant_id, new.email)
    return found or await _add(tx, tenant_id, new, now_us)


async def ensure_customer(
    tx: Tx,
    tenant_id: str,
    known: StoredReference | None,
    *,
    email: str,
    name: str | None,
    now_us: int,
) -> CustomerSummary:
    """The customer with this address; a new one when there is none.

    known: the customer with this address, if there is one; their name is filled in if none is
    known.
    """
    if known is None:
        return rules.summary_of(await _add(tx, tenant_id, NewCustomer(email, name), now_us))
    reference = msgspec.json.decode(known.json, type=CustomerRef)
    if name is None or not is_visible(name) or reference.name is not None:
        return CustomerSummary(reference.id, reference.name, known.version, known.json)
    customer = await get_customer(tx, tenant_id, reference.id)
    return rules.summary_of(await _change(tx, customer, CustomerChange(name=name), now_us))


async def change_customer(
    tx: Tx,
    tenant_id: str,
    customer_id: str,
    change: CustomerChange,
    *,
    if_match: tuple[str, ...] | None,
    now_us: int,
) -> Customer:
    """The customer after the change.

    Raises NotFound, PreconditionFailed, Conflict, ValidationFailed.
    """
    customer = await get_customer(tx, tenant_id, customer_id)
    representation.check_match(if_match, rules.etag(customer))
    return await _change(tx, customer, change, now_us)


async def upsert_customer(
    tx: Tx, tenant_id: str, external_id: str, wanted: CustomerUpsert, *, now_us: int
) -> tuple[Customer, bool]:
    """The customer with this external_id after the change, and whether they are new.

    Without one, the customer with the e-mail address gets the external_id, unless they have
    another one. Raises Conflict, also when they were merged; ValidationFailed.
    """
    await tx.lock(f"customer {external_id}", tenant_id)
    page = PageRequest(1, None)
    found = await store.list_customers(tx, tenant_id, Filter(external_id=external_id), page)
    if len(found) > 1:
        raise Conflict(EXTERNAL_ID_NOT_UNIQUE)
    fields = merge_patch.given_fields(wanted) | {"external_id": external_id}
    customer = found[0] if found else await store.find_by_email(tx, tenant_id, wanted.email)
    if not found and (customer is None or customer.external_id is not None):
        await _check_not_merged(tx, tenant_id, external_id)
    if customer is None:
        return await _add(tx, tenant_id, NewCustomer(**fields), now_us), True
    if not found and customer.external_id is not None:
        raise Conflict(CUSTOMER_EMAIL_TAKEN, existing_id=customer.id)
    if rules.has_address(customer, wanted.email):
        del fields["email"]  # a further address does not become the first one by itself
    return await _change(tx, customer, CustomerChange(**fields), now_us), False


async def _check_not_merged(tx: Tx, tenant_id: str, external_id: str) -> None:
    """Raises Conflict when the customer with this external_id was merged into another one."""
    for merged in await store.list_merged_with(tx, tenant_id, external_id, _MAX_MERGED_ALIKE):
        raise await _merged(tx, merged)


async def delete_customer(
    tx: Tx, tenant_id: str, customer_id: str, *, if_match: tuple[str, ...] | None, now_us: int
) -> None:
    """Delete a customer without tickets. Raises NotFound, PreconditionFailed, Conflict."""
    customer = await get_customer(tx, tenant_id, customer_id)
    representation.check_match(if_match, rules.etag(customer))
    if not await store.delete_without_tickets(tx, tenant_id, customer_id):
        raise Conflict(CUSTOMER_HAS_TICKETS)
    await _record(tx, "customer.deleted", customer, events.NO_CHANGES, now_us)


async def get_customer(tx: Tx, tenant_id: str, customer_id: str) -> Customer:
    """Raises NotFound, and Conflict when the customer was merged into another one."""
    customer = await get_also_merged(tx, tenant_id, customer_id)
    if customer.merged_into_id is not None:
        raise await _merged(tx, customer)
    return customer


async def _merged(tx: Tx, customer: Customer) -> Conflict:
    lasting_id = await store.find_lasting_id(tx, customer.tenant_id, customer.id)
    return Conflict(CUSTOMER_MERGED, customer_id=customer.id, merged_into_id=lasting_id)


async def get_also_merged(tx: Tx, tenant_id: str, customer_id: str) -> Customer:
    """A customer, also one that was merged into another one. Raises NotFound."""
    customer = await store.find(tx, tenant_id, customer_id)
    if customer is None:
        customer = await store.find_merged(tx, tenant_id, customer_id)
    if customer is None:
        raise NotFound
    return customer


async def find_customers(
    state: AppState, tenant_id: str, q: str, page: PageRequest
) -> list[Customer]:
    """The customer with this e-mail address, or those with words that begin like those of `q`.

    If there are none: customers whose data contain the words. Newest first; one more than the page
    when there are more. Raises QueryTooSlow.
    """
    database = state.database
    one = await database.read(lambda tx: store.find_by_email(tx, tenant_id, q), tenant_id)
    if one is not None:
        return [one]
    ids_found = await search.find_customers(state, tenant_id, q, page)
    if ids_found:
        return await database.read(
            lambda tx: store.list_by_ids(tx, tenant_id, ids_found), tenant_id
        )
    # Until the index is complete, all customers are scanned, for as long as a query may take.
    substrings = Filter(
        words=tuple(unicodedata.normalize("NFC", q).split()[:_MAX_WORDS]),
        newest=None if ids_found is None else _MAX_SCANNED,
    )
    return await database.read_unindexed(
        lambda tx: store.list_customers(tx, tenant_id, substrings, page), tenant_id
    )


async def _add(tx: Tx, tenant_id: str, new: NewCustomer, now_us: int) -> Customer:
    customer = rules.new_customer(
        new, tenant_id=tenant_id, customer_id=ids.mint(now_us), now_us=now_us
    )
    await store.add(tx, customer)
    await _record(tx, "customer.created", customer, events.NO_CHANGES, now_us)
    return customer


async def _change(tx: Tx, customer: Customer, change: CustomerChange, now_us: int) -> Customer:
    changed = rules.apply_change(customer, change, now_us)
    if changed is customer:
        return customer
    if representation.check_object(changed.metadata):
        raise invalid([Fault("/metadata", "too_large", representation.TOGETHER_TOO_LARGE)])
    for email in (changed.email, *changed.other_emails):
        if not rules.has_address(customer, email):
            await check_email_free(tx, customer.tenant_id, email)
    await store.replace(tx, customer, changed)
    changes = rules.differences(customer, changed)
    await _record(tx, "customer.updated", changed, changes, now_us)
    return changed


async def check_email_free(tx: Tx, tenant_id: str, email: str, *own_ids: str) -> None:
    """Raises Conflict if another customer has the address than these."""
    other = await store.find_by_email(tx, tenant_id, email)
    if other is not None and other.id not in own_ids:
        raise Conflict(CUSTOMER_EMAIL_TAKEN, existing_id=other.id)


async def _record(
    tx: Tx, kind: events.EventType, customer: Customer, changes: events.Changes, now_us: int
) -> None:
    document = rules.to_json(customer)
    await events.record(tx, customer.tenant_id, kind, document, changes, now_us)
