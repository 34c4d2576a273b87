"""Which ticket goes on, and who its participants are; part of a transaction."""

from collections.abc import Iterable

from sealdesk import clock
from sealdesk.caller import Caller
from sealdesk.crypto.reply_codes import new_reply_code
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, gettext_noop, raise_any
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.threads import rules, store
from sealdesk.mail.threads.errors import NO_MAILBOX
from sealdesk.mail.threads.types import (
    MAX_PARTICIPANTS,
    NewParticipant,
    Participant,
    ParticipantListResponse,
    ParticipantResponse,
)
from sealdesk.records import audit
from sealdesk.resources.addresses import can_receive
from sealdesk.resources.representation import email_identity
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.ticket.store import tickets as ticket_store

_OF_MAILBOX = gettext_noop("This is the address of a mailbox of this desk.")

Person = tuple[str, str | None]  # an address, and the name with it


async def add_people(
    tx: Tx,
    tenant_id: str,
    ticket_id: str,
    mailbox_id: str,
    people: Iterable[Person],
    now_us: int,
    *,
    is_new: bool = False,
) -> list[Participant]:
    """All participants of a ticket after these people were added, as far as there is room.

    Addresses that mail cannot reach are left out. The caller leaves out those of mailboxes.
    is_new: whether the ticket has none yet.
    """
    listed = [] if is_new else await store.list_participants(tx, tenant_id, ticket_id)
    known = {each.address_identity for each in listed}
    for address, name in people:
        identity = email_identity(address)
        if identity in known or len(listed) >= MAX_PARTICIPANTS or not can_receive(address):
            continue
        added = Participant(
            tenant_id=tenant_id,
            ticket_id=ticket_id,
            address_identity=identity,
            address=address,
            token=new_reply_code(),
            mailbox_id=mailbox_id,
            name=name,
            created_at=now_us,
        )
        await store.add_participant(tx, added)
        known.add(identity)
        listed.append(added)
    return listed


async def get_participants(tx: Tx, tenant_id: str, ticket_id: str) -> list[Participant]:
    """All participants of a ticket, by address. Raises NotFound."""
    if not await ticket_store.has_ticket(tx, tenant_id, ticket_id):
        raise NotFound
    return await store.list_participants(tx, tenant_id, ticket_id)


async def set_participants(
    tx: Tx, caller: Caller, ticket_id: str, wanted: list[NewParticipant], *, now_us: int
) -> list[Participant]:
    """All participants, which are these. Raises NotFound, Conflict, ValidationFailed.

    Those who stay keep their reply addresses.
    """
    tenant_id = caller.tenant_id
    await tx.lock(f"participants {ticket_id}", tenant_id)
    await checks.check_not_merged(tx, (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket)
    known = await store.list_participants(tx, tenant_id, ticket_id)
    own = await mailboxes.list_all(tx, tenant_id)
    _check(wanted, own)
    identities = {email_identity(each.email) for each in wanted}
    removed = [each for each in known if each.address_identity not in identities]
    for each in removed:
        await store.remove_participant(tx, each)
    staying = {each.address_identity for each in known}
    new = [each for each in wanted if email_identity(each.email) not in staying]
    await _record(tx, caller, ticket_id, len(new), len(removed), now_us)
    if not new:
        return await store.list_participants(tx, tenant_id, ticket_id)
    people = [(each.email, each.name) for each in new]
    mailbox_id = _choose_mailbox(known, own)
    added = await add_people(tx, tenant_id, ticket_id, mailbox_id, people, now_us)
    return sorted(added, key=lambda each: each.address_identity)


async def _record(
    tx: Tx, caller: Caller, ticket_id: str, added_count: int, removed_count: int, now_us: int
) -> None:
    """Only numbers: the audit log outlives the addresses of customers who are erased."""
    if added_count or removed_count:
        details = {"added": added_count, "removed": removed_count}
        await audit.record(tx, caller, "participants.changed", ticket_id, details, now_us)


def to_response(participants: Iterable[Participant]) -> ParticipantListResponse:
    return ParticipantListResponse(
        tuple(
            ParticipantResponse(each.address, each.name, clock.iso(each.created_at))
            for each in participants
        )
    )


def _check(wanted: list[NewParticipant], own: list[Mailbox]) -> None:
    addresses = {each.address_identity for each in own}
    raise_any(
        [
            Fault(f"/participants/{number}/email", "own_mailbox", _OF_MAILBOX)
            for number, each in enumerate(wanted)
            if email_identity(rules.mailbox_address(each.email)) in addresses
        ]
    )


def _choose_mailbox(known: list[Participant], own: list[Mailbox]) -> str:
    """The mailbox that the others get their replies from, else the oldest, if possible sending."""
    if not own:
        raise Conflict(NO_MAILBOX)
    used = {each.mailbox_id for each in known}
    return max(reversed(own), key=lambda each: (each.id in used, each.smtp_host is not None)).id
