"""Checks in the transaction of a change: its assignee, team and author, and how many snooze."""

from sealdesk.caller import IMPORT, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, Forbidden, gettext_noop, invalid, must_exist
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS
from sealdesk.resources.addresses import is_read
from sealdesk.tickets.snoozing import store as snoozed
from sealdesk.tickets.ticket import snoozing
from sealdesk.tickets.ticket.errors import NO_RECIPIENT, TICKET_MERGED, TOO_MANY_SNOOZED
from sealdesk.tickets.ticket.store import assignees, destinations, teams, tickets
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import (
    Author,
    AuthorType,
    NewReply,
    NewReplyAuthor,
    NewTicket,
    Source,
    Ticket,
)

_NO_AGENT = gettext_noop("There is no such active agent. Choose another one.")
_NO_TEAM = gettext_noop("There is no such team. Choose another one.")
_MAX_MERGES = 50  # a ticket was merged into another one, and that one into the next


async def check_new(tx: Tx, tenant_id: str, new: NewTicket) -> None:
    """That its assignee is an active user, and its team exists. Raises ValidationFailed."""
    await _check_assignee(tx, tenant_id, new.assignee_id)
    await _check_team(tx, tenant_id, new.team_id)


async def check_changed(tx: Tx, before: Ticket, after: Ticket) -> None:
    """The same of those that a change sets; the others may be gone. Raises ValidationFailed."""
    if after.assignee_id != before.assignee_id:
        await _check_assignee(tx, after.tenant_id, after.assignee_id)
    if after.team_id != before.team_id:
        await _check_team(tx, after.tenant_id, after.team_id)


async def check_snoozed(tx: Tx, tenant_id: str) -> None:
    """Raises Conflict if no further ticket can be snoozed."""
    limit = snoozing.MAX_SNOOZED
    if await snoozed.count_snoozed(tx, tenant_id, limit) >= limit:
        raise Conflict(TOO_MANY_SNOOZED, limit=limit)


async def check_not_merged(tx: Tx, ticket: Ticket) -> None:
    """Raises Conflict, which names the ticket that goes on, also after several merges."""
    if ticket.merged_into_id is not None:
        ongoing = await get_ongoing_ticket(tx, ticket.tenant_id, ticket.merged_into_id)
        raise Conflict(TICKET_MERGED, ticket_id=ticket.id, merged_into_id=ongoing.ticket.id)


async def get_ongoing_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer:
    """The ticket, or the one that it was merged into. Raises NotFound."""
    stored = must_exist(await tickets.find(tx, tenant_id, ticket_id))
    for _ in range(_MAX_MERGES):
        if stored.ticket.merged_into_id is None:
            break
        stored = must_exist(await tickets.find(tx, tenant_id, stored.ticket.merged_into_id))
    return stored


async def check_recipients(tx: Tx, ticket: Ticket, new: NewReply) -> None:
    """That somebody can get a public reply to a ticket that came by e-mail. Raises Conflict.

    Not what a customer has written, and what is imported: neither is sent.
    """
    is_of_customer = new.author is not None and new.author.type == "customer"
    if new.is_internal or is_of_customer or new.created_at is not None:
        return
    if await lacks_recipient(tx, ticket.tenant_id, ticket.id, ticket.source):
        raise Conflict(NO_RECIPIENT)


async def lacks_recipient(tx: Tx, tenant_id: str, ticket_id: str, source: Source) -> bool:
    """Whether a ticket came by e-mail, the desk sends, and nobody reads what it would send."""
    if source != "email":
        return False
    addresses = await destinations.list_participants(tx, tenant_id, ticket_id)
    return not any(map(is_read, addresses)) and await destinations.sends(tx, tenant_id)


async def get_author(
    tx: Tx, caller: Caller, wanted: NewReplyAuthor | None, stored: TicketAndCustomer
) -> Author:
    """Who a new reply is by: the caller, the customer of its ticket, or the agent who is named.

    Raises Forbidden, ValidationFailed.
    """
    if wanted is not None and wanted.type == "customer":
        return Author("customer", stored.ticket.customer_id, stored.customer_name)
    if wanted is not None and wanted.type == "agent":
        _check_may_import(caller)
        agent = await _get_agent(tx, caller.tenant_id, wanted.id or "")
        return Author("agent", agent.id, agent.name)
    actor = caller.actor
    if actor.kind == "customer":
        return Author("customer", actor.id, actor.name or None)
    kind: AuthorType = "api_key" if actor.kind == "api_key" else "agent"
    return Author(kind, actor.id, actor.name)


async def _check_assignee(tx: Tx, tenant_id: str, user_id: str | None) -> None:
    if user_id is None or await assignees.is_assignable(tx, tenant_id, user_id):
        return
    raise invalid([Fault("/assignee_id", "unknown_assignee", _NO_AGENT)])


async def _check_team(tx: Tx, tenant_id: str, team_id: str | None) -> None:
    if team_id is None or await teams.is_team(tx, tenant_id, team_id):
        return
    raise invalid([Fault("/team_id", "unknown_team", _NO_TEAM)])


def _check_may_import(caller: Caller) -> None:
    if IMPORT not in caller.may:
        granted = sorted(caller.may)
        raise Forbidden(INSUFFICIENT_PERMISSIONS, needs=IMPORT, required=[IMPORT], granted=granted)


async def _get_agent(tx: Tx, tenant_id: str, user_id: str) -> Assignee:
    """The user whose name a reply gets, active or not. Raises ValidationFailed."""
    found = await assignees.find_assignees(tx, tenant_id, [user_id])
    if user_id in found:
        return found[user_id]
    message = "There is no such agent; GET /api/v1/external/agents lists the active ones."
    raise invalid([Fault("/author/id", "unknown_agent", message)])
