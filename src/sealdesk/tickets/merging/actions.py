"""Merging tickets, undoing it, and splitting a ticket; each is one transaction's worth of work."""

from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.customers.types import CustomerRef
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid
from sealdesk.event_log.events import Changes
from sealdesk.tickets import actions, checks
from sealdesk.tickets.actions import OpenedTicket
from sealdesk.tickets.attachments import store as attachments
from sealdesk.tickets.followers import store as followers
from sealdesk.tickets.held_replies import store as held_replies
from sealdesk.tickets.links import actions as links
from sealdesk.tickets.merging import rules, store
from sealdesk.tickets.merging.errors import MERGE_FINAL
from sealdesk.tickets.merging.store import MovingReplies
from sealdesk.tickets.merging.types import Merge, Split, StoredMerge
from sealdesk.tickets.promises import keeping
from sealdesk.tickets.ticket.store import assignees, replies, teams
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer, TicketView
from sealdesk.tickets.ticket.types import NewTicket, Reply, Source, Ticket, TicketCustomer

_NO_TICKET = gettext_noop("There is no ticket with this id.")
_NO_REPLY = gettext_noop("This ticket has no such public reply.")
_NO_LAST_REPLY = gettext_noop("This ticket has no such reply or note behind the first one.")


class _Change(NamedTuple):
    """What moving replies does to a ticket. in_history: what its history shows.

    reply_count: of its public replies afterwards.
    """

    fields: rules.Fields
    in_history: Changes
    reply_count: int


async def merge(tx: Tx, caller: Caller, source_id: str, new: Merge, *, now_us: int) -> TicketView:
    """Move the conversation of a ticket into another one, and close it; the other one.

    Its description becomes a reply of its customer, at the time when the ticket was created.
    Raises NotFound, ValidationFailed, Conflict.
    """
    source = await actions.get_ticket(tx, caller.tenant_id, source_id)
    target = await ticket_store.find(tx, caller.tenant_id, new.into)
    if target is None:
        raise invalid([Fault("/into", "unknown_ticket", _NO_TICKET)])
    for each in (source, target):
        await checks.check_not_merged(tx, each.ticket)
    rules.check_merge(source.ticket, target.ticket)
    moving = await _list_moving(tx, source, after="")
    opening = rules.opening_reply(
        source.ticket, target.ticket, ids.mint(source.ticket.created_at), source.customer_name
    )
    await store.add(
        tx,
        StoredMerge(
            tenant_id=caller.tenant_id,
            source_id=source.ticket.id,
            target_id=target.ticket.id,
            source_status=source.ticket.status,
            opening_reply_id=opening.id,
            reply_ids=tuple(moving.ids),
            merged_at=now_us,
        ),
    )
    await store.move_replies(tx, caller.tenant_id, source.ticket.id, target.ticket.id, moving.ids)
    await held_replies.move(tx, caller.tenant_id, source.ticket.id, target.ticket.id)
    await replies.add(tx, opening)
    attached = {**moving.attached, **dict.fromkeys(_attachments(source), opening.id)}
    await attachments.relink(tx, caller.tenant_id, attached, target.ticket.id)
    await _copy_people(tx, source.ticket, target.ticket.id, now_us)
    await links.copy_links(tx, source.ticket, target.ticket, now_us)
    closed = rules.close_merged(source.ticket, target.ticket.id, now_us)
    in_history = {"merged_into": (None, target.ticket.number)}
    await _store(tx, caller, source, _Change(closed, in_history, 0), now_us)
    count = target.ticket.reply_count + moving.public_count + 1
    in_history = {"merged": (None, source.ticket.number)}
    return await _store(tx, caller, target, _Change({}, in_history, count), now_us)


async def undo(tx: Tx, caller: Caller, source_id: str, *, now_us: int) -> TicketView:
    """Take a merged ticket out of the other one again; the ticket.

    Replies that were written after the merge stay. Raises NotFound, Conflict.
    """
    source = await actions.get_ticket(tx, caller.tenant_id, source_id)
    target_id = rules.check_is_merged(source.ticket)
    target = await ticket_store.find(tx, caller.tenant_id, target_id)
    stored = await store.find(tx, caller.tenant_id, source_id)
    if stored is None or target is None or rules.is_final(stored, now_us):
        raise Conflict(MERGE_FINAL, hours=rules.UNDO_HOURS, merged_into_id=target_id)
    # It is elsewhere if the other ticket was merged or split since.
    if not await store.delete_reply(tx, caller.tenant_id, target_id, stored.opening_reply_id):
        raise Conflict(MERGE_FINAL, hours=rules.UNDO_HOURS, merged_into_id=target_id)
    await store.move_replies(tx, caller.tenant_id, target_id, source_id, stored.reply_ids)
    await store.take_participants_back(tx, caller.tenant_id, source_id, target_id, stored.merged_at)
    await links.take_links_back(tx, target.ticket, stored.merged_at)
    moved = await _list_moving(tx, source, after="")
    public_count, attached = moved.public_count, dict.fromkeys(_attachments(source))
    await attachments.relink(tx, caller.tenant_id, {**attached, **moved.attached}, source_id)
    await store.delete(tx, caller.tenant_id, source_id)
    in_history = {"merged": (source.ticket.number, None)}
    count = target.ticket.reply_count - public_count - 1
    await _store(tx, caller, target, _Change({}, in_history, count), now_us)
    reopened = rules.reopen_unmerged(source.ticket, stored.source_status)
    in_history = {"merged_into": (target.ticket.number, None)}
    return await _store(tx, caller, source, _Change(reopened, in_history, public_count), now_us)


async def split(
    tx: Tx, caller: Caller, ticket_id: str, new: Split, *, source: Source, now_us: int
) -> OpenedTicket:
    """A new ticket of the same customer that begins with a reply of this one.

    The reply and the later ones move, up to a given one. Raises NotFound, ValidationFailed,
    Conflict.
    """
    stored = await actions.get_ticket(tx, caller.tenant_id, ticket_id)
    await checks.check_not_merged(tx, stored.ticket)
    first = await _find_public_reply(tx, caller.tenant_id, ticket_id, new.reply_id)
    moving = await _list_moving(tx, stored, after=first.id, last=new.last_reply_id)
    if new.last_reply_id not in (None, *[first.id, *moving.ids][-1:]):
        raise invalid([Fault("/last_reply_id", "unknown_reply", _NO_LAST_REPLY)])
    opened = await actions.open_ticket(
        tx,
        caller,
        await _new_ticket(tx, stored, new.subject, first.body),
        source=source,
        now_us=now_us,
    )
    await store.copy_participants(tx, caller.tenant_id, ticket_id, opened.id, now_us)
    await store.delete_reply(tx, caller.tenant_id, ticket_id, first.id)
    await store.move_replies(tx, caller.tenant_id, ticket_id, opened.id, moving.ids)
    attached = dict.fromkeys(each.id for each in first.attachments)
    await attachments.relink(tx, caller.tenant_id, {**attached, **moving.attached}, opened.id)
    count = stored.ticket.reply_count - moving.public_count - 1
    in_history = {"split": (None, new.subject)}
    await _store(tx, caller, stored, _Change({}, in_history, count), now_us)
    if not moving.ids and not first.attachments:
        return opened
    fresh = await actions.get_ticket(tx, caller.tenant_id, opened.id)
    fields = {"attachments": first.attachments}
    view = await _store(tx, caller, fresh, _Change(fields, {}, moving.public_count), now_us)
    return OpenedTicket(opened.id, view)


async def _copy_people(tx: Tx, source: Ticket, target_id: str, now_us: int) -> None:
    """Let those who follow a ticket follow another one, and those who get its e-mails get its."""
    await store.copy_participants(tx, source.tenant_id, source.id, target_id, now_us)
    if source.follower_count:
        for each in await followers.list_followers(tx, source.tenant_id, source.id):
            await followers.add(tx, source.tenant_id, target_id, each.id)


def _attachments(stored: TicketAndCustomer) -> list[str]:
    """The ids of the attachments of the description."""
    return [each.id for each in stored.ticket.attachments]


async def _list_moving(
    tx: Tx, stored: TicketAndCustomer, after: str, last: str | None = None
) -> MovingReplies:
    """The replies and notes that move. Raises Conflict if they are too many."""
    ticket, limit = stored.ticket, rules.MAX_REPLIES + 1
    moving = await store.list_replies(tx, ticket.tenant_id, ticket.id, after, last, limit)
    rules.check_count(len(moving.ids))
    return moving


async def _store(
    tx: Tx, caller: Caller, stored: TicketAndCustomer, change: _Change, now_us: int
) -> TicketView:
    """Store a ticket whose replies have moved, and tell of it.

    A reply that is sent at the same time changes the version of the ticket, so the work runs again.
    """
    tenant_id, before = caller.tenant_id, stored.ticket
    conversation = await store.read_conversation(tx, tenant_id, before.id, rules.MAX_REPLIES)
    update = rules.update(
        before, change.fields, conversation, reply_count=change.reply_count, now_us=now_us
    )
    after = await keeping.go_on(
        tx, caller, before, update.after, stored.reference, at=now_us, now_us=now_us
    )
    update = update._replace(after=after)
    document = await ticket_store.replace(tx, before, after)
    view = actions.view_of(stored._replace(ticket=update.after), document)
    await actions.record_change(tx, caller, update, view, now_us, in_history=change.in_history)
    return view


async def _find_public_reply(tx: Tx, tenant_id: str, ticket_id: str, reply_id: str) -> Reply:
    """Raises ValidationFailed."""
    found = await replies.find(tx, tenant_id, ticket_id, reply_id)
    if found is not None and not found.is_internal:
        return found
    raise invalid([Fault("/reply_id", "unknown_reply", _NO_REPLY)])


async def _new_ticket(tx: Tx, stored: TicketAndCustomer, subject: str, text: str) -> NewTicket:
    """The part of a ticket that is split off, with its priority, assignee, team and tags."""
    ticket = stored.ticket
    customer = msgspec.json.decode(stored.reference, type=CustomerRef)
    is_assignable = ticket.assignee_id is not None and await assignees.is_assignable(
        tx, ticket.tenant_id, ticket.assignee_id
    )
    is_team = ticket.team_id is not None and await teams.is_team(
        tx, ticket.tenant_id, ticket.team_id
    )
    return NewTicket(
        subject=subject,
        description=text,
        customer=TicketCustomer(customer.email, customer.name),
        priority=ticket.priority,
        assignee_id=ticket.assignee_id if is_assignable else None,
        team_id=ticket.team_id if is_team else None,
        tags=list(ticket.tags),
    )
