"""Codes that verify an address: sent to it by the installation's own mailbox, entered by the desk.

Nothing about a code is stored: it is sealed for one desk and one address until it ends. So is the
Message-ID of what carries it, by which no mailbox of this installation takes that message.
"""

import secrets
from email.message import EmailMessage

from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound
from sealdesk.identity import store as identity_store
from sealdesk.mail.mailboxes import actions, log_ins, rules
from sealdesk.mail.mailboxes.errors import ADDRESS_CODE_NOT_SENT, ADDRESS_CODE_REFUSED
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import Mailbox, address_identity
from sealdesk.mail.parsing.types import ParsedMessage
from sealdesk.mail.sending.composing import begin_automatic
from sealdesk.mail.sending.session import Session
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.servers import MailFailed
from sealdesk.mail.threads.links import open_sealed, seal
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.request import Request

_MESSAGE = "message with an address code"
_TIME_BYTES = 8
_NO_SENDER = gettext_noop("This installation has no mailbox that sends codes.")
_FAILED = gettext_noop("The mailbox that sends codes cannot send now.")


async def send_code(request: Request, mailbox_id: str, address: str) -> None:
    """Send a code to an address that a mailbox waits for.

    Raises NotFound for another address, Conflict if no code can be sent, TooManyRequests.
    """
    identity, now_us = address_identity(address), request.now_us
    if identity not in (await request.fetch(actions.get_mailbox, mailbox_id)).unverified:
        raise NotFound
    sender = await _find_sender(request)
    if sender is None:
        raise _not_sent(request, identity, _NO_SENDER)
    mailbox = await request.act(actions.count_code, mailbox_id, identity, now_us=now_us)
    message = await _compose(request, sender, mailbox, identity)
    try:
        log_in = await log_ins.open_log_in(request.state, sender, "smtp")
        async with Session(request.state.mail_resolver, sender, log_in) as session:
            outcome = await session.send(identity, message)
    except MailFailed:
        raise _not_sent(request, identity, _FAILED) from None
    if outcome.state != "sent":
        raise _not_sent(request, identity, outcome.reason or _FAILED)


async def verify(request: Request, mailbox_id: str, address: str, code: str) -> Mailbox:
    """The mailbox, which has an address by the code that was sent there.

    Raises NotFound for another address, Conflict for another code or if another desk has the
    address by now, TooManyRequests.
    """
    identity, now_us = address_identity(address), request.now_us
    mailbox = await request.act(actions.count_try, mailbox_id, identity, now_us=now_us)
    if not is_code(request.state.key_ring, mailbox.tenant_id, identity, code, now_us):
        raise Conflict(ADDRESS_CODE_REFUSED, address=identity)
    return await request.write_more(
        lambda tx: actions.verify_address(tx, request.caller, mailbox_id, identity, now_us=now_us)
    )


def new_code(key_ring: KeyRing, tenant_id: str, identity: str, now_us: int) -> str:
    """What verifies an address to be a tenant's, for an hour."""
    ends = (now_us + rules.CODE_US).to_bytes(_TIME_BYTES, "big")
    return seal(key_ring, ends, _about(tenant_id, identity))


def is_code(key_ring: KeyRing, tenant_id: str, identity: str, code: str, now_us: int) -> bool:
    """Whether this is a code for an address that has not ended."""
    typed = "".join(code.split()).lower()
    try:
        ends = open_sealed(key_ring, typed, _about(tenant_id, identity))
    except NotFound:
        return False
    return now_us < int.from_bytes(ends, "big")


def has_code(key_ring: KeyRing, message: ParsedMessage) -> bool:
    """Whether a received message is one of this installation with a code."""
    try:
        open_sealed(key_ring, (message.message_id or "").partition("@")[0], _MESSAGE)
    except NotFound:
        return False
    return True


def _about(tenant_id: str, identity: str) -> str:
    return f"address code {tenant_id} {identity}"


async def _find_sender(request: Request) -> Mailbox | None:
    """The mailbox that the operator has named, of whatever desk, if it sends."""
    identity = address_identity(request.state.settings.mail.sender)
    database = request.state.database
    place = await database.read(lambda tx: directory.find(tx, identity)) if identity else None
    if place is None:
        return None
    found = await database.read(
        lambda tx: mailboxes.find(tx, place.tenant_id, place.mailbox_id), place.tenant_id
    )
    return found if found and found.sends and not found.is_paused else None


async def _compose(request: Request, sender: Mailbox, mailbox: Mailbox, identity: str) -> bytes:
    async def find_name(tx: Tx) -> str:
        tenant = await identity_store.find_tenant(tx, mailbox.tenant_id)
        return tenant.name if tenant else ""

    state = request.state
    token = seal(state.key_ring, secrets.token_bytes(_TIME_BYTES), _MESSAGE)
    outgoing = OutgoingMessage.queued(
        sender,
        ticket_id="",
        about_id=mailbox.id,
        kind="code",
        address=identity,
        message_id=f"<{token}@{sender.address_identity.rpartition('@')[2]}>",
        now_us=request.now_us,
    )
    code = new_code(state.key_ring, mailbox.tenant_id, identity, request.now_us)
    subject = gettext("Code for %(address)s") % {"address": identity}
    composed = begin_automatic(outgoing, sender.display_name, sender.address, subject)
    _write(composed, await request.read(find_name), identity, code)
    return composed.as_bytes()


def _write(message: EmailMessage, desk: str, identity: str, code: str) -> None:
    ask = gettext(
        "The desk %(desk)s wants to receive and answer what is sent to %(address)s. If you want"
        " that, enter this code within an hour on the page of the mailbox:"
    )
    otherwise = gettext("If you do not want that, do nothing, and give the code to nobody.")
    texts = (ask % {"desk": desk, "address": identity}, code, otherwise)
    message.set_content("\n\n".join(texts) + "\n", cte="quoted-printable")


def _not_sent(request: Request, identity: str, reason: str) -> Conflict:
    return Conflict(
        ADDRESS_CODE_NOT_SENT,
        address=identity,
        reason=gettext(reason),
        domain=identity.rpartition("@")[2],
        tenant_id=request.caller.tenant_id,
    )
