"""The e-mail that asks to confirm a submitted form; it says nothing that was typed."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form import actions, store, tokens
from sealdesk.mail.contact_form.types import ContactForm, Submission
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending.composing import begin_automatic
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.state import AppState
from sealdesk.web.pages import i18n
from sealdesk.web.pages.i18n import gettext


class _Found(NamedTuple):
    form: ContactForm
    submission: Submission
    desk_name: str


async def compose(state: AppState, mailbox: Mailbox, message: OutgoingMessage) -> bytes | None:
    """The message as SMTP sends it; None if its form no longer waits."""
    now_us = state.clock.now_us()
    found = await state.database.read(lambda tx: _find(tx, message, now_us))
    if found is None:
        return None
    form, submission, desk_name = found
    i18n.activate(submission.language)
    sender = mailbox.display_name or desk_name
    token = tokens.confirmation_token(state.key_ring, form.tenant_id, submission.id)
    link = f"{form.base_url}/{form.path_name}/confirm/{token}"
    subject = gettext("Confirm your request to %(desk)s") % {"desk": sender}
    composed = begin_automatic(message, sender, mailbox.address, subject)
    composed.set_content(_text(sender, link), cte="quoted-printable")
    return composed.as_bytes()


async def _find(tx: Tx, message: OutgoingMessage, now_us: int) -> _Found | None:
    tenant_id = message.tenant_id
    form = await store.find_form_of(tx, tenant_id)
    try:
        submission = await actions.find_waiting(tx, tenant_id, message.about_id, now_us)
    except NotFound:
        return None
    tenant = await identity.find_tenant(tx, tenant_id)
    if form is None or not form.is_on or tenant is None:
        return None
    return _Found(form, submission, tenant.name)


def _text(desk: str, link: str) -> str:
    first = gettext("Somebody, probably you, has written to %(desk)s with the form on its website.")
    ask = gettext("To send the request, open this page within 24 hours and press the button:")
    otherwise = gettext("If it was not you, do nothing. The request is deleted then.")
    return "\n\n".join((first % {"desk": desk}, ask, link, otherwise)) + "\n"
