"""Settings → Business hours."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk.db import threads
from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound, PreconditionFailed, ValidationFailed
from sealdesk.tickets.hours import actions, labels, parsing, public_holidays, store
from sealdesk.tickets.hours.types import DAYS, Hours, HoursBody
from sealdesk.tickets.ticket.store import teams
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_YES = "yes"
_PATH = "/settings/business-hours"
ROOM = Room(
    "tickets.hours", None, labels, NavItem(_PATH, gettext_noop("Business hours"), section="desk")
)
_USUAL = "09:00-17:00"
_PROPOSED = HoursBody("Europe/London", _USUAL, _USUAL, _USUAL, _USUAL, _USUAL)


@page
async def show_hours(request: Request) -> Response:
    """The form with the hours of the desk or of a team, else with those that apply, or usual ones.

    Raises NotFound.
    """
    query = forms.read_query(request)
    team_id = query.text("team")
    choice = await request.fetch(_list_choice)
    if team_id and team_id not in choice.teams:
        raise NotFound
    hours = choice.of_teams.get(team_id) or await request.fetch(store.find)
    typed = parsing.to_typed(hours) if hours else _PROPOSED
    shown, is_saved = msgspec.structs.asdict(typed), query.text("saved") == _YES
    return await _form(request, shown, team_id=team_id, listed=typed.country, is_saved=is_saved)


@page
async def set_hours(request: Request) -> Response:
    """Store the hours, or propose the public holidays of a country if its button was pressed."""
    form = forms.read(request)
    typed: dict[str, Any] = {name: form.text(name).strip() for name in HoursBody.__struct_fields__}
    team_id, seen = form.text("team"), form.text("seen")
    try:
        if form.text("add"):
            return await _propose(request, typed, team_id, seen)
        is_removed = bool(team_id and form.text("remove"))
        if typed["country"] and not is_removed:
            days = await _list_days(request, typed["country"])
            if (
                form.text("listed").upper() != typed["country"].upper()
            ):  # not yet among those that were shown
                typed["holidays"] = _joined(typed["holidays"], days)
        wanted = None if is_removed else body.convert(typed, HoursBody)
        await request.act(
            actions.set_hours, wanted, team_id=team_id, now_us=request.now_us, seen=seen
        )
    except (ValidationFailed, PreconditionFailed) as error:
        kept = seen if isinstance(error, ValidationFailed) else ""
        listed = form.text("listed")
        return await _form(request, typed, error, team_id=team_id, listed=listed, seen=kept)
    return render.redirect(request, f"{_PATH}?{urlencode({'team': team_id, 'saved': _YES})}")


async def _propose(request: Request, typed: dict[str, Any], team_id: str, seen: str) -> Response:
    """The form with the public holidays of this year and the next among the typed ones."""
    country = typed["country"]
    days = await _list_days(request, country)
    typed = {**typed, "holidays": _joined(typed["holidays"], days)}
    return await _form(request, typed, team_id=team_id, listed=country, added=len(days), seen=seen)


async def _list_days(request: Request, country: str) -> list[str]:
    """The public holidays of this year and the next. Raises ValidationFailed."""
    last_year = public_holidays.next_year(request.now_us)
    years = last_year - 1, last_year
    return await threads.run_in(None, public_holidays.list_days, country, years)


def _joined(typed: str, days: list[str]) -> str:
    return "\n".join(sorted({*filter(None, map(str.strip, typed.splitlines())), *days}))


class _Choice(NamedTuple):
    """Whose hours can be chosen: id → name, and id → hours of those that have their own."""

    teams: Mapping[str, str]
    of_teams: Mapping[str, Hours]


async def _list_choice(tx: Tx, tenant_id: str) -> _Choice:
    listed = {each.id: each.name for each in await teams.list_teams(tx, tenant_id)}
    return _Choice(listed, await store.find_of_teams(tx, tenant_id, listed))


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ValidationFailed | PreconditionFailed | None = None,
    *,
    team_id: str,
    listed: str,
    added: int = 0,
    is_saved: bool = False,
    seen: str = "",
) -> Response:
    """team_id: "" for the desk. listed: the country whose public holidays stand among the others.

    added: how many of them have just been added. seen: with which version the form was opened, ""
    for the present one.
    """
    choice = await request.fetch(_list_choice)
    own = await request.fetch(actions.find_own, team_id)
    return await forms.show(
        request,
        "hours/hours.html",
        error,
        typed=typed,
        team_id=team_id,
        choice=choice,
        days=DAYS,
        day_names=labels.FIELD_LABELS,
        listed=listed,
        added=added,
        last_year=public_holidays.next_year(request.now_us),
        is_saved=is_saved,
        seen=seen or actions.version_of(own),
    )
