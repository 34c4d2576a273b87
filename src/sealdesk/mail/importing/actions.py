"""What an imported message does; each action is part of a transaction."""

from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import IMPORT, Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.mail.receiving import actions as receiving
from sealdesk.mail.receiving import effects, rules, store
from sealdesk.mail.receiving.effects import Writer
from sealdesk.mail.receiving.rules import FromAddress
from sealdesk.mail.receiving.types import Effect, Incoming, ReceivedMessage, Thread
from sealdesk.tickets.new_replies import NewReplyAuthor

_REPORT = "a report about the delivery of a message"
_TO_ITSELF = "sent by the mailbox to itself"
_AUTOMATIC = "an automatic message of the desk"


class _Desk(NamedTuple):
    """Who of the desk has written a message, and to whom outside it.

    agent_id: None for the mailbox itself.
    """

    agent_id: str | None
    to: tuple[FromAddress, ...]


async def take(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """Store an old message and its effect; None if it was taken before. It has a history."""
    claimed = await receiving.claim(tx, incoming, now_us)
    if claimed is None:
        return None
    return await receiving.finish(tx, claimed, await _take(tx, incoming, now_us))


async def _take(tx: Tx, incoming: Incoming, now_us: int) -> Effect:
    message, tenant_id = incoming.message, incoming.mailbox.tenant_id
    sender = rules.sender_of(message)
    if pattern := await store.find_block(tx, tenant_id, rules.block_patterns(sender.identity)):
        return Effect("blocked", pattern)
    if message.is_spam:
        return Effect("spam", "marked by the mail server")
    if message.delivery_status is not None:
        return Effect("ignored", _REPORT)
    thread, desk = await _find_thread(tx, incoming), await _find_desk(tx, incoming)
    if desk is not None:
        return await _take_from_desk(tx, incoming, thread, desk, now_us)
    if thread is None:
        return await effects.open_ticket(tx, incoming, now_us)
    if thread.sender is None:
        return await effects.add_strangers_note(tx, incoming, thread, now_us)
    is_internal = rules.automatic_reason(incoming) is not None
    return await effects.add_reply(tx, incoming, thread, now_us, is_internal=is_internal)


async def _take_from_desk(
    tx: Tx, incoming: Incoming, thread: Thread | None, desk: _Desk, now_us: int
) -> Effect:
    is_automatic = rules.automatic_reason(incoming) is not None
    if thread is not None:
        by, is_internal = _writer(incoming, desk), is_automatic or not desk.to
        return await effects.add_reply(tx, incoming, thread, now_us, is_internal=is_internal, by=by)
    if is_automatic:
        return Effect("ignored", _AUTOMATIC)
    if desk.to:
        return await effects.open_ticket(tx, incoming, now_us, customer=desk.to[0])
    if desk.agent_id is None:
        return Effect("ignored", _TO_ITSELF)
    return await effects.open_ticket(tx, incoming, now_us)


async def _find_thread(tx: Tx, incoming: Incoming) -> Thread | None:
    """With the ticket that goes on, if it was merged, and the time of its newest message."""
    thread = await receiving.find_thread(tx, incoming)
    if thread is None:
        return None
    stored = await effects.find_ticket(tx, incoming.mailbox.tenant_id, thread.ticket_id)
    ticket = stored.ticket
    return Thread(ticket.id, thread.sender, ticket.last_message_at or ticket.created_at)


async def _find_desk(tx: Tx, incoming: Incoming) -> _Desk | None:
    """None for a message of somebody who is not of the desk."""
    message, history = incoming.message, incoming.history
    agents = history.agents if history else {}
    sender = rules.mailbox_identity(rules.sender_of(message).address)
    people = [
        FromAddress(each.address, rules.name_of(each), True) for each in rules.people_of(message)
    ]
    identities = [rules.mailbox_identity(each.address) for each in people]
    tenant_of = await store.find_mailboxes(tx, [sender, *identities])
    tenant_id = incoming.mailbox.tenant_id
    own = {identity for identity, tenant in tenant_of.items() if tenant == tenant_id}
    if sender not in own and sender not in agents:
        return None
    outside = [
        person
        for person, identity in zip(people, identities, strict=True)
        if identity not in own and identity not in agents
    ]
    return _Desk(agents.get(sender), tuple(outside))


def _writer(incoming: Incoming, desk: _Desk) -> Writer:
    mailbox = incoming.mailbox
    actor = Actor("system", ids.NONE, mailbox.display_name or mailbox.address)
    caller = Caller(
        mailbox.tenant_id, actor, frozenset({IMPORT}), "", has_custom_fields=False
    )  # fmt: skip
    author = NewReplyAuthor("agent", desk.agent_id) if desk.agent_id else None
    return Writer(caller, author)
