"""Which addresses a mailbox has, and which it waits for until they are verified.

Each is a part of the transaction that changes the mailbox.
"""

from collections.abc import Collection

from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.mail.mailboxes import rules
from sealdesk.mail.mailboxes.errors import MAIL_DOMAIN_ASSIGNED, MAILBOX_ADDRESS_TAKEN
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.store.directory import EVERYBODY, Place
from sealdesk.mail.mailboxes.types import Mailbox


async def claim_verified(
    tx: Tx, caller: Caller, mailbox: Mailbox, identities: Collection[str]
) -> set[str]:
    """Claim those of these addresses that are verified to be the desk's; the others.

    Raises Conflict for an address that the desk cannot have, or that another mailbox of it waits
    for.
    """
    unverified = set[str]()
    for identity in sorted(identities):
        if not await _is_verified(tx, caller, identity):
            unverified.add(identity)
    await _claim(tx, mailbox, {*identities} - unverified)
    for other in await mailboxes.list_all(tx, mailbox.tenant_id) if unverified else ():
        for identity in unverified.intersection(other.unverified) if other.id != mailbox.id else ():
            raise Conflict(MAILBOX_ADDRESS_TAKEN, address=identity)
    return unverified


async def move(tx: Tx, caller: Caller, before: Mailbox, after: Mailbox) -> Mailbox:
    """The mailbox with its addresses, which waits for those that are not verified."""
    await retire(tx, before, before.identities - after.identities)
    new = await claim_verified(tx, caller, after, after.identities - before.identities)
    unverified = {*after.unverified} & after.identities | new
    after = rules.with_unverified(after, unverified, waited=before.is_unverified)
    for identity in {before.address_identity, after.address_identity} & after.identities:
        await directory.set_receives(tx, identity, after.id, rules.entries(after)[identity])
    return after


async def take(tx: Tx, mailbox: Mailbox, identities: Collection[str]) -> Mailbox:
    """Claim those of these addresses that a mailbox waits for; the mailbox with them."""
    found = {*mailbox.unverified} & {*identities}
    for identity in sorted(found):
        await check_free(tx, mailbox.tenant_id, identity)
    left = {*mailbox.unverified} - found
    after = rules.with_unverified(mailbox, left, waited=mailbox.is_unverified)
    await _claim(tx, after, found)
    return after


async def check_free(tx: Tx, tenant_id: str, identity: str) -> bool:
    """Whether the domain of an address is assigned to the desk.

    Raises Conflict if it is another one's, or if the address is.
    """
    domain = await directory.find_assigned(tx, identity)
    if domain is not None and domain.tenant_id not in (tenant_id, EVERYBODY):
        raise Conflict(MAIL_DOMAIN_ASSIGNED, domain=domain.name.removeprefix("@"))
    if await directory.is_of_other(tx, identity, tenant_id):
        raise Conflict(MAILBOX_ADDRESS_TAKEN, address=identity)
    return domain is not None


async def retire(tx: Tx, mailbox: Mailbox, identities: Collection[str]) -> None:
    for identity in sorted(identities):
        await directory.retire(tx, identity, mailbox.id)


async def _is_verified(tx: Tx, caller: Caller, identity: str) -> bool:
    """Raises Conflict for an address that the desk cannot have."""
    tenant_id = caller.tenant_id
    is_of_domain = await check_free(tx, tenant_id, identity)
    # Commands are the operator's, who says whose an address is.
    is_said = is_of_domain or caller.actor == SYSTEM
    return (
        is_said
        or await directory.is_known(tx, identity, tenant_id)
        or not await directory.has_many_desks(tx)
    )


async def _claim(tx: Tx, mailbox: Mailbox, identities: Collection[str]) -> None:
    """In the order of the addresses, so that concurrent claims wait for each other in turn."""
    place = Place(mailbox.tenant_id, mailbox.id)
    for identity, listed_as in rules.entries(mailbox).items():
        if identity in identities and not await directory.claim(tx, identity, place, listed_as):
            raise Conflict(MAILBOX_ADDRESS_TAKEN, address=identity)
