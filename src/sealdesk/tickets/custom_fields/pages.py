"""Settings → Custom fields: the definitions of a tenant as pages."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sealdesk.errors import (
    ApiError,
    Conflict,
    PreconditionFailed,
    ValidationFailed,
    gettext_noop,
)
from sealdesk.tickets.custom_fields import actions, errors, labels, store
from sealdesk.tickets.custom_fields.types import (
    MAX_ACTIVE,
    TYPES,
    Field,
    FieldChange,
    FieldType,
    NewField,
)
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/custom-fields"
NAV_ITEM = NavItem(_PATH, gettext_noop("Custom fields"))
ROOM = Room("tickets.custom_fields", errors, labels, NAV_ITEM, object_type="custom_field")
_TYPE_NAMES: Mapping[FieldType, str] = {
    "text": gettext_noop("Text"),
    "number": gettext_noop("Number"),
    "choice": gettext_noop("Choice"),
    "date": gettext_noop("Date"),
    "checkbox": gettext_noop("Checkbox"),
}


@page
async def list_fields(request: Request) -> Response:
    """All definitions, in the order of tickets."""
    return await _list(request, added_id=forms.read_query(request).text("added"))


@page
async def new_field(request: Request) -> Response:
    """The form of a new definition."""
    return await _form(request, {**_read_fields(Form([])), "key": "", "type": "text"})


@page
async def define_field(request: Request) -> Response:
    """Define a field, as the last one."""
    form = forms.read(request)
    typed = {**_read_fields(form), "key": form.text("key").strip(), "type": form.text("type")}
    try:
        new = body.convert(_with_choices(typed, typed["type"]), NewField)
        field = await request.act(actions.define_field, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error)
    return render.redirect(request, f"{_PATH}?added={field.id}")


@page
async def edit_field(request: Request, field_id: str) -> Response:
    """The form of a definition."""
    field = await request.fetch(actions.get_field, field_id)
    typed = {**msgspec.structs.asdict(field), "choices": "\n".join(field.choices)}
    return await _form(request, typed, field=field)


@page
async def change_field(request: Request, field_id: str) -> Response:
    """Change a definition, activate or deactivate it, or move it up or down in the list."""
    form, field = forms.read(request), await request.fetch(actions.get_field, field_id)
    if form.text("to"):
        position = field.place + 1 + (1 if form.text("to") == "down" else -1)
        change = FieldChange(position=max(position, 1))
    elif form.text("is_active"):
        change = FieldChange(is_active=form.text("is_active") == "yes")
    else:
        return await _save(request, form, field)
    try:
        await _change(request, field, change)
    except Conflict as error:
        return await _list(request, error)
    return render.redirect(request, _PATH)


@page
async def confirm_deletion(request: Request, field_id: str) -> Response:
    field = await request.fetch(actions.get_field, field_id)
    return await render.page(request, "custom_fields/delete.html", field=field)


@page
async def delete_field(request: Request, field_id: str) -> Response:
    await request.act(actions.delete_field, field_id, now_us=request.now_us)
    return render.redirect(request, _PATH)


async def _save(request: Request, form: Form, field: Field) -> Response:
    typed, seen = _read_fields(form), form.text("seen")
    try:
        change = body.convert(_with_choices(typed, field.type), FieldChange)
        await _change(request, field, change, seen)
    except ValidationFailed as error:
        return await _form(request, typed, error, field, seen=seen)
    except PreconditionFailed as error:
        return await _form(request, typed, error, await request.fetch(actions.get_field, field.id))
    return render.redirect(request, _PATH)


async def _change(request: Request, field: Field, change: FieldChange, seen: str = "") -> None:
    await request.act(actions.change_field, field.id, change, now_us=request.now_us, seen=seen)


def _read_fields(form: Form) -> dict[str, Any]:
    return {
        "label": form.text("label").strip(),
        "choices": form.text("choices"),
        "required_on_resolve": form.text("required_on_resolve") != "",
    }


def _with_choices(typed: dict[str, Any], kind: str) -> dict[str, Any]:
    """The typed fields as the body of an API request: a choice for each line."""
    lines = [line.strip() for line in typed["choices"].splitlines()] if kind == "choice" else []
    return {**typed, "choices": [line for line in lines if line]}


async def _list(request: Request, error: Conflict | None = None, added_id: str = "") -> Response:
    fields = await request.fetch(store.list_fields)
    return await render.page(
        request,
        "custom_fields/fields.html",
        error.status if error else 200,
        added=next((field for field in fields if field.id == added_id), None),
        fields=fields,
        type_names=_TYPE_NAMES,
        wrong=translate(error) if error else "",
        is_full=sum(field.is_active for field in fields) >= MAX_ACTIVE,
        most=MAX_ACTIVE,
    )


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    field: Field | None = None,
    seen: str = "",
) -> Response:
    """The form with the submitted values and a message beside each invalid field.

    seen: the `updated_at` with which it was opened; "" for that of the field.
    """
    return await forms.show(
        request,
        "custom_fields/field.html",
        error,
        typed=typed,
        field=field,
        seen=seen or (field.updated_at if field else ""),
        types=TYPES,
        type_names=_TYPE_NAMES,
    )
