"""Sends held replies whose time has come: each in a transaction of its own, once."""

import logging
from functools import partial

from sealdesk.caller import Actor, without_rights
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ServiceUnavailable
from sealdesk.records import test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.state import AppState
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.held_replies import actions, store
from sealdesk.tickets.held_replies.types import DueReply, HeldReply
from sealdesk.tickets.pages import composer_form, custom_values
from sealdesk.tickets.pages.composer_form import Sent
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.store import assignees, replies

MAX_STEP = 50
_OWN = 10  # that may be newer: what an author writes within the seconds
_INACTIVE = "inactive_user"
_UNEXPECTED = "unexpected"

log = logging.getLogger("sealdesk.worker")


class _InactiveAuthor(Exception):
    """Whoever cannot log in sends nothing."""


async def list_due(state: AppState) -> list[DueReply]:
    """The next replies that leave, at most MAX_STEP."""
    now_us = state.clock.now_us()
    return await state.database.read(lambda tx: store.list_due_replies(tx, now_us, MAX_STEP))


async def release_due(due: DueReply, state: AppState) -> int:
    """Send a held reply unless it was taken back, or keep it as one that could not leave."""
    real_now_us, write = state.clock.now_us(), state.database.write
    try:
        return await write(partial(release, due=due, real_now_us=real_now_us), due.tenant_id)
    except ServiceUnavailable:
        raise
    except _InactiveAuthor:
        reason = _INACTIVE
    except ApiError as error:
        reason = error.code
    except Exception:
        log.exception("held reply was not sent", extra={"held_reply": due.id})
        reason = _UNEXPECTED
    await write(partial(_fail, due=due, reason=reason, real_now_us=real_now_us), due.tenant_id)
    return 1


async def release(tx: Tx, due: DueReply, real_now_us: int) -> int:
    """The work of one transaction; how many replies."""
    if not await tx.try_lock("held replies", due.tenant_id):
        return 0  # another worker sends those of the desk, in their order
    held = await store.find(tx, due.tenant_id, due.id)
    if held is None or held.failed_at is not None or await _has_earlier(tx, held):
        return 0
    now_us = real_now_us + await test_tenants.find_offset_us(tx, due.tenant_id)
    author = await assignees.find_assignee(tx, due.tenant_id, held.user_id)
    if author is None or not author.is_active:
        raise _InactiveAuthor
    definitions = custom_values.by_name(await custom_fields.list_active(tx, due.tenant_id))
    sent = composer_form.read_sent(held.form, definitions)
    await tickets.send_reply(
        tx,
        without_rights(due.tenant_id, Actor("user", author.id, author.name)),
        held.ticket_id,
        sent.new,
        sent.wanted,
        last_seen_id=await _find_last_seen(tx, held, sent),
        now_us=now_us,
    )
    await store.delete(tx, held)
    return 1


async def _has_earlier(tx: Tx, held: HeldReply) -> bool:
    """Whether another worker had the lock when the turn of an earlier one of the ticket came."""
    listed = await store.list_of_ticket(tx, held.tenant_id, held.ticket_id)
    return any(each.failed_at is None and each.id < held.id for each in listed)


async def _find_last_seen(tx: Tx, held: HeldReply, sent: Sent) -> str:
    """What the author wrote meanwhile was seen too, unless it is this reply, sent twice."""
    newest = PageRequest(_OWN, None)
    listed = await replies.list_replies(
        tx, held.tenant_id, held.ticket_id, newest, is_internal=None, newest_first=True
    )
    newer = [each for each in listed if each.id > sent.last_seen_id]
    is_own = all(
        each.author.id == held.user_id
        and not ticket_rules.is_same_reply(each, sent.new, held.user_id)
        for each in newer
    )
    return newer[0].id if newer and is_own else sent.last_seen_id


async def _fail(tx: Tx, due: DueReply, reason: str, real_now_us: int) -> None:
    now_us = real_now_us + await test_tenants.find_offset_us(tx, due.tenant_id)
    await actions.fail(tx, due, reason, now_us=now_us, real_now_us=real_now_us)
