"""Settings → Business hours."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from sealdesk.db import threads
from sealdesk.errors import ValidationFailed
from sealdesk.tickets.hours import actions, labels, parsing, public_holidays, store
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
    """Store the hours, or propose the public holidays of a country if its button was pressed."""
    form = forms.read(request)
    typed: dict[str, Any] = {name: form.text(name).strip() for name in HoursBody.__struct_fields__}
    try:
        if form.text("add"):
            return await _propose(request, typed, form.text("country").strip())
        await request.act(actions.set_hours, body.convert(typed, HoursBody), now_us=request.now_us)
    except ValidationFailed as error:
        return await _form(request, typed, error, country=form.text("country"))
    return render.redirect(request, _PATH)


async def _propose(request: Request, typed: dict[str, Any], country: str) -> Response:
    """The form with the public holidays of this year and the next among the typed ones."""
    year = datetime.fromtimestamp(request.now_us / 1_000_000, UTC).year
    days = await threads.run_in(None, public_holidays.list_days, country, (year, year + 1))
    known = map(str.strip, typed["holidays"].splitlines())
    lines = sorted({*filter(None, known), *days})
    typed = {**typed, "holidays": "\n".join(lines)}
    return await _form(request, typed, country=country, added=len(days), since=year)


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ValidationFailed | None = None,
    *,
    country: str = "",
    added: int = 0,
    since: int = 0,
) -> Response:
    """added: public holidays of the country from the year `since` on."""
    return await forms.show(
        request,
        "hours/hours.html",
        error,
        typed=typed,
        days=DAYS,
        day_names=labels.FIELD_LABELS,
        country=country,
        added=added,
        since=since,
    )
