"""What happens to held replies; each action is one transaction's worth of work."""

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, gettext_noop, invalid
from sealdesk.event_log import presence
from sealdesk.records import audit
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.held_replies import store
from sealdesk.tickets.held_replies.types import HELD_S, MAX_OF_USER, DueReply, HeldReply
from sealdesk.tickets.notifications import store as notifications
from sealdesk.tickets.ticket.store import assignees, replying
from sealdesk.web.form import Form

_SECOND_US = 1_000_000
_TOKEN = "form_token"  # noqa: S105 - the name of a field
_TOO_MANY = gettext_noop(
    "Not sent: %(limit)s of your replies have not left. Open or discard those that could not."
)


async def hold(
    tx: Tx, caller: Caller, ticket_id: str, form: Form, *, now_us: int, real_now_us: int
) -> HeldReply:
    """Store a reply until it leaves; the stored one if it is sent again. Raises ValidationFailed.

    real_now_us: without a test clock.
    """
    tenant_id, author = caller.tenant_id, caller.actor
    stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
    await tx.lock(f"held replies of {author.id}", tenant_id)
    fields = [[name, value] for name, value in form.fields if name != _TOKEN]
    held = HeldReply(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        ticket_id=ticket_id,
        number=stored.ticket.number,
        user_id=author.id,
        user_name=author.name,
        fields=msgspec.json.encode(fields).decode(),
        due_at=real_now_us + HELD_S * _SECOND_US,
    )
    own = await store.list_of_user(tx, tenant_id, author.id)
    for each in own:
        if each.failed_at is None and (each.ticket_id, each.fields) == (ticket_id, held.fields):
            return each
    if len(own) >= MAX_OF_USER:
        raise invalid([Fault("/body", "too_many_held", _TOO_MANY, {"limit": MAX_OF_USER})])
    await store.add(tx, held)
    await replying.clear_replying(tx, tenant_id, ticket_id, author.id)
    await presence.count_changes(tx, tenant_id, [ticket_id])
    return held


async def take_back(tx: Tx, caller: Caller, ticket_id: str, held_id: str) -> HeldReply | None:
    """Delete a held reply of the ticket and return it; None if it is gone.

    While it may still leave, only its author takes it back.
    """
    held = await store.find(tx, caller.tenant_id, held_id)
    if held is None or held.ticket_id != ticket_id:
        return None
    if held.failed_at is None and not held.is_of(caller.actor.id):
        return None
    await store.delete(tx, held)
    await presence.count_changes(tx, caller.tenant_id, [ticket_id])
    return held


async def fail(tx: Tx, due: DueReply, reason: str, *, now_us: int, real_now_us: int) -> None:
    """Keep a reply that could not leave, and tell its author, or else the assignee."""
    held = await store.find(tx, due.tenant_id, due.id)
    if held is None or held.failed_at is not None:
        return
    ticket = (await tickets.get_ticket(tx, due.tenant_id, held.ticket_id)).ticket
    shown_on = ticket.merged_into_id or ticket.id
    await store.fail(tx, held, real_now_us, reason, shown_on)
    is_active = await assignees.is_assignable(tx, due.tenant_id, held.user_id)
    told = held.user_id if is_active else ticket.assignee_id
    await notifications.add(
        tx,
        due.tenant_id,
        [told] if told else [],
        "unsent",
        shown_on,
        actor_name=held.user_name,
        now_us=now_us,
    )


async def change_setting(tx: Tx, caller: Caller, *, is_on: bool, now_us: int) -> None:
    """Let the desk hold public replies, or send them at once."""
    await store.save_setting(tx, caller.tenant_id, is_on=is_on, now_us=now_us)
    await audit.record(tx, caller, "reply_settings.updated", None, {"is_on": is_on}, now_us)
