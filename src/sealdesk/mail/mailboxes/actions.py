"""What administrators and the mail tasks do with mailboxes; each is the work of one transaction."""

import math
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import (
    Conflict,
    Fault,
    NotFound,
    TooManyRequests,
    gettext_noop,
    must_exist,
    raise_any,
)
from sealdesk.event_log import events
from sealdesk.identity import store as users
from sealdesk.identity.types import FailureLimit
from sealdesk.mail.mailboxes import addresses, passwords, rules
from sealdesk.mail.mailboxes.errors import (
    ADDRESS_UNVERIFIED,
    CONSENT_OF_OTHER_ACCOUNT,
    MAIL_DOMAIN_ASSIGNED,
    TOO_MANY_ADDRESS_CODES,
    TOO_MANY_MAILBOXES,
)
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.store.directory import Domain
from sealdesk.mail.mailboxes.types import (
    Consent,
    Failure,
    Mailbox,
    MailboxChange,
    NewMailbox,
    Side,
    address_identity,
)
from sealdesk.oauth.providers import WITH_CONSENT
from sealdesk.records import audit
from sealdesk.resources import representation
from sealdesk.tickets.ticket.store import teams

_NO_TEAM = gettext_noop("There is no such team.")


async def get_mailbox(tx: Tx, tenant_id: str, mailbox_id: str) -> Mailbox:
    """Raises NotFound."""
    return must_exist(await mailboxes.find(tx, tenant_id, mailbox_id))


async def create_mailbox(
    tx: Tx, caller: Caller, new: NewMailbox, *, key_ring: KeyRing, now_us: int
) -> Mailbox:
    """A mailbox that is paused if its address is not verified.

    Raises ValidationFailed, Conflict for a taken address and above MAX_MAILBOXES.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    if len(await mailboxes.list_all(tx, caller.tenant_id)) >= rules.MAX_MAILBOXES:
        raise Conflict(TOO_MANY_MAILBOXES, limit=rules.MAX_MAILBOXES)
    mailbox = rules.created(
        new, tenant_id=caller.tenant_id, mailbox_id=ids.mint(now_us), now_us=now_us
    )
    faults = rules.find_log_in_faults(None, mailbox, new)
    mailbox = _with_passwords(mailbox, new, key_ring)
    await _check(tx, mailbox, faults or rules.find_faults(mailbox), None)
    unverified = await addresses.claim_verified(tx, caller, mailbox, mailbox.identities)
    mailbox = rules.with_unverified(mailbox, unverified, waited=False)
    await mailboxes.add(tx, mailbox)
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
    seen: str = "",
) -> Mailbox:
    """The mailbox after the change. seen: the version that the caller has seen, "" for any.

    Raises NotFound, PreconditionFailed, ValidationFailed, Conflict for a taken address, and to
    resume a mailbox whose address is not verified.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    before = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    representation.check_match(if_match, rules.etag(before))
    representation.check_seen(seen, str(before.version))
    after = rules.changed(before, change, now_us)
    faults = rules.find_log_in_faults(before, after, change)
    faults += rules.find_password_faults(before, after, change)
    after = rules.without_unused_consent(before, _with_passwords(after, change, key_ring))
    if after == before and not faults:
        return before
    await _check(tx, after, faults or rules.find_faults(after), before)
    changed = await _replace(tx, caller, "mailbox.updated", before, after, now_us)
    if changed.is_unverified and change.is_paused is False:
        raise Conflict(ADDRESS_UNVERIFIED, address=changed.address)
    return changed


async def connect_mailbox(
    tx: Tx, caller: Caller, mailbox_id: str, consent: Consent, *, key_ring: KeyRing, now_us: int
) -> Mailbox:
    """The mailbox that logs in with OAuth at the servers of the provider.

    Raises NotFound, Conflict if another account has consented.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    before = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    if address_identity(consent.account) != before.address_identity:
        raise Conflict(
            CONSENT_OF_OTHER_ACCOUNT, account=consent.account or "?", address=before.address
        )
    after = rules.connected(before, consent, now_us)
    after = passwords.seal(key_ring, after, "oauth", consent.refresh_token)
    if consent.provider in WITH_CONSENT:  # an application's directory is of the desk's choice
        after = await addresses.take(tx, after, {after.address_identity})
    return await _replace(tx, caller, "mailbox.connected", before, after, now_us)


async def count_code(
    tx: Tx, caller: Caller, mailbox_id: str, identity: str, *, now_us: int
) -> Mailbox:
    """The mailbox, before a code is sent to an address that it waits for.

    Raises NotFound for another address, Conflict if another desk has it by now, TooManyRequests.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    mailbox = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    await _check_waits(tx, mailbox, identity)
    limits = (rules.limit_of_codes(mailbox, identity), rules.limit_of_desk(caller.tenant_id))
    for limit in limits:
        await _count(tx, limit, now_us)
    await _record_audit(tx, caller, "mailbox.code_sent", mailbox, now_us, to=identity)
    return mailbox


async def count_try(
    tx: Tx, caller: Caller, mailbox_id: str, identity: str, *, now_us: int
) -> Mailbox:
    """The mailbox, before a code for an address is looked at.

    Raises as `count_code` does.
    """
    mailbox = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    await _check_waits(tx, mailbox, identity)
    limit = rules.limit_of_tries(mailbox, identity)
    await tx.lock(limit.bucket)
    await _count(tx, limit, now_us)
    return mailbox


async def verify_address(
    tx: Tx, caller: Caller, mailbox_id: str, identity: str, *, now_us: int
) -> Mailbox:
    """The mailbox, which has an address that it waited for.

    Raises NotFound, Conflict if another desk has it by now.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    before = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    if identity not in before.unverified:
        raise NotFound
    after = await addresses.take(tx, before, {identity})
    await users.delete_bucket(tx, rules.limit_of_tries(before, identity).bucket)
    return await _replace(tx, caller, "mailbox.verified", before, after, now_us)


async def delete_mailbox(
    tx: Tx,
    caller: Caller,
    mailbox_id: str,
    *,
    now_us: int,
    if_match: tuple[str, ...] | None = None,
) -> None:
    """Retire its address and delete its passwords.

    Raises NotFound, also the second time, and PreconditionFailed.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    mailbox = await get_mailbox(tx, caller.tenant_id, mailbox_id)
    representation.check_match(if_match, rules.etag(mailbox))
    await addresses.retire(tx, mailbox, mailbox.identities)
    deleted = msgspec.structs.replace(
        mailbox,
        address_identity=mailbox.id,
        unverified=(),
        sealed_imap_password=None,
        sealed_smtp_password=None,
        oauth_provider=None,
        sealed_refresh_token=None,
        problem=None,
        deleted_at=now_us,
        version=mailbox.version + 1,
    )
    await mailboxes.replace(tx, deleted)
    await _record_audit(tx, caller, "mailbox.deleted", mailbox, now_us)


async def free_address(tx: Tx, caller: Caller, address: str, *, now_us: int) -> None:
    """Let other desks have an address that a mailbox had. Raises NotFound."""
    if not await directory.free(tx, caller.tenant_id, address_identity(address)):
        raise NotFound
    await audit.record(tx, caller, "mailbox_address.freed", None, {"address": address}, now_us)


async def assign_domain(tx: Tx, caller: Caller, domain: Domain, *, now_us: int) -> None:
    """Give a domain to a tenant, or to everybody, and to the caller's mailboxes what they wait for.

    Mailboxes that others have in it stay. Raises Conflict if it is assigned otherwise.
    """
    await _lock_mailboxes(tx, caller.tenant_id)
    if await directory.assign_domain(tx, domain):
        details = {"domain": domain.name}
        await audit.record(tx, caller, "mailbox_domain.assigned", None, details, now_us)
    elif await directory.find_assigned(tx, domain.name) != domain:
        raise Conflict(MAIL_DOMAIN_ASSIGNED, domain=domain.name.removeprefix("@"))
    for mailbox in await mailboxes.list_all(tx, caller.tenant_id):
        for identity in mailbox.unverified:
            if identity.endswith(domain.name):
                with suppress(Conflict):  # another desk has had it before
                    await verify_address(tx, caller, mailbox.id, identity, now_us=now_us)


async def release_domain(tx: Tx, caller: Caller, domain: Domain, *, now_us: int) -> None:
    """Let every tenant have addresses of a domain. Raises NotFound."""
    if not await directory.release_domain(tx, domain.name):
        raise NotFound
    details = {"domain": domain.name}
    await audit.record(tx, caller, "mailbox_domain.released", None, details, now_us)


async def set_problem(
    tx: Tx, tenant_id: str, mailbox_id: str, side: Side, failure: Failure | None, *, now_us: int
) -> bool:
    """Store how receiving or sending went; whether that has changed.

    failure: None after a success. A mailbox that begins to fail, fails for another reason, or
    works again is told by an event.
    """
    mailbox = await mailboxes.find(tx, tenant_id, mailbox_id)
    if mailbox is None or _is_known(mailbox, side, failure, now_us):
        return False
    await _lock_mailboxes(tx, tenant_id)
    mailbox = await mailboxes.find(tx, tenant_id, mailbox_id)
    if mailbox is None or _is_known(mailbox, side, failure, now_us):
        return False
    found = rules.with_failure(mailbox.problems, side, failure, now_us)
    after = msgspec.structs.replace(mailbox, problem=rules.encode_problems(found))
    await _record_event(tx, mailbox, after, now_us)
    await mailboxes.set_problem(tx, tenant_id, mailbox_id, after.problem)
    return True


async def record_test(tx: Tx, caller: Caller, mailbox: Mailbox, *, now_us: int) -> None:
    await _record_audit(tx, caller, "mailbox.tested", mailbox, now_us)


async def reseal_mailbox(tx: Tx, tenant_id: str, mailbox_id: str, *, key_ring: KeyRing) -> bool:
    """Seal a mailbox's secrets with the first master key of the ring; whether any changed."""
    await _lock_mailboxes(tx, tenant_id)
    mailbox = await mailboxes.find(tx, tenant_id, mailbox_id)
    if mailbox is None:
        return False
    resealed = mailbox
    for name in rules.SEALED:
        resealed = passwords.reseal(key_ring, resealed, name)
    if resealed is mailbox:
        return False
    await mailboxes.store_passwords(tx, resealed)
    return True


def _with_passwords(
    mailbox: Mailbox, given: NewMailbox | MailboxChange, key_ring: KeyRing
) -> Mailbox:
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
    is_known = team_id is None or is_same or await teams.is_team(tx, mailbox.tenant_id, team_id)
    if not is_known:
        faults = [*faults, Fault("/team_id", "unknown_team", _NO_TEAM)]
    raise_any(faults)


async def _check_waits(tx: Tx, mailbox: Mailbox, identity: str) -> None:
    if identity not in mailbox.unverified:
        raise NotFound
    await addresses.check_free(tx, mailbox.tenant_id, identity)


async def _count(tx: Tx, limit: FailureLimit, now_us: int) -> None:
    """Raises TooManyRequests above the limit."""
    until_us = await users.reached_until(tx, limit, now_us)
    if until_us is not None:
        wait_s = math.ceil((until_us - now_us) / 1_000_000)
        raise TooManyRequests(TOO_MANY_ADDRESS_CODES, wait_s=wait_s)
    await users.add_attempt(tx, limit.bucket, ids.mint(now_us), now_us)


async def _replace(
    tx: Tx, caller: Caller, action: str, before: Mailbox, after: Mailbox, now_us: int
) -> Mailbox:
    after = await addresses.move(tx, caller, before, after)
    after = msgspec.structs.replace(after, version=before.version + 1)
    after = await _forget_problems(tx, before, after, now_us)
    await mailboxes.replace(tx, after)
    changes = rules.differences(before, after)
    await _record_audit(tx, caller, action, after, now_us, changes=changes)
    return after


async def _forget_problems(tx: Tx, before: Mailbox, after: Mailbox, now_us: int) -> Mailbox:
    """Problems of servers that were changed: the next attempt shows whether they are solved."""
    found = before.problems
    for protocol, side in rules.SIDES.items():
        names = [name for name in before.__struct_fields__ if f"{protocol}_" in name]
        names.append(rules.SEALED["oauth"])
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
    await audit.record(tx, caller, action, mailbox.id, named, now_us)
