"""What is read and stored for a rating; part of a transaction."""

from typing import NamedTuple

from sealdesk.caller import Actor, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, invalid, must_exist
from sealdesk.event_log import events
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form.rules import faults_of_url
from sealdesk.mail.ratings import links, rules, store
from sealdesk.mail.ratings.errors import ALREADY_RATED, NOBODY_TO_RATE
from sealdesk.mail.ratings.links import Opened
from sealdesk.mail.ratings.rules import State
from sealdesk.mail.ratings.types import AskSettings, Rating
from sealdesk.mail.threads import redaction
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.redaction import Secrets, redact
from sealdesk.records import audit
from sealdesk.resources.representation import check_seen, fingerprint
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.promises.keeping import email_of
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer


class LinkedTicket(NamedTuple):
    """What a link asks about. secrets: what no text may show."""

    stored: TicketAndCustomer
    state: State
    desk_name: str
    secrets: Secrets


async def save_settings(
    tx: Tx, caller: Caller, wanted: AskSettings, *, now_us: int, seen: str = ""
) -> AskSettings:
    """Store whether a desk asks for ratings by e-mail.

    seen: the `fingerprint` of the settings that the caller has seen, "" for any.
    Raises ValidationFailed, PreconditionFailed.
    """
    await tx.lock("rating settings", caller.tenant_id)
    check_seen(seen, fingerprint(await store.find_settings(tx, caller.tenant_id)))
    if faults := faults_of_url(wanted.base_url):
        raise invalid(faults)
    settings = AskSettings(wanted.is_on, wanted.delay_hours, wanted.base_url.rstrip("/"))
    await store.save_settings(tx, caller.tenant_id, settings, now_us)
    details = {name: getattr(settings, name) for name in AskSettings.__struct_fields__}
    await audit.record(tx, caller, "rating_settings.updated", None, details, now_us)
    return settings


async def make_link(tx: Tx, tenant_id: str, ticket_id: str, *, now_us: int) -> Opened:
    """What a new link to rate a ticket names. Raises NotFound, Conflict."""
    stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
    await checks.check_not_merged(tx, stored.ticket)
    state = _state_of(stored)
    if state != "open":
        raise Conflict(ALREADY_RATED if state == "rated" else NOBODY_TO_RATE)
    return links.opened_until(tenant_id, stored.ticket.id, now_us)


async def get_linked_ticket(tx: Tx, opened: Opened, key_ring: KeyRing, now_us: int) -> LinkedTicket:
    """What a link asks about. Raises NotFound."""
    tenant_id, ticket_id = opened.tenant_id, opened.ticket_id
    stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
    tenant = must_exist(await identity.find_tenant(tx, tenant_id))
    listed = await threads.list_participants(tx, tenant_id, ticket_id)
    state = _state_of(stored)
    if state == "open" and opened.expires_at <= now_us:
        state = "over"
    return LinkedTicket(stored, state, tenant.name, redaction.secrets_of(key_ring, listed))


async def rate(
    tx: Tx, opened: Opened, given: Rating, key_ring: KeyRing, now_us: int
) -> LinkedTicket:
    """Store the rating, unless the ticket cannot be rated; as it was before. Raises NotFound."""
    linked = await get_linked_ticket(tx, opened, key_ring, now_us)
    if linked.state != "open":
        return linked
    comment = redact(given.comment, linked.secrets)
    update = rules.rated(linked.stored.ticket, Rating(given.rating, comment), now_us)
    document = await store.rate(tx, update.before, update.after)
    stored = linked.stored._replace(ticket=update.after)
    view = tickets.view_of(stored, document)
    actor = Actor("customer", update.after.customer_id, stored.customer_name or "")
    caller = Caller(opened.tenant_id, actor, frozenset(), "")
    in_history: events.Changes = {"rating": (None, given.rating)}
    await tickets.record_change(tx, caller, update, view, now_us, in_history=in_history)
    changes = update.changes
    await events.record(tx, opened.tenant_id, "ticket.rated", view.json, changes, now_us)
    return linked


def _state_of(stored: TicketAndCustomer) -> State:
    return rules.state_of(stored.ticket, email_of(stored.reference))
