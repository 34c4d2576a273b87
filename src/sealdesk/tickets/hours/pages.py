"""Settings → Business hours."""

from typing import Any

import msgspec

from sealdesk import clock
from sealdesk.errors import ValidationFailed
from sealdesk.tickets.hours import actions, labels, parsing, rules, store
from sealdesk.tickets.hours.types import DAYS, Hours, HoursBody
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/business-hours"
ROOM = Room("tickets.hours", None, labels, NavItem(_PATH, gettext_noop("Business hours")))
_USUAL = "09:00-17:00"
_PROPOSED = HoursBody("Europe/London", _USUAL, _USUAL, _USUAL, _USUAL, _USUAL)


@page
async def show_hours(request: Request) -> Response:
    """The form with the stored hours, or with usual ones."""
    hours = await request.fetch(store.find)
    typed = parsing.to_typed(hours) if hours else _PROPOSED
    return await _form(request, msgspec.structs.asdict(typed), hours)


@page
async def set_hours(request: Request) -> Response:
    """Store the hours."""
    form = forms.read(request)
    typed: dict[str, Any] = {name: form.text(name).strip() for name in HoursBody.__struct_fields__}
    minutes = typed["reply_minutes"]
    # What is no number is refused like 0, which says what is accepted.
    number = int(minutes) if _is_number(minutes) else 0
    sent = typed | {"reply_minutes": number if minutes else None}
    try:
        await request.act(actions.set_hours, body.convert(sent, HoursBody), now_us=request.now_us)
    except ValidationFailed as error:
        return await _form(request, typed, None, error)
    return render.redirect(request, _PATH)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


async def _form(
    request: Request,
    typed: dict[str, Any],
    hours: Hours | None,
    error: ValidationFailed | None = None,
) -> Response:
    return await render.page(
        request,
        "hours/hours.html",
        error.status if error else 200,
        typed=typed,
        days=DAYS,
        day_names=labels.FIELD_LABELS,
        due_at=_due_at(hours, request.now_us),
        **forms.messages(error),
    )


def _due_at(hours: Hours | None, now_us: int) -> str | None:
    if hours is None or hours.reply_minutes is None:
        return None
    return clock.iso_or_none(rules.deadline(hours, now_us, hours.reply_minutes))
