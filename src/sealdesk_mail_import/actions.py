"""What an imported message does; each action is part of a transaction."""

from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import IMPORT, Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.mail.receiving import actions as receiving
from sealdesk.mail.receiving import authors, contents, effects, rules
from sealdesk.mail.receiving.cases import read_case, read_origin
from sealdesk.mail.receiving.effects import Writer
from sealdesk.mail.receiving.types import Case, Effect, FromAddress, Incoming, ReceivedMessage
from sealdesk.tickets.ticket.types import NewReplyAuthor

_REPORT = "a report about the delivery of a message"
_TO_ITSELF = "sent by the mailbox to itself"
_AUTOMATIC = "an automatic message of the desk"


class _Desk(NamedTuple):
    """Who of the desk has written a message, and to whom outside it.

    agent_id: None for the mailbox itself.
    """

    agent_id: str | None
    to: tuple[FromAddress, ...]


async def import_message(tx: Tx, incoming: Incoming, now_us: int) -> ReceivedMessage | None:
    """Store an old message and its effect; None if it is known. It has a history."""
    origin = await read_origin(tx, incoming)
    claimed = await receiving.claim(tx, incoming, origin, now_us)
    if claimed is None:
        return None
    case = await read_case(tx, incoming, origin, now_us)
    return await receiving.finish(tx, claimed, await _apply(tx, case, now_us))


async def _apply(tx: Tx, case: Case, now_us: int) -> Effect:
    if case.block is not None:
        return Effect("blocked", case.block)
    if case.incoming.message.is_spam:
        return Effect("spam", "marked by the mail server")
    if case.incoming.message.delivery_status is not None:
        return Effect("ignored", _REPORT)
    thread, desk = case.thread, _find_desk(case)
    if desk is not None:
        return await _apply_from_desk(tx, case, desk, now_us)
    if thread is None:
        return await effects.open_ticket(tx, case, now_us)
    if thread.sender is None:
        return await effects.add_strangers_note(tx, case, thread, now_us)
    is_internal = contents.is_by_program(case.incoming)
    return await effects.add_reply(tx, case, thread, now_us, is_internal=is_internal)


async def _apply_from_desk(tx: Tx, case: Case, desk: _Desk, now_us: int) -> Effect:
    is_automatic = contents.is_by_program(case.incoming)
    if case.thread is not None:
        by, is_internal = _writer(case.incoming, desk), is_automatic or not desk.to
        return await effects.add_reply(
            tx, case, case.thread, now_us, is_internal=is_internal, by=by
        )
    if is_automatic:
        return Effect("ignored", _AUTOMATIC)
    if desk.to:
        return await effects.open_ticket(tx, case, now_us, customer=desk.to[0])
    if desk.agent_id is None:
        return Effect("ignored", _TO_ITSELF)
    return await effects.open_ticket(tx, case, now_us)


def _find_desk(case: Case) -> _Desk | None:
    """None for a message of somebody who is not of the desk."""
    message, history = case.incoming.message, case.incoming.history
    if not rules.is_of_desk(case, case.sender.address):
        return None
    outside = [
        FromAddress(each.address, authors.name_of(each), True)
        for each in contents.people_of(message)
        if not rules.is_of_desk(case, each.address)
    ]
    agents = history.agents if history else {}
    return _Desk(agents.get(contents.mailbox_identity(case.sender.address)), tuple(outside))


def _writer(incoming: Incoming, desk: _Desk) -> Writer:
    mailbox = incoming.mailbox
    actor = Actor("system", ids.NONE, mailbox.display_name or mailbox.address)
    caller = Caller(mailbox.tenant_id, actor, frozenset({IMPORT}), "", has_custom_fields=False)
    author = NewReplyAuthor("agent", desk.agent_id) if desk.agent_id else None
    return Writer(caller, author)
