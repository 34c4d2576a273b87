"""Settings → E-mail → Ratings by customers."""

from typing import Any

import msgspec

from sealdesk.errors import ApiError, PreconditionFailed, ValidationFailed
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.ratings import actions, store
from sealdesk.mail.ratings.types import MAX_DELAY_HOURS, AskSettings
from sealdesk.resources.representation import fingerprint
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_PATH = "/settings/email/ratings"
_YES = "yes"


@page
async def show(request: Request) -> Response:
    found = await request.fetch(store.find_settings)
    base_url = f"{render.base_url(request)}{request.state.settings.path_prefix}"
    settings = found or AskSettings(is_on=False, delay_hours=24, base_url=base_url)
    is_saved = forms.read_query(request).text("saved") == _YES
    typed = msgspec.structs.asdict(settings)
    return await _respond(request, typed, seen=fingerprint(found), is_saved=is_saved)


@page
async def save(request: Request) -> Response:
    """Store the settings, unless somebody else did so since the page was opened."""
    form = forms.read(request)
    seen = form.text("seen")
    typed: dict[str, Any] = {
        "is_on": form.text("is_on") == _YES,
        "delay_hours": forms.number(form.text("delay_hours").strip()),
        "base_url": form.text("base_url").strip(),
    }
    try:
        wanted = body.convert(typed, AskSettings)
        await request.act(actions.save_settings, wanted, seen=seen, now_us=request.now_us)
    except ValidationFailed as error:
        return await _respond(request, typed, error, seen=seen)
    except PreconditionFailed as error:
        seen = fingerprint(await request.fetch(store.find_settings))
        return await _respond(request, typed, error, seen=seen)
    return render.redirect(request, f"{_PATH}?saved={_YES}")


async def _respond(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    *,
    seen: str,
    is_saved: bool = False,
) -> Response:
    listed = await request.fetch(mailboxes.list_all)
    return await forms.show(
        request,
        "ratings/settings.html",
        error,
        seen=seen,
        typed=typed,
        can_send=any(each.sends for each in listed),
        most_hours=MAX_DELAY_HOURS,
        is_saved=is_saved,
    )
