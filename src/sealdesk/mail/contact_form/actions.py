"""What happens to the form and to what it sends; each is the work of one transaction."""

import secrets
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, NotFound, ValidationFailed, gettext_noop, raise_any
from sealdesk.identity import store as users
from sealdesk.mail.blocks import store as blocks
from sealdesk.mail.contact_form import rules, store
from sealdesk.mail.contact_form.types import ContactForm, FormRequest, FormSettings, Submission
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.receiving import contents
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads import actions as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.records import audit
from sealdesk.resources.representation import (
    check_seen,
    email_identity,
    fingerprint,
    with_ascii_domain,
)
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.rules import Values
from sealdesk.tickets.ticket.store import teams
from sealdesk.tickets.ticket.types import NewTicket, TicketCustomer

CONFIRMATION = "confirmation"  # the kind of its outgoing message
_TAKEN = gettext_noop("Another form of this installation has this name. Choose another one.")
_NOT_SENDING = gettext_noop("Choose a mailbox that sends.")
_UNKNOWN_FIELD = gettext_noop("There is no such custom field.")
_AUDITED = ("path_name", "mailbox_id", "base_url", "is_on", "has_ticket_pages")


async def save_form(
    tx: Tx, caller: Caller, wanted: FormSettings, *, now_us: int, seen: str = ""
) -> ContactForm:
    """Store the settings of the tenant's form.

    seen: the `fingerprint` of the form that the caller has seen, "" for any.
    Raises ValidationFailed, PreconditionFailed.
    """
    # Two tenants cannot take a name at the same time.
    await tx.lock("contact forms")
    check_seen(seen, fingerprint(await store.find_form_of(tx, caller.tenant_id)))
    await _check(tx, caller.tenant_id, wanted)
    form = ContactForm(
        path_name=wanted.path_name,
        tenant_id=caller.tenant_id,
        mailbox_id=wanted.mailbox_id,
        base_url=wanted.base_url.rstrip("/"),
        field_keys=msgspec.json.encode(wanted.field_keys).decode(),
        is_on=wanted.is_on,
        has_ticket_pages=wanted.has_ticket_pages,
        updated_at=now_us,
    )
    await store.save_form(tx, form)
    details: dict[str, Any] = {name: getattr(form, name) for name in _AUDITED}
    await audit.record(tx, caller, "contact_form.updated", None, details, now_us)
    return form


async def find_open_form(tx: Tx, path_name: str) -> ContactForm:
    """The form with this name. Raises NotFound if it is off."""
    form = None if rules.faults_of_name(path_name) else await store.find_form(tx, path_name)
    if form is None or not form.is_on:
        raise NotFound
    return form


async def get_mailbox(tx: Tx, form: ContactForm) -> Mailbox:
    """The mailbox that sends for a form. Raises NotFound when it does so no longer."""
    mailbox = await mailboxes.find(tx, form.tenant_id, form.mailbox_id)
    if mailbox is None or not mailbox.sends:
        raise NotFound
    return mailbox


async def submit(
    tx: Tx, form: ContactForm, request: FormRequest, *, language: str, now_us: int
) -> bool:
    """Store what somebody has written, and queue the e-mail that asks them to confirm it.

    False when too many wait. An address that gets no e-mail now is not told from one that does.
    """
    tenant_id, identity = form.tenant_id, email_identity(request.email)
    await tx.lock("form submissions", tenant_id)
    if await store.count(tx, tenant_id, rules.MAX_WAITING) >= rules.MAX_WAITING:
        return False
    mailbox = await get_mailbox(tx, form)
    if not await _may_get_mail(tx, tenant_id, identity, now_us):
        return True
    submission = Submission(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        address=request.email,
        address_identity=identity,
        language=language,
        request=msgspec.json.encode(request).decode(),
        created_at=now_us,
    )
    await store.add(tx, submission)
    await sending.add(tx, [_message(submission, mailbox)])
    return True


async def confirm(tx: Tx, form: ContactForm, submission_id: str, *, now_us: int) -> Participant:
    """Open the ticket of a submission; its sender. Raises NotFound, also the second time."""
    submission = await find_waiting(tx, form.tenant_id, submission_id, now_us)
    mailbox = await get_mailbox(tx, form)
    if not await store.delete(tx, form.tenant_id, submission_id):
        raise NotFound
    new = await _new_ticket(tx, submission.contents, mailbox)
    ticket_id = await _open(tx, form.tenant_id, new, now_us)
    person = (submission.address, submission.contents.name)
    (added,) = await threads.add_people(tx, form.tenant_id, ticket_id, mailbox.id, [person], now_us)
    await store.set_ticket(tx, submission, ticket_id)
    return added


def form_caller(tenant_id: str) -> Caller:
    """Who opens the tickets of forms."""
    return Caller(tenant_id, Actor("system", ids.NONE, "Sealdesk"), frozenset(), "")


async def check_fields(tx: Tx, caller: Caller, request: FormRequest) -> None:
    """Raises ValidationFailed for a value that its custom field cannot have."""
    values = Values({}, request.custom_fields or {}, is_resolved=False)
    await custom_fields.check_values(tx, caller.tenant_id, values)


async def find_waiting(tx: Tx, tenant_id: str, submission_id: str, now_us: int) -> Submission:
    """A submission that can be confirmed. Raises NotFound."""
    submission = await store.find(tx, tenant_id, submission_id)
    if submission is None or submission.created_at + rules.WAITS_US <= now_us:
        raise NotFound
    return submission


async def _check(tx: Tx, tenant_id: str, wanted: FormSettings) -> None:
    faults = rules.faults_of_name(wanted.path_name) + rules.faults_of_url(wanted.base_url)
    other = await store.find_form(tx, wanted.path_name)
    if other is not None and other.tenant_id != tenant_id:
        faults.append(Fault("/path_name", "taken", _TAKEN))
    mailbox = await mailboxes.find(tx, tenant_id, wanted.mailbox_id)
    if mailbox is None or not mailbox.sends:
        faults.append(Fault("/mailbox_id", "unknown_mailbox", _NOT_SENDING))
    known = {each.key for each in await custom_fields.list_active(tx, tenant_id)}
    if not known.issuperset(wanted.field_keys):
        faults.append(Fault("/field_keys", "unknown_field", _UNKNOWN_FIELD))
    raise_any(faults)


async def _may_get_mail(tx: Tx, tenant_id: str, identity: str, now_us: int) -> bool:
    """Not an address of this installation, one that is blocked or calls mail of the desk spam, or
    one that has got enough.

    All desks together count, so that nobody fills an inbox through the forms of many. Their
    submissions are not seen here: what is counted names neither a desk nor the address.
    """
    patterns = contents.block_patterns(identity)
    if await blocks.find_first(tx, tenant_id, patterns) is not None:
        return False
    if await sending.has_complained(tx, tenant_id, identity):
        return False
    if await directory.find_tenants(tx, [contents.mailbox_identity(identity)]):
        return False
    limit = rules.limit_of_address(identity)
    await tx.lock(limit.bucket)
    if await users.reached_until(tx, limit, now_us) is not None:
        return False
    await users.add_attempt(tx, limit.bucket, ids.mint(now_us), now_us)
    return True


def _message(submission: Submission, mailbox: Mailbox) -> OutgoingMessage:
    domain = with_ascii_domain(mailbox.address).rpartition("@")[2]
    return OutgoingMessage.queued(
        mailbox,
        ticket_id="",
        about_id=submission.id,
        kind=CONFIRMATION,
        address=submission.address,
        # Random, so that nobody can report it as undelivered who has not got it.
        message_id=f"<{submission.id}.{secrets.token_hex(8)}@{domain}>",
        now_us=submission.created_at,
    )


async def _new_ticket(tx: Tx, request: FormRequest, mailbox: Mailbox) -> NewTicket:
    team_id = mailbox.team_id
    if team_id is not None and not await teams.is_team(tx, mailbox.tenant_id, team_id):
        team_id = None
    return NewTicket(
        subject=request.subject,
        description=request.description,
        customer=TicketCustomer(request.email, request.name),
        team_id=team_id,
        custom_fields=request.custom_fields or None,
    )


async def _open(tx: Tx, tenant_id: str, new: NewTicket, now_us: int) -> str:
    caller = form_caller(tenant_id)
    try:
        opened = await tickets.open_ticket(tx, caller, new, source="email", now_us=now_us)
    except ValidationFailed:
        # A custom field was changed while the form waited: its value is in the text then.
        values = "\n".join(f"{key}: {value}" for key, value in (new.custom_fields or {}).items())
        new = msgspec.structs.replace(
            new, custom_fields=None, description=f"{new.description}\n\n{values}"
        )
        opened = await tickets.open_ticket(tx, caller, new, source="email", now_us=now_us)
    return opened.id
