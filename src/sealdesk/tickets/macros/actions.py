"""What a caller does with macros; each action is the work of one transaction."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid, must_exist, raise_any
from sealdesk.records import audit
from sealdesk.resources import representation
from sealdesk.resources.identity import is_visible
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.macros import rules, store, variables
from sealdesk.tickets.macros.errors import TOO_MANY_MACROS
from sealdesk.tickets.macros.types import (
    ME,
    OF_THE_DESK,
    AppliedMacro,
    Macro,
    MacroChange,
    NewMacro,
    Reader,
)
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.rules import distinct
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.types import (
    MAX_TEXT_LENGTH,
    NewReply,
    Ticket,
    TicketChange,
    TicketResponse,
)

_TAKEN = gettext_noop("Another macro has this shortcut.")
_NAME_TAKEN = gettext_noop("Another macro has this name.")
_NO_AGENT = gettext_noop('This must be an active user of the desk, or "me".')
_NO_TEAM = gettext_noop("There is no such team.")
_TOO_LONG = gettext_noop(
    "With its variables filled in, the text is longer than %(limit)s characters."
)
_decode_ticket = msgspec.json.Decoder(TicketResponse).decode


async def get_macro(tx: Tx, tenant_id: str, macro_id: str, reader: Reader = OF_THE_DESK) -> Macro:
    """A macro that somebody sees. Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, macro_id, reader))


async def create_macro(
    tx: Tx,
    caller: Caller,
    new: NewMacro,
    *,
    now_us: int,
    owner_id: str = "",
    attachment_ids: Sequence[str] = (),
) -> Macro:
    """owner_id: see Macro. Raises ValidationFailed, Conflict if there are many."""
    await _lock_macros(tx, caller)
    own_id = caller.actor.id if owner_id == caller.actor.id else ""
    if owner_id != own_id and not await teams.is_team(tx, caller.tenant_id, owner_id):
        raise invalid([Fault("/owner_id", "unknown_team", _NO_TEAM)])
    limit = rules.MAX_OWN_MACROS if own_id else rules.MAX_MACROS
    if await store.count(tx, caller.tenant_id, own_id) >= limit:
        raise Conflict(TOO_MANY_MACROS, limit=limit)
    fields = msgspec.structs.asdict(new) | {"tags": distinct(new.tags)}
    macro = Macro(
        **fields,
        tenant_id=caller.tenant_id,
        owner_id=owner_id,
        id=ids.mint(now_us),
        created_at=now_us,
        updated_at=now_us,
    )
    await _check(tx, macro, None)
    await store.add(tx, macro)
    await attachments.keep_for_macro(tx, macro.tenant_id, macro.id, attachment_ids)
    await _record_audit(tx, caller, "macro.created", macro, now_us)
    return macro


async def change_macro(
    tx: Tx,
    caller: Caller,
    macro_id: str,
    change: MacroChange,
    *,
    now_us: int,
    reader: Reader = OF_THE_DESK,
    attachment_ids: Sequence[str] | None = None,
    seen: str = "",
) -> Macro:
    """The macro after the change. seen: the `updated_at` that the caller has seen, "" for any.

    Without attachment_ids its files stay. Raises NotFound, PreconditionFailed, ValidationFailed.
    """
    await _lock_macros(tx, caller)
    macro = await get_macro(tx, caller.tenant_id, macro_id, reader)
    representation.check_seen(seen, str(macro.updated_at))
    changed = rules.changed(macro, change, now_us)
    tenant_id = caller.tenant_id
    if attachment_ids is not None and await attachments.keep_for_macro(
        tx, tenant_id, macro_id, attachment_ids
    ):
        changed = msgspec.structs.replace(changed, updated_at=now_us)
    if changed is macro:
        return macro
    await _check(tx, changed, macro)
    await store.replace(tx, changed)
    changes = rules.differences(macro, changed)
    await _record_audit(tx, caller, "macro.updated", changed, now_us, changes=changes)
    return changed


async def delete_macro(
    tx: Tx, caller: Caller, macro_id: str, *, now_us: int, reader: Reader = OF_THE_DESK
) -> None:
    """Raises NotFound, also the second time."""
    await _lock_macros(tx, caller)
    macro = await get_macro(tx, caller.tenant_id, macro_id, reader)
    await attachments.keep_for_macro(tx, caller.tenant_id, macro_id, ())
    await store.delete(tx, caller.tenant_id, macro_id)
    await _record_audit(tx, caller, "macro.deleted", macro, now_us)


async def apply_macro(tx: Tx, caller: Caller, ticket_id: str, macro_id: str) -> AppliedMacro:
    """What a macro would do to a ticket; nothing is stored. Raises NotFound."""
    view = await tickets.get_view(tx, caller.tenant_id, ticket_id)
    user_id, ticket = caller.actor.id, _decode_ticket(view.json)
    macro = await get_macro(tx, caller.tenant_id, macro_id, Reader(user_id))
    assignee_id = rules.assignee_of(macro, user_id)
    assignee = None
    if assignee_id is not None:
        assignee = await assignees.find_assignee(tx, caller.tenant_id, assignee_id)
    is_assigned = assignee is not None and assignee.is_active
    team_id, team_name = macro.team_id, await _team_name(tx, macro)
    is_team = team_id is not None and await teams.is_team(tx, caller.tenant_id, team_id)
    values = rules.values_for(ticket, caller.actor.name)
    return AppliedMacro(
        macro,
        variables.fill(macro.body, values) if is_visible(macro.body) else "",
        status=rules.unless_same(macro.status, ticket.status),
        priority=rules.unless_same(macro.priority, ticket.priority),
        assignee_id=rules.unless_same(assignee_id, ticket.assignee_id) if is_assigned else "",
        assignee_name=assignee.name if assignee else "",
        team_id=rules.unless_same(team_id, ticket.team_id) if is_team else "",
        team_name=team_name,
        tags=distinct([*ticket.tags, *macro.tags])[len(ticket.tags) :],
        ticket_tags=ticket.tags,
        is_assignee_missing=assignee_id is not None and not is_assigned,
        is_team_missing=team_id is not None and not is_team,
        files=await attachments.list_of_macro(tx, caller.tenant_id, macro_id),
    )


async def check_use(tx: Tx, ticket: Ticket, applied: AppliedMacro, now_us: int) -> None:
    """Raises what `use_macro` would, for a ticket as it is now."""
    await checks.check_not_merged(tx, ticket)
    if applied.text:
        ticket_rules.check_takes_replies(ticket)
        await checks.check_recipients(tx, ticket, _reply_of(applied))
    ticket_rules.apply_change(ticket, rules.change_of(applied), now_us)


async def use_macro(
    tx: Tx, caller: Caller, ticket_id: str, macro_id: str, *, if_match: str, now_us: int
) -> None:
    """Write what a macro does to a ticket: its reply, then its changes, which may close the ticket.

    if_match: the ETag that the ticket must still have.
    Raises NotFound, PreconditionFailed, Conflict, ValidationFailed.
    """
    stored = await tickets.get_ticket(tx, caller.tenant_id, ticket_id)
    representation.check_match((if_match,), stored.etag)
    applied = await apply_macro(tx, caller, ticket_id, macro_id)
    if applied.text:
        new = _reply_of(applied)
        await tickets.reply(tx, caller, ticket_id, new, now_us=now_us, needs_recipient=True)
    change = rules.change_of(applied)
    if change != TicketChange():
        await tickets.change_ticket(tx, caller, ticket_id, change, if_match=None, now_us=now_us)


def _reply_of(applied: AppliedMacro) -> NewReply:
    if len(applied.text) > MAX_TEXT_LENGTH:
        raise invalid([Fault("/body", "too_long", _TOO_LONG, {"limit": MAX_TEXT_LENGTH})])
    return NewReply(applied.text, attachment_ids=[each.id for each in applied.files])


async def _team_name(tx: Tx, macro: Macro) -> str:
    wanted = [macro.team_id] if macro.team_id else []
    return (await teams.list_names(tx, macro.tenant_id, wanted)).get(macro.team_id or "", "")


async def _check(tx: Tx, macro: Macro, before: Macro | None) -> None:
    faults = rules.find_empty(macro)
    # Two that were different may have become the same (decision 0141).
    is_same = before is not None and before.shortcut == macro.shortcut
    for owner_id in () if is_same else {"", macro.owner_id}:
        found_id = await store.find_shortcut(tx, macro.tenant_id, macro.shortcut, owner_id)
        if found_id not in (None, macro.id):
            faults.append(Fault("/shortcut", "taken", _TAKEN))
    if (before is None or before.name != macro.name) and await _is_name_taken(tx, macro):
        faults.append(Fault("/name", "taken", _NAME_TAKEN))
    is_same = before is not None and before.assignee_id == macro.assignee_id
    if not is_same and not await _may_be_assigned(tx, macro):
        faults.append(Fault("/assignee_id", "unknown_assignee", _NO_AGENT))
    is_same = before is not None and before.team_id == macro.team_id
    if not is_same and not await _may_have_team(tx, macro):
        faults.append(Fault("/team_id", "unknown_team", _NO_TEAM))
    raise_any(faults)


async def _is_name_taken(tx: Tx, macro: Macro) -> bool:
    listed = await store.list_choices(tx, macro.tenant_id, Reader(macro.owner_id))
    others = (each for each in listed if each.id != macro.id)
    return rules.order(macro)[:2] in [rules.order(each)[:2] for each in others]


async def _may_be_assigned(tx: Tx, macro: Macro) -> bool:
    if macro.assignee_id in (None, ME):
        return True
    return await assignees.is_assignable(tx, macro.tenant_id, str(macro.assignee_id))


async def _may_have_team(tx: Tx, macro: Macro) -> bool:
    return macro.team_id is None or await teams.is_team(tx, macro.tenant_id, macro.team_id)


async def _lock_macros(tx: Tx, caller: Caller) -> None:
    # Concurrent requests count each other's macros and see their shortcuts.
    await tx.lock("macros", caller.tenant_id)


async def _record_audit(
    tx: Tx, caller: Caller, action: str, macro: Macro, now_us: int, **details: Any
) -> None:
    if macro.owner_id == caller.actor.id:  # what one writes for oneself is nobody else's matter
        return
    named = {"name": macro.name, "shortcut": macro.shortcut, **details}
    await audit.record(tx, caller, action, macro.id, named, now_us)
