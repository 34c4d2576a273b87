"""Editing one's own internal note, which is one transaction's worth of work."""

import msgspec

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.event_log import events
from sealdesk.tickets import actions as ticket_actions
from sealdesk.tickets import checks
from sealdesk.tickets.editing import rules
from sealdesk.tickets.notifications import notify
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store import history, replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import Reply


async def get_own_note(tx: Tx, caller: Caller, ticket_id: str, note_id: str) -> Reply:
    """An internal note that the caller wrote, however long ago. Raises NotFound."""
    found = await replies.find(tx, caller.tenant_id, ticket_id, note_id)
    if found is None or not rules.is_own_note(found, caller.actor.id):
        raise NotFound
    return found


async def edit_note(
    tx: Tx, caller: Caller, ticket_id: str, note_id: str, text: str, *, now_us: int
) -> bool:
    """Give a note another text; False if it is too old for that. Raises NotFound, Conflict."""
    stored = await ticket_actions.get_ticket(tx, caller.tenant_id, ticket_id)
    await checks.check_not_merged(tx, stored.ticket)
    before = await get_own_note(tx, caller, ticket_id, note_id)
    if not rules.is_recent(note_id, now_us):
        return False
    if text == before.body:
        return True
    note = msgspec.structs.replace(before, body=text)
    await replies.store_body(tx, note)
    ticket = rules.apply_edit(stored.ticket, note, now_us)
    await ticket_store.replace(tx, stored.ticket, ticket)
    changes = {"body": (before.body, text)}
    await history.add(tx, ticket, caller.actor, {"note": changes["body"]}, now_us)
    shown = documents.reply_json(note)
    await events.record(tx, caller.tenant_id, "reply.updated", shown, changes, now_us)
    await notify.edited(tx, caller, ticket, before.body, text, now_us)
    return True
