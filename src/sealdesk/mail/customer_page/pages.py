"""The page of one ticket for a participant: read, reply, attach."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sealdesk import clock, ids
from sealdesk.db.engine import Tx
from sealdesk.errors import BadRequest, Conflict, NotFound
from sealdesk.errors.requests import UNREADABLE_FORM
from sealdesk.mail.contact_form import guard
from sealdesk.mail.customer_page import actions, form_data, rules
from sealdesk.mail.customer_page.actions import Access
from sealdesk.mail.customer_page.form_data import FormData, SentFile
from sealdesk.mail.receiving import raw_messages
from sealdesk.mail.receiving.contents import file_name
from sealdesk.mail.receiving.types import File
from sealdesk.mail.threads.redaction import redact
from sealdesk.rate_limits.limiter import Budget
from sealdesk.resources.identity import is_visible
from sealdesk.tickets.attachments import rules as attachment_rules
from sealdesk.tickets.attachments import serving
from sealdesk.tickets.text import kept_html
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.kept_html import ShownText
from sealdesk.tickets.ticket.types import AttachmentRef, Author
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("mail.customer_page")

_PAGES_PER_MINUTE = 30  # of one participant
_REPLIES_PER_MINUTE = 6
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")
_URLENCODED = forms.MEDIA_TYPE


class _Entry(NamedTuple):
    """A message of the conversation. who: its author, as this participant knows them."""

    who: str
    is_from_desk: bool
    written_at: str
    text: ShownText
    files: list[AttachmentRef]


@page
async def show(request: Request, path_name: str, token: str) -> Response:
    """The conversation, and the form for a reply."""
    if refused := await guard.refuse(request):
        return refused
    access = await _get_access(request, path_name, token)
    if refused := await guard.refuse_over(request, _budget("page", access, _PAGES_PER_MINUTE)):
        return refused
    if access.is_ended:
        return await _ended(request, access)
    return await _show(request, access)


@page
async def reply(request: Request, path_name: str, token: str) -> Response:
    """Write a reply, with files."""
    if refused := await guard.refuse(request):
        return refused
    access = await _get_access(request, path_name, token)
    if access.is_ended:
        return await _ended(request, access)
    if refused := await guard.refuse_over(request, _budget("reply", access, _REPLIES_PER_MINUTE)):
        return refused
    await request.read_body()
    sent = _read(request)
    body = sent.form.text("body")
    if problem := _problem(request, body, sent.files):
        return await _show(request, access, body, problem)
    try:
        await _store(request, access, body, sent.files)
    except Conflict as error:
        return await _show(
            request, await _get_access(request, path_name, token), body, translate(error)
        )
    at = f"/{path_name}/ticket/{token}"
    return render.redirect(request, f"{at}?sent=yes#newest")


@page
async def show_file(request: Request, path_name: str, token: str, attachment_id: str) -> Response:
    """A file of a public message."""
    if refused := await guard.refuse(request):
        return refused
    access = await _get_access(request, path_name, token)
    if access.is_ended or not ids.is_canonical(attachment_id):
        raise NotFound
    attachment = await request.state.database.read(
        lambda tx: actions.get_file(tx, access, attachment_id), access.form.tenant_id
    )
    response = await serving.serve(request, attachment)
    response.headers.append(_NO_INDEX)
    return response


async def _get_access(request: Request, path_name: str, token: str) -> Access:
    """What the link in the path gives access to. Raises NotFound."""
    database, key_ring = request.state.database, request.state.key_ring
    form = await database.read(lambda tx: actions.find_form(tx, path_name))
    return await database.read(
        lambda tx: actions.get_access(tx, form, token, key_ring), form.tenant_id
    )


def _budget(kind: str, access: Access, per_minute: int) -> Budget:
    """How often one participant may do something."""
    ticket_id, address = access.stored.ticket.id, access.participant.address_identity
    return Budget(f"ticket {kind}:{ticket_id}:{address}", per_minute)


def _read(request: Request) -> FormData:
    """Raises BadRequest."""
    content_type = request.headers.get(b"content-type", b"")
    if content_type.partition(b";")[0].strip().lower() == _URLENCODED:
        return FormData(forms.read(request), [])
    return form_data.read(content_type, request.body)


def _problem(request: Request, body: str, files: Sequence[SentFile]) -> str:
    """Why a reply cannot be sent, "" if it can."""
    if not is_visible(body):
        return gettext("Write something first.")
    if len(body) > rules.MAX_TEXT:
        return gettext("That is too long.")
    if len(files) > rules.MAX_FILES:
        return gettext("Attach at most %(most)s files.") % {"most": rules.MAX_FILES}
    settings = request.state.settings
    for each in files:
        is_allowed = attachment_rules.is_allowed(file_name(each.name), settings.attachment_types)
        if not is_allowed or not 0 < len(each.content) <= settings.attachment_max_bytes:
            text = gettext("%(name)s is empty, too large or of a type that is not allowed.")
            return text % {"name": file_name(each.name)}
    return ""


async def _store(request: Request, access: Access, body: str, sent: Sequence[SentFile]) -> None:
    settings, now_us, tenant_id = request.state.settings, request.now_us, access.form.tenant_id
    files: list[File] = [
        await raw_messages.keep_file(
            settings, tenant_id, file_name(each.name), each.content_type, (each.content,), now_us
        )
        for each in sent
    ]
    quota = settings.attachment_quota_bytes

    async def work(tx: Tx) -> None:
        shown = redact(body, access.secrets)
        await actions.add_reply(tx, access, shown, files, quota_bytes=quota, now_us=now_us)

    await request.state.database.write(work, tenant_id)


async def _show(request: Request, access: Access, body: str = "", problem: str = "") -> Response:
    query = forms.read_query(request)
    before = query.text("before")
    if before and not ids.is_canonical(before):
        raise BadRequest(UNREADABLE_FORM)
    conversation = await request.state.database.read(
        lambda tx: actions.load_conversation(tx, access, before), access.form.tenant_id
    )
    ticket = access.stored.ticket
    customer = Author("customer", ticket.customer_id, access.stored.customer_name)
    texts = [(ticket.description, customer)]
    texts += [(each.body, each.author) for each in conversation.replies]
    shown = await kept_html.render_all(
        request.state.sandbox,
        ((redact(text, access.secrets), author.type == "customer") for text, author in texts),
        Look(quote_label=gettext("Quoted text")),
    )
    begins = _entry(access, customer, ticket.created_at, shown[0], ticket.attachments)
    entries = [
        _entry(access, each.author, each.created_at, text, each.attachments)
        for each, text in zip(conversation.replies, shown[1:], strict=True)
    ]
    has_first = not conversation.has_earlier and access.may_read(ticket.created_at)
    return await _respond(
        request,
        "page.html",
        access,
        422 if problem else 200,
        entries=[begins, *entries] if has_first else entries,
        earlier=conversation.replies[0].id if conversation.has_earlier else "",
        body=body,
        problem=problem,
        is_sent=query.text("sent") == "yes",
        is_newest=not before,
        most_files=rules.MAX_FILES,
        most_text=rules.MAX_TEXT,
        most_mib=rules.MAX_BODY_BYTES // 2**20,
    )


def _entry(
    access: Access,
    author: Author,
    written_at: int,
    text: ShownText,
    files: Sequence[AttachmentRef],
) -> _Entry:
    is_from_desk = author.type != "customer"
    if author.type == "agent" and author.name:
        who = author.name
    elif is_from_desk:
        who = access.desk_name
    elif author.id == access.own_id:
        who = gettext("You")
    else:
        who = author.name or gettext("Another participant")
    shown = [each for each in files if rules.is_shown(each.name, each.content_type)]
    return _Entry(who, is_from_desk, clock.iso(written_at), text, shown)


async def _ended(request: Request, access: Access) -> Response:
    return await _respond(request, "ended.html", access, 410)


async def _respond(
    request: Request, template: str, access: Access, status: int, **values: Any
) -> Response:
    form = access.form
    root = request.state.settings.path_prefix
    response = await render.page(
        request,
        f"customer_page/{template}",
        status,
        desk_name=access.desk_name,
        address=access.address,
        ticket=access.stored.ticket,
        subject=redact(access.stored.ticket.subject, access.secrets),
        at=f"{root}/{form.path_name}/ticket/{access.token}",
        form_path=f"{root}/{form.path_name}/new" if form.is_on else "",
        **values,
    )
    response.headers.append(_NO_INDEX)
    return response
