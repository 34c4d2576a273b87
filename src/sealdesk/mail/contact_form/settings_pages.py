"""Settings → E-mail → Form for customers."""

from typing import Any, NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, PreconditionFailed, ValidationFailed
from sealdesk.mail.contact_form import actions, store
from sealdesk.mail.contact_form.types import ContactForm, FormSettings
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.resources.representation import fingerprint
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_PATH = "/settings/email/form"
_YES = "yes"


class _Settings(NamedTuple):
    form: ContactForm | None
    mailboxes: list[Mailbox]
    fields: list[Field]


@page
async def show(request: Request) -> Response:
    found = await _load(request)
    is_saved = forms.read_query(request).text("saved") == _YES
    return await _respond(request, found, _typed_of(request, found.form), is_saved=is_saved)


@page
async def save(request: Request) -> Response:
    """Store the settings, unless somebody else did so since the page was opened."""
    form = forms.read(request)
    typed, seen = _read(form), form.text("seen")
    try:
        wanted = body.convert(typed, FormSettings)
        await request.act(actions.save_form, wanted, seen=seen, now_us=request.now_us)
    except ValidationFailed as error:
        return await _respond(request, await _load(request), typed, error, seen=seen)
    except PreconditionFailed as error:
        return await _respond(request, await _load(request), typed, error)
    return render.redirect(request, f"{_PATH}?saved={_YES}")


async def _load(request: Request) -> _Settings:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Settings:
        listed = await mailboxes.list_all(tx, tenant_id)
        return _Settings(
            await store.find_form_of(tx, tenant_id),
            [each for each in listed if each.sends],
            await custom_fields.list_active(tx, tenant_id),
        )

    return await request.read(work)


def _typed_of(request: Request, form: ContactForm | None) -> dict[str, Any]:
    if form is None:
        base_url = f"{render.base_url(request)}{request.state.settings.path_prefix}"
        empty = {"path_name": "", "mailbox_id": "", "field_keys": []}
        return {**empty, "base_url": base_url, "is_on": False, "has_ticket_pages": False}
    return {name: getattr(form, name) for name in FormSettings.__struct_fields__} | {
        "field_keys": form.fields
    }


def _read(form: Form) -> dict[str, Any]:
    return {
        "path_name": form.text("path_name").strip(),
        "mailbox_id": form.text("mailbox_id"),
        "base_url": form.text("base_url").strip(),
        "field_keys": form.texts("field_keys"),
        "is_on": form.text("is_on") == _YES,
        "has_ticket_pages": form.text("has_ticket_pages") == _YES,
    }


async def _respond(
    request: Request,
    found: _Settings,
    typed: dict[str, Any],
    error: ApiError | None = None,
    *,
    is_saved: bool = False,
    seen: str = "",
) -> Response:
    """seen: see `actions.save_form`; "" for the form as it is."""
    form = found.form
    return await forms.show(
        request,
        "contact_form/settings.html",
        error,
        seen=seen or fingerprint(found.form),
        typed=typed,
        chosen=typed["field_keys"],
        mailboxes=found.mailboxes,
        fields=found.fields,
        link=f"{form.base_url}/{form.path_name}/new" if form and form.is_on else "",
        is_saved=is_saved,
    )
