"""What administrators and the mail tasks do with mailboxes; each is the work of one transaction."""

from typing import Any

import msgspec
from msgspec import UNSET

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, gettext_noop, invalid
from sealdesk.event_log import events
from sealdesk.mail.mailboxes import passwords, rules, store
from sealdesk.mail.mailboxes.directory import store as directory
from sealdesk.mail.mailboxes.directory.store import Place
from sealdesk.mail.mailboxes.errors import MAILBOX_ADDRESS_TAKEN, TOO_MANY_MAILBOXES
from sealdesk.mail.mailboxes.rules import Failure
from sealdesk.mail.mailboxes.types import Mailbox, MailboxChange, NewMailbox, Side
from sealdesk.records import audit
from sealdesk.records.audit import AuditEntry
from sealdesk.resources import representation
from sealdesk.tickets.store import teams

_NO_TEAM = gettext_noop("There is no such team.")


async def get_mailbox(tx: Tx, tenant_id: str, mailbox_id: str) -> Mailbox:
    """Raises NotFound."""
    mailbox = await store.find(tx, tenant_id, mailbox_id)
    if mailbox is None:
        raise NotFound
    return mailbox


async def create_mailbox(
    tx: Tx, caller: Caller, new: NewMailbox, *, key_ring: KeyRing, now_us: int
) -> Mailbox:
    """Raises ValidationFailed, Conflict for a taken address and above MAX_MAILBOXES."""
    await _lock_mailboxes(tx, caller.tenant_id)
    if len(await store.list_all(tx, caller.tenant_id)) >= rules.MAX_MAILBOXES:
        raise Conflict(TOO_MANY_MAILBOXES, limit=rules.MAX_MAILBOXES)
    mailbox = rules.created(
        new, tenant_id=caller.tenant_id, mailbox_id=ids.mint(now_us), now_us=now_us
    )
    mailbox = _with_passwords(mailbox, new, key_ring)
    await _check(tx, mailbox, rules.find_faults(mailbox), None)
    await _claim(tx, mailbox)
    await store.add(tx, mailbox)
    await _record_audit(tx, caller, "mailbox.created", mailbox, now_us)
    return mailbox


async def change_mailbox(
    tx: Tx,
    caller: Caller,
    mailbox_id: str,
    change: MailboxChange,
    *,
    key_ring: KeyRing,
    if_match: tuple[str, ...] | None,
    now_us: int,
) -> Mailbox:
    """The mailbox after the change.

    Raises NotFound, PreconditionFailed, ValidationFailed, Conflict for a taken address.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    before = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    representation.check_match(if_match, rules.etag(before))
    after = rules.changed(before, change, now_us)
    faults = rules.find_password_faults(before, after, change)
    after = _with_passwords(after, change, key_ring)
    if after == before:
        return before
    await _check(tx, after, faults or rules.find_faults(after), before)
    await _move_address(tx, before, after)
    after = msgspec.structs.replace(after, version=before.version + 1)
    after = await _forget_problems(tx, before, after, now_us)
    await store.replace(tx, after)
    changes = rules.differences(before, after)
    await _record_audit(tx, caller, "mailbox.updated", after, now_us, changes=changes)
    return after


async def delete_mailbox(tx: Tx, caller: Caller, mailbox_id: str, *, now_us: int) -> None:
    """Free its address and delete its passwords. Raises NotFound, also the second time."""
    await _lock_mailboxes(tx, caller.tenant_id)
    mailbox = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    await directory.release(tx, mailbox.address_identity, mailbox.id)
    deleted = msgspec.structs.replace(
        mailbox,
        address_identity=mailbox.id,
        sealed_imap_password=None,
        sealed_smtp_password=None,
        problem=None,
        deleted_at=now_us,
        version=mailbox.version + 1,
    )
    await store.replace(tx, deleted)
    await _record_audit(tx, caller, "mailbox.deleted", mailbox, now_us)


async def set_problem(
    tx: Tx, tenant_id: str, mailbox_id: str, side: Side, failure: Failure | None, *, now_us: int
) -> bool:
    """Store how receiving or sending went; whether that has changed.

    failure: None after a success. A mailbox that begins to fail, fails for another reason, or
    works again is told by an event.
    """
    mailbox = await store.find(tx, tenant_id, mailbox_id)
    if mailbox is None or _is_known(mailbox, side, failure, now_us):
        return False
    await _lock_mailboxes(tx, tenant_id)
    mailbox = await store.find(tx, tenant_id, mailbox_id)
    if mailbox is None or _is_known(mailbox, side, failure, now_us):
        return False
    found = rules.with_failure(mailbox.problems, side, failure, now_us)
    after = msgspec.structs.replace(mailbox, problem=rules.encode_problems(found))
    await _record_event(tx, mailbox, after, now_us)
    await store.set_problem(tx, tenant_id, mailbox_id, after.problem)
    return True


async def record_test(tx: Tx, caller: Caller, mailbox: Mailbox, *, now_us: int) -> None:
    """Record that a mailbox is tested."""
    await _record_audit(tx, caller, "mailbox.tested", mailbox, now_us)


async def reseal_mailbox(tx: Tx, tenant_id: str, mailbox_id: str, *, key_ring: KeyRing) -> bool:
    """Seal a mailbox's passwords with the first master key of the ring; whether any changed."""
    await _lock_mailboxes(tx, tenant_id)
    mailbox = await store.find(tx, tenant_id, mailbox_id)
    if mailbox is None:
        return False
    resealed = mailbox
    for protocol in rules.PROTOCOLS:
        resealed = passwords.reseal(key_ring, resealed, protocol)
    if resealed is mailbox:
        return False
    await store.store_passwords(tx, resealed)
    return True


def _with_passwords(
    mailbox: Mailbox, given: NewMailbox | MailboxChange, key_ring: KeyRing
) -> Mailbox:  # fmt: skip
    for protocol in rules.PROTOCOLS:
        password = getattr(given, f"{protocol}_password")
        has_server = getattr(mailbox, f"{protocol}_host") is not None
        if password is UNSET:
            continue
        if password is None or not has_server:
            mailbox = msgspec.structs.replace(mailbox, **{f"sealed_{protocol}_password": None})
        else:
            mailbox = passwords.seal(key_ring, mailbox, protocol, password)
    return mailbox


async def _check(tx: Tx, mailbox: Mailbox, faults: list[Fault], before: Mailbox | None) -> None:
    team_id = mailbox.team_id
    is_same = before is not None and before.team_id == team_id
    if team_id and not is_same and not await teams.is_team(tx, mailbox.tenant_id, team_id):
        faults = [*faults, Fault("/team_id", "unknown_team", _NO_TEAM)]
    if faults:
        raise invalid(faults)


async def _claim(tx: Tx, mailbox: Mailbox) -> None:
    place = Place(mailbox.tenant_id, mailbox.id)
    if not await directory.claim(tx, mailbox.address_identity, place, rules.listed_as(mailbox)):
        raise Conflict(MAILBOX_ADDRESS_TAKEN)


async def _move_address(tx: Tx, before: Mailbox, after: Mailbox) -> None:
    if before.address_identity != after.address_identity:
        await directory.release(tx, before.address_identity, before.id)
        await _claim(tx, after)
    else:
        receives = rules.listed_as(after)
        await directory.set_receives(tx, after.address_identity, after.id, receives)


async def _forget_problems(tx: Tx, before: Mailbox, after: Mailbox, now_us: int) -> Mailbox:
    """Problems of servers that were changed: the next attempt shows whether they are solved."""
    found = before.problems
    for protocol, side in rules.SIDES.items():
        names = [name for name in before.__struct_fields__ if f"{protocol}_" in name]
        if any(getattr(before, name) != getattr(after, name) for name in names):
            found = rules.with_failure(found, side, None, now_us)
    after = msgspec.structs.replace(after, problem=rules.encode_problems(found))
    await _record_event(tx, before, after, now_us)
    return after


def _is_known(mailbox: Mailbox, side: Side, failure: Failure | None, now_us: int) -> bool:
    found = mailbox.problems
    return rules.with_failure(found, side, failure, now_us) is found


async def _record_event(tx: Tx, before: Mailbox, after: Mailbox, now_us: int) -> None:
    if before.problem == after.problem:
        return
    old, new = rules.to_response(before), rules.to_response(after)
    names = ("receiving_problem", "sending_problem")
    changes = {
        name: (getattr(old, name), getattr(new, name))
        for name in names
        if getattr(old, name) != getattr(new, name)
    }
    is_failing = after.problem is not None
    await events.record(
        tx,
        after.tenant_id,
        "mailbox.failing" if is_failing else "mailbox.recovered",
        msgspec.json.encode(new),
        changes,
        now_us,
    )


async def _lock_mailboxes(tx: Tx, tenant_id: str) -> None:
    # Concurrent requests count each other's mailboxes and see their changes.
    await tx.lock("mailboxes", tenant_id)


async def _record_audit(
    tx: Tx, caller: Caller, action: str, mailbox: Mailbox, now_us: int, **details: Any
) -> None:
    named = {"address": mailbox.address, **details}
    entry = AuditEntry(action, caller.actor, caller.address, mailbox.id, named)
    await audit.record(tx, caller.tenant_id, entry, now_us)
