"""The form for customers, and the page that confirms what it has sent."""

from typing import Any, NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound, ValidationFailed
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form import actions, guard, labels, rules, tokens
from sealdesk.mail.contact_form.types import MAX_DESCRIPTION, ContactForm, FormRequest
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.threads import links
from sealdesk.rate_limits.limiter import Budget
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.pages import custom_values
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, i18n, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("mail.contact_form", labels=labels)

# Of one desk: the e-mails that confirm them leave most of a mailbox's rate to replies.
_FORMS_PER_MINUTE = 20
_EMPTY = {"email": "", "name": "", "subject": "", "description": ""}
_TRAP = "website"  # a field that people do not see
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")


class Desk(NamedTuple):
    """A desk as its customers see it. fields: the custom fields of the form."""

    form: ContactForm
    mailbox: Mailbox
    name: str
    fields: list[Field]


async def find_desk(request: Request, path_name: str) -> Desk:
    """The desk of the path. Raises NotFound if it has no form."""
    database = request.state.database
    form = await database.read(lambda tx: actions.find_open_form(tx, path_name))

    async def work(tx: Tx) -> Desk:
        tenant = await identity.find_tenant(tx, form.tenant_id)
        defined = await custom_fields.list_active(tx, form.tenant_id)
        fields = [each for each in defined if each.key in form.fields]
        mailbox = await actions.get_mailbox(tx, form)
        return Desk(form, mailbox, tenant.name if tenant else "", fields)

    return await database.read(work, form.tenant_id)


@page
async def show_form(request: Request, path_name: str) -> Response:
    """The empty form."""
    if refused := await guard.refuse(request):
        return refused
    return await _show(request, await find_desk(request, path_name), _EMPTY)


@page
async def submit(request: Request, path_name: str) -> Response:
    """Store what was written until it is confirmed; the answer is the same for every address."""
    if refused := await guard.refuse(request):
        return refused
    desk = await find_desk(request, path_name)
    budget = Budget(f"contact form:{desk.form.tenant_id}", _FORMS_PER_MINUTE)
    if refused := await guard.refuse_over(request, budget):
        return refused
    await request.read_body()
    form = forms.read(request)
    typed = {name: form.text(name) for name in _EMPTY} | custom_values.typed(form, "", "was_")
    if form.text(_TRAP):
        return await _sent(request, desk)
    if problem := _problem_of_time(request, desk, form.text("shown_at")):
        return await _show(request, desk, typed, problem=problem)
    try:
        values = custom_values.read_changed(form, custom_values.by_name(desk.fields))
        wanted = body.convert(_as_json(typed) | {"custom_fields": values}, FormRequest)
        is_stored = await _store(request, desk, wanted)
    except ValidationFailed as error:
        return await _show(request, desk, typed, error)
    if not is_stored:
        problem = gettext("This form cannot be sent right now. Write an e-mail instead.")
        return await _show(request, desk, typed, problem=problem, status=503)
    return await _sent(request, desk)


@page
async def ask_confirmation(request: Request, path_name: str, token: str) -> Response:
    """The page of the link in the e-mail: a button, as programs open links too."""
    if refused := await guard.refuse(request):
        return refused
    desk = await find_desk(request, path_name)
    try:
        await _find_waiting(request, desk, token)
    except NotFound:
        return await _over(request, desk)
    return _unindexed(await _respond(request, "confirm.html", desk, token=token))


@page
async def confirm(request: Request, path_name: str, token: str) -> Response:
    """Open the ticket of a submitted form."""
    if refused := await guard.refuse(request):
        return refused
    desk = await find_desk(request, path_name)
    try:
        submission_id = await _find_waiting(request, desk, token)
        sender = await request.state.database.write(
            lambda tx: actions.confirm(tx, desk.form, submission_id, now_us=request.now_us),
            desk.form.tenant_id,
        )
    except NotFound:
        return await _over(request, desk)
    ticket_token = links.token_of(request.state.key_ring, sender)
    path = f"ticket/{ticket_token}" if desk.form.has_ticket_pages else ""
    return _unindexed(await _respond(request, "confirmed.html", desk, page_path=path))


async def _find_waiting(request: Request, desk: Desk, token: str) -> str:
    """The id of the submission that the path names. Raises NotFound."""
    tenant_id, now_us = desk.form.tenant_id, request.now_us
    submission_id = tokens.open_confirmation(request.state.key_ring, tenant_id, token)
    await request.state.database.read(
        lambda tx: actions.find_waiting(tx, tenant_id, submission_id, now_us), tenant_id
    )
    return submission_id


async def _store(request: Request, desk: Desk, wanted: FormRequest) -> bool:
    tenant_id, language = desk.form.tenant_id, i18n.active_language()
    caller = actions.form_caller(tenant_id)

    async def work(tx: Tx) -> bool:
        await actions.check_fields(tx, caller, wanted)
        return await actions.submit(tx, desk.form, wanted, language=language, now_us=request.now_us)

    return await request.state.database.write(work, tenant_id)


def _problem_of_time(request: Request, desk: Desk, token: str) -> str:
    """What is wrong with the time at which the form was shown, "" for nothing."""
    try:
        shown_at = tokens.open_time(request.state.key_ring, desk.form.tenant_id, token)
    except NotFound:
        return gettext("This form is out of date. Check it, then send it again.")
    if request.now_us - shown_at > rules.WAITS_US:
        return gettext("This form is out of date. Check it, then send it again.")
    if request.now_us - shown_at < rules.FASTEST_US:
        return gettext("That was very fast. Check what you have written, then send it again.")
    return ""


def _as_json(typed: dict[str, str]) -> dict[str, Any]:
    return {
        "subject": " ".join(typed["subject"].split()),
        "description": typed["description"],
        "email": typed["email"].strip(),
        "name": " ".join(typed["name"].split()) or None,
    }


async def _show(
    request: Request,
    desk: Desk,
    typed: dict[str, str],
    error: ValidationFailed | None = None,
    *,
    problem: str = "",
    status: int = 0,
) -> Response:
    """The form with what was typed. problem: why it was not sent."""
    tenant_id, now_us = desk.form.tenant_id, request.now_us
    known = custom_values.show_values(desk.fields, {}).fields
    faults = custom_values.faults_by_name(error) | forms.faults_by_field(error) if error else {}
    return await _respond(
        request,
        "form.html",
        desk,
        status or (422 if error or problem else 200),
        typed=typed,
        custom=known,
        faults=faults,
        problem=problem,
        trap=_TRAP,
        shown_at=tokens.time_token(request.state.key_ring, tenant_id, now_us),
        most=MAX_DESCRIPTION,
    )


async def _sent(request: Request, desk: Desk) -> Response:
    return await _respond(request, "sent.html", desk)


async def _over(request: Request, desk: Desk) -> Response:
    return _unindexed(await _respond(request, "over.html", desk, 404))


async def _respond(
    request: Request, template: str, desk: Desk, status: int = 200, **values: Any
) -> Response:
    at = f"{request.state.settings.path_prefix}/{desk.form.path_name}"
    return await render.page(
        request,
        f"contact_form/{template}",
        status,
        desk_name=desk.name,
        at=at,
        address=desk.mailbox.address,
        **values,
    )


def _unindexed(response: Response) -> Response:
    response.headers.append(_NO_INDEX)
    return response
