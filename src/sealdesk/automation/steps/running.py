"""What a rule does to one ticket, with its explanation in the history."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.automation import outcomes, references, rules
from sealdesk.automation.steps import store
from sealdesk.automation.steps.store import Effect
from sealdesk.automation.types import Cause, PauseReason, Rule, RuleActions
from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ServiceUnavailable, ValidationFailed, gettext_noop
from sealdesk.event_log import events
from sealdesk.event_log.events import Changes
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.macros import rules as macro_rules
from sealdesk.tickets.macros import variables
from sealdesk.tickets.notifications import store as notifications
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.store import assignees, history, teams
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import NewReply, TicketChange, TicketResponse

_GIVEN_UP = gettext_noop("It failed again and again for a day.")
_decode_ticket = msgspec.json.Decoder(TicketResponse).decode


class _Plan(NamedTuple):
    """What a rule does. texts: the note and the reply. names: of whom it notifies."""

    actions: RuleActions
    change: TicketChange
    texts: tuple[NewReply, ...]
    recipients: Sequence[str]
    names: Sequence[str]


async def run(
    tx: Tx, rule: Rule, stored: TicketAndCustomer, causes: list[Cause], now_us: int
) -> bool:
    """Whether the rule did something to the ticket."""
    ticket = stored.ticket
    effects = await store.list_effects(tx, rule.tenant_id, ticket.id)
    is_early = rule.hours > 0 and ticket.updated_at > now_us - rule.hours * rules.HOUR_US
    if ticket.merged_into_id is not None or is_early or _has_run(rule, ticket.version, effects):
        return False
    plan, caller = await _plan(tx, rule, stored), _caller(rule)
    if not isinstance(plan, _Plan):
        return await _pause(tx, rule, stored, plan, now_us)
    in_history: dict[str, Any] = {"rule": (None, [[*each] for each in causes])}
    try:
        update = ticket_rules.apply_change(ticket, plan.change, now_us)
        if not update.changes and not outcomes.others_of(plan.actions):
            return False
        recent = [each for each in effects if each.created_at > now_us - rules.HOUR_US]
        if len(recent) >= rules.MAX_EFFECTS_PER_HOUR:
            return await _pause(tx, rule, stored, "too_many_effects", now_us)
        if plan.names:
            in_history["notified"] = None, [*plan.names]
        await _act(tx, caller, stored, plan, {**in_history, **update.changes}, now_us)
    except ServiceUnavailable:
        raise
    except ApiError as error:  # as of a field that must be filled; what was done is an effect
        failed = {**in_history, "rule_failed": (None, _reason(error))}
        await history.add(tx, ticket, caller.actor, failed, now_us)
    after = await tickets.get_ticket(tx, rule.tenant_id, ticket.id)
    if after.ticket.version == ticket.version:
        return False
    effect = Effect(rule.id, ticket.version, after.ticket.version, now_us)
    await store.add_effect(tx, rule.tenant_id, ticket.id, effect)
    return True


async def give_up(tx: Tx, rule: Rule, ticket_id: str, now_us: int) -> None:
    """Say in the history of a ticket that a rule on time has failed too often."""
    stored = await tickets.get_ticket(tx, rule.tenant_id, ticket_id)
    said = {"rule": (None, []), "rule_failed": (None, _GIVEN_UP)}
    await history.add(tx, stored.ticket, _caller(rule).actor, said, now_us)


def _caller(rule: Rule) -> Caller:
    caller = Caller(rule.tenant_id, Actor("system", rule.id, rule.name), frozenset(), "")
    return msgspec.structs.replace(caller, is_worker=True)


def _reason(error: ApiError) -> str:
    if isinstance(error, ValidationFailed) and error.faults:
        return error.faults[0].detail
    return error.detail


async def _pause(
    tx: Tx, rule: Rule, stored: TicketAndCustomer, reason: PauseReason, now_us: int
) -> bool:
    """Stop the rule; the history of the ticket says why. Returns False: nothing was done."""
    await store.pause(tx, rule, reason, now_us)
    because = {"rule_paused": (None, reason)}
    await history.add(tx, stored.ticket, _caller(rule).actor, because, now_us)
    return False


async def _plan(tx: Tx, rule: Rule, stored: TicketAndCustomer) -> _Plan | PauseReason:
    macro = await references.find_macro(tx, rule.tenant_id, rule.actions)
    actions = outcomes.with_macro(rule.actions, macro)
    for gone in await references.list_gone(tx, rule.tenant_id, actions):
        return gone.reason
    recipients = await references.list_recipients(tx, rule.tenant_id, actions)
    names: list[str] = []
    if actions.notify:
        people = await assignees.list_names(tx, rule.tenant_id, actions.notify)
        of_teams = await teams.list_names(tx, rule.tenant_id, actions.notify)
        named = people | of_teams
        names = [named[each] for each in actions.notify if each in named]
    texts = []
    if actions.note is not None:
        texts.append(NewReply(actions.note, is_internal=True))
    if actions.reply is not None and actions.reply.strip():
        macro_id = macro.id if macro is not None and not rule.actions.reply else ""
        files = await attachments.list_of_macro(tx, rule.tenant_id, macro_id)
        text = _fill(rule, stored, actions.reply)
        texts.append(NewReply(text, attachment_ids=[each.id for each in files]))
    change = outcomes.change_of(actions, stored.ticket.priority)
    return _Plan(actions, change, tuple(texts), recipients, names)


def _fill(rule: Rule, stored: TicketAndCustomer, text: str) -> str:
    """The text of a reply with its variables: the agent is the rule, which is its author."""
    document = documents.ready_document(stored.ticket)
    ticket = _decode_ticket(tickets.view_of(stored, document).json)
    return variables.fill(text, macro_rules.values_for(ticket, rule.name))


async def _act(
    tx: Tx,
    caller: Caller,
    stored: TicketAndCustomer,
    plan: _Plan,
    in_history: Changes,
    now_us: int,
) -> None:
    """Change the ticket and write the texts, before a change that closes it, as after that it takes
    none."""
    tenant_id, ticket_id = caller.tenant_id, stored.ticket.id

    async def write() -> None:
        for each in plan.texts:
            await tickets.reply(tx, caller, ticket_id, each, now_us=now_us)

    if plan.change.status == "closed":
        await write()
        stored = await tickets.get_ticket(tx, tenant_id, ticket_id)
    update = ticket_rules.apply_change(stored.ticket, plan.change, now_us)
    if update.changes:
        await tickets.apply_change(tx, caller, stored, plan.change, now_us, in_history=in_history)
    else:
        await history.add(tx, stored.ticket, caller.actor, in_history, now_us)
    if plan.change.status != "closed":
        await write()
    if not update.changes and not plan.texts:
        await _touch(tx, stored, now_us)
    rule_name = caller.actor.name
    await notifications.add(
        tx, tenant_id, plan.recipients, "rule", ticket_id, actor_name=rule_name, now_us=now_us
    )
    if plan.actions.send_event:
        view = await tickets.get_view(tx, tenant_id, ticket_id)
        named = {"rule": (None, rule_name)}
        await events.record(tx, tenant_id, "ticket.rule_matched", view.json, named, now_us)


async def _touch(tx: Tx, stored: TicketAndCustomer, now_us: int) -> None:
    """A new version without a change, by which the effect is known."""
    before = stored.ticket
    after = msgspec.structs.replace(
        before, version=before.version + 1, updated_at=max(now_us, before.updated_at)
    )
    await ticket_store.replace(tx, before, after)


def _has_run(rule: Rule, version: int, effects: Sequence[Effect]) -> bool:
    """Whether a rule on time has acted, and only rules have changed the ticket since then."""
    if rule.trigger != "unchanged":
        return False
    for each in effects:
        if each.last_version != version:
            return False
        if each.rule_id == rule.id:
            return True
        version = each.first_version
    return False
