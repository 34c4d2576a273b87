"""Settings → Business hours."""

from typing import Any

import msgspec

from sealdesk.errors import ValidationFailed
from sealdesk.tickets.hours import actions, labels, parsing, store
from sealdesk.tickets.hours.types import DAYS, HoursBody
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/business-hours"
ROOM = Room(
    "tickets.hours", None, labels, NavItem(_PATH, gettext_noop("Business hours"), section="desk")
)
_USUAL = "09:00-17:00"
_PROPOSED = HoursBody("Europe/London", _USUAL, _USUAL, _USUAL, _USUAL, _USUAL)


@page
async def show_hours(request: Request) -> Response:
    """The form with the stored hours, or with usual ones."""
    hours = await request.fetch(store.find)
    typed = parsing.to_typed(hours) if hours else _PROPOSED
    return await _form(request, msgspec.structs.asdict(typed))


@page
async def set_hours(request: Request) -> Response:
    form = forms.read(request)
    typed: dict[str, Any] = {name: form.text(name).strip() for name in HoursBody.__struct_fields__}
    try:
        await request.act(actions.set_hours, body.convert(typed, HoursBody), now_us=request.now_us)
    except ValidationFailed as error:
        return await _form(request, typed, error)
    return render.redirect(request, _PATH)


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ValidationFailed | None = None,
) -> Response:
    return await forms.show(
        request,
        "hours/hours.html",
        error,
        typed=typed,
        days=DAYS,
        day_names=labels.FIELD_LABELS,
    )
