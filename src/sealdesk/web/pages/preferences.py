"""What a browser has chosen for all pages, in cookies: the language, light or dark colours, and how
replies are sent.

And, for some seconds, that the user has sent a reply that can still be undone.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sealdesk.web.pages import i18n
from sealdesk.web.request import Header, Request

LANGUAGE, THEME, HOLDS = "sealdesk-language", "sealdesk-theme", "sealdesk-holds"
SENDS = "sealdesk-sends"
THEMES = ("light", "dark")
_YEAR_S = 31536000


class Sends(NamedTuple):
    """How replies are sent. status: which they set, "" for none. goes_on: whether the next ticket
    follows. takes: whether a ticket of nobody is assigned to who answers it."""

    status: str = ""
    goes_on: bool = False
    takes: bool = False


def activate_language(request: Request) -> None:
    """Activate the language of this request: from the cookie, Accept-Language, else English."""
    accepted = request.headers.get(b"accept-language", b"").decode("latin-1")
    i18n.activate(negotiate(request.cookie(LANGUAGE) or "", accepted))


def theme(request: Request) -> str:
    """One of THEMES, or "" for that of the system."""
    chosen = request.cookie(THEME)
    return chosen if chosen in THEMES else ""


def holds(request: Request) -> bool:
    """Whether the user may have replies that have not left yet."""
    return request.cookie(HOLDS) is not None


def sends(request: Request) -> Sends | None:
    """None if the user does not want this to be remembered."""
    stored = request.cookie(_sends_name(request))
    status, *others = (stored or "").split(".")
    return Sends(status, "next" in others, "take" in others) if stored else None


def sends_cookie(request: Request, typed: Mapping[str, Any]) -> Header:
    """The header that remembers how a reply was sent, or forgets it. typed: of the composer."""
    others = "next" * typed["goes_on"], "take" * typed["takes"]
    way = ".".join((typed["status"], *others))
    return cookie(request, _sends_name(request), way if typed["is_remembered"] else "")


def _sends_name(request: Request) -> str:
    # A browser may be one of several users.
    return f"{SENDS}-{request.caller.actor.id}"


def cookie(request: Request, name: str, value: str, max_age_s: int = _YEAR_S) -> Header:
    """The header that stores a choice, for a year by default; "" removes it."""
    secure = "; Secure" if request.is_https else ""
    flags = f"Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_s if value else 0}{secure}"
    return b"set-cookie", f"{name}={value}; {flags}".encode()


def negotiate(chosen: str, accepted: str) -> str:
    """The chosen language, else the best match of an Accept-Language header, else English."""
    if chosen in i18n.LANGUAGES:
        return chosen
    ranges = [_parse_range(part) for part in accepted[:500].split(",")]
    for language, weight in sorted(ranges, key=lambda each: -each[1]):
        if language in i18n.LANGUAGES and weight > 0:
            return language
    return i18n.ENGLISH


def _parse_range(part: str) -> tuple[str, float]:
    # `de-AT;q=0.8` is ("de", 0.8): catalogues exist by language, not by region.
    name, _, parameter = part.partition(";")
    weight = parameter.strip().removeprefix("q=")
    try:
        quality = float(weight) if weight else 1.0
    except ValueError:
        quality = 0.0
    return name.strip().lower().partition("-")[0], quality
