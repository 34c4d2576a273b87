"""Linking tickets, which leaves the tickets themselves as they are."""

import msgspec

from sealdesk.caller import Caller
from sealdesk.customers.types import CustomerRef
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, ValidationFailed, gettext_noop, invalid
from sealdesk.tickets import actions as ticket_actions
from sealdesk.tickets import checks
from sealdesk.tickets.erasing.rules import is_nobody
from sealdesk.tickets.links import rules, store
from sealdesk.tickets.links.errors import LINK_CIRCLE, LINKED_OTHERWISE, TOO_MANY_LINKS
from sealdesk.tickets.links.types import NewTicketLink, Relation, TicketLinkResponse
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import Ticket

_UNKNOWN = gettext_noop("There is no ticket with this id.")
_ITSELF = gettext_noop("This is the ticket itself. Name another one.")
_ERASED = gettext_noop("The customer of one of the two tickets is erased.")


async def list_links(tx: Tx, tenant_id: str, ticket_id: str) -> list[TicketLinkResponse]:
    """The links of a ticket, by the id of the other one. Raises NotFound."""
    await ticket_actions.get_ticket(tx, tenant_id, ticket_id)
    return rules.show(await store.list_links(tx, tenant_id, ticket_id))


async def add_link(
    tx: Tx, caller: Caller, ticket_id: str, new: NewTicketLink, *, now_us: int
) -> TicketLinkResponse:
    """A link that is there already stays. Raises NotFound, Conflict, ValidationFailed."""
    # Of two links at once, each could close a circle with the other one.
    await tx.lock("ticket links", caller.tenant_id)
    ticket, other = await _get_both(tx, caller.tenant_id, ticket_id, new.ticket_id)
    found = await store.find_relation(tx, caller.tenant_id, ticket.id, other.id)
    if found is None:
        hindrance = await _find_hindrance(tx, ticket, other.id, new.relation)
        if hindrance is not None:
            raise hindrance
        await store.add(tx, caller.tenant_id, ticket.id, other.id, new.relation, now_us)
        back = rules.MIRRORED[new.relation]
        await history.add(tx, ticket, caller.actor, {new.relation: (None, other.number)}, now_us)
        await history.add(tx, other, caller.actor, {back: (None, ticket.number)}, now_us)
    elif found != new.relation:
        raise Conflict(LINKED_OTHERWISE, relation=found)
    links = await list_links(tx, caller.tenant_id, ticket.id)
    return next(each for each in links if each.id == other.id)


async def remove_link(
    tx: Tx, caller: Caller, ticket_id: str, other_id: str, *, now_us: int
) -> None:
    """Tickets that are not linked stay so. Raises NotFound."""
    await tx.lock("ticket links", caller.tenant_id)
    ticket = (await ticket_actions.get_ticket(tx, caller.tenant_id, ticket_id)).ticket
    relation = await store.find_relation(tx, caller.tenant_id, ticket_id, other_id)
    if relation is None:
        return
    other = (await ticket_actions.get_ticket(tx, caller.tenant_id, other_id)).ticket
    await store.remove(tx, caller.tenant_id, ticket_id, other_id)
    back = rules.MIRRORED[relation]
    await history.add(tx, ticket, caller.actor, {relation: (other.number, None)}, now_us)
    await history.add(tx, other, caller.actor, {back: (ticket.number, None)}, now_us)


async def copy_links(tx: Tx, source: Ticket, target: Ticket, now_us: int) -> None:
    """Give a ticket the links of one that is merged into it, except those that it cannot have."""
    await tx.lock("ticket links", source.tenant_id)
    for link in await store.list_links(tx, source.tenant_id, source.id):
        if link.other_id == target.id or await store.find_relation(
            tx, source.tenant_id, target.id, link.other_id
        ):
            continue
        if await _find_hindrance(tx, target, link.other_id, link.relation) is None:
            await store.add(tx, source.tenant_id, target.id, link.other_id, link.relation, now_us)


async def take_links_back(tx: Tx, target: Ticket, copied_at: int) -> None:
    """Undo `copy_links`, which was called at that time."""
    for link in await store.list_links(tx, target.tenant_id, target.id):
        if link.created_at == copied_at:
            await store.remove(tx, target.tenant_id, target.id, link.other_id)


async def _get_both(tx: Tx, tenant_id: str, ticket_id: str, other_id: str) -> tuple[Ticket, Ticket]:
    stored = await ticket_actions.get_ticket(tx, tenant_id, ticket_id)
    other = await ticket_store.find(tx, tenant_id, other_id)
    if other is None:
        raise _refused("unknown_ticket", _UNKNOWN)
    if other_id == ticket_id:
        raise _refused("same_ticket", _ITSELF)
    for each in (stored, other):
        await checks.check_not_merged(tx, each.ticket)
        customer = msgspec.json.decode(each.reference, type=CustomerRef)
        if is_nobody(customer.id, customer.email):
            raise _refused("erased_ticket", _ERASED)
    return stored.ticket, other.ticket


def _refused(code: str, message: str) -> ValidationFailed:
    return invalid([Fault("/ticket_id", code, message)])


async def _find_hindrance(
    tx: Tx, ticket: Ticket, other_id: str, relation: Relation
) -> Conflict | None:
    """Why two tickets that are not linked cannot be."""
    for each in (ticket.id, other_id):
        if await store.is_full(tx, ticket.tenant_id, each):
            return Conflict(TOO_MANY_LINKS, limit=rules.MAX_LINKS)
    if relation not in ("blocks", "blocked_by"):
        return None
    pair = (other_id, ticket.id) if relation == "blocks" else (ticket.id, other_id)
    return Conflict(LINK_CIRCLE) if await store.is_blocking(tx, ticket.tenant_id, *pair) else None
