"""Pages: HTML with the headers that it needs, and how what is refused looks to people."""

import re
import secrets
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from sealdesk.errors import CODES, Refusal, Unproven
from sealdesk.web import assets
from sealdesk.web.pages import environment, i18n, resubmission
from sealdesk.web.pages.i18n import noted
from sealdesk.web.pages.messages import retold
from sealdesk.web.pages.resubmission import Kept
from sealdesk.web.request import Answer, Call, Header

LOG_IN = "/"
ACCOUNT = "/account"
LANGUAGE_COOKIE = "sealdesk-language"
_HTML = b"text/html; charset=utf-8"
# Letters that can lead nowhere else: in the path no dots, no backslash, no two slashes to begin.
_LOCAL = re.compile(
    r"/[A-Za-z0-9_-][A-Za-z0-9/_-]{0,500}(?:\?[A-Za-z0-9/_=&%:.+-]{0,1000})?", re.ASCII
)
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
_HEADERS: tuple[Header, ...] = (
    # Nothing of a tenant stays in a browser for whoever sits there next.
    (b"cache-control", b"no-store"),
    # Not no-referrer: with it, browsers tell our own forms' origin as "null" too.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# From the first page over https on, browsers ask this host in no other way, for a year.
_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Place(NamedTuple):
    """An entry of the navigation; its name is translated where it is shown."""

    path: str
    name: str
    is_for_all: bool


PLACES = (
    Place("/tickets", noted("Tickets"), True),
    Place("/customers", noted("Customers"), True),
    Place("/settings/api-keys", noted("API Keys"), False),
    Place("/settings/webhooks", noted("Webhooks"), False),
    Place("/settings/people", noted("People"), False),
    Place("/settings/audit", noted("Audit"), False),
)


class _Told(NamedTuple):
    title: str
    advice: str


_TOLD = {
    "insufficient_role": _Told(
        noted("This page is for administrators"),
        noted(
            "Your log-in is fine, but this is not yours to change. Ask an administrator of your"
            " desk."
        ),
    ),
    "foreign_form": _Told(
        noted("That form is out of date"),
        noted(
            "It was not sent from a page of your present log-in, so nothing was changed. Go back,"
            " reload the page, and send it again."
        ),
    ),
    "malformed_request": _Told(
        noted("That cannot be read"), noted("Go back, reload the page, and send its form again.")
    ),
    "method_not_allowed": _Told(
        noted("There is nothing to read here"),
        noted("This address only takes a form. Go back to the page that the form is on."),
    ),
    "body_too_large": _Told(
        noted("That is too long"), noted("Go back and send less of it. Nothing was changed.")
    ),
    "not_found": _Told(
        noted("There is nothing here"),
        noted("The address may be mistyped, or what was here has been deleted."),
    ),
    "storage_unavailable": _Told(
        noted("Back in a moment"),
        noted("The storage cannot be reached right now. Try again in a moment."),
    ),
    "query_too_slow": _Told(
        noted("That would take too long"),
        noted("There is too much to look through. Ask for less, for instance a shorter time."),
    ),
    "internal_error": _Told(
        noted("Something went wrong"), noted("That was our fault, and it has been noted.")
    ),
}
_STALE = _Told(
    noted("That form is out of date"),
    noted("It was made for an earlier log-in, so nothing was changed."),
)
_WAITS = _Told(
    noted("This was not sent yet"), noted("Your log-in had ended, so nothing was changed.")
)


async def speak(call: Call) -> None:
    """The language that was chosen with a cookie, or that the browser prefers, for this request."""
    accepted = call.headers.get(b"accept-language", b"").decode("latin-1")
    await i18n.speak(i18n.preferred(call.cookie(LANGUAGE_COOKIE) or "", accepted))


def language_cookie(call: Call, language: str) -> Header:
    """The header that keeps a choice of language for a year."""
    secure = "; Secure" if call.is_https else ""
    flags = f"Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000{secure}"
    return b"set-cookie", f"{LANGUAGE_COOKIE}={language}; {flags}".encode()


async def show(
    call: Call,
    room: str,
    template: str,
    status: int = 200,
    *,
    may_fetch: bool = False,
    **values: Any,
) -> Answer:
    """A page out of a room's templates. room: its package, "" for what all rooms share.

    may_fetch: whether its script asks for more of our pages.
    """
    nonce = secrets.token_urlsafe(16)
    frame = {
        "root": _root(call),
        "assets": assets.ADDRESSES,
        "visitor": call.visitor,
        "places": PLACES,
        "path": call.path,
        "nonce": nonce,
        "language": i18n.spoken(),
        "languages": i18n.LANGUAGES,
    }
    text = await environment.page(room, template, {**frame, **values})
    policy = _POLICY.format(nonce=nonce) + ("; connect-src 'self'" if may_fetch else "")
    headers = [*_headers(call), (b"content-security-policy", policy.encode())]
    return Answer(status, text.encode(), headers, _HTML)


def download(content: bytes, content_type: bytes, name: str) -> Answer:
    """A file to be kept, under a name of ours; nothing in it is run."""
    disposition = f'attachment; filename="{name}"'.encode()
    policy = (b"content-security-policy", b"default-src 'none'; sandbox")
    headers = [*_HEADERS, (b"content-disposition", disposition), policy]
    return Answer(200, content, headers, content_type)


def go(call: Call, path: str, *headers: Header) -> Answer:
    """On to another page of ours, which is fetched with GET."""
    location = f"{_root(call)}{path}".encode()
    return Answer(303, b"", [*_headers(call), (b"location", location), *headers], _HTML)


def _headers(call: Call) -> list[Header]:
    return [*_HEADERS, _ONLY_HTTPS] if call.is_https else [*_HEADERS]


def address(call: Call) -> str:
    """Where this service is, as the browser names it; what is no host is not passed on."""
    host = call.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if call.is_https else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'desk.example.com'}"


def is_known(path: str) -> bool:
    """Whether it leads to a page of ours: the only places to return to after logging in."""
    return is_ours(path) and not path.startswith(f"{ACCOUNT}/")


def is_ours(path: str) -> bool:
    """Whether it leads to where pages of ours and their forms are."""
    start = path.partition("?")[0]
    roots = [ACCOUNT, *(place.path for place in PLACES)]
    below = any(start == root or start.startswith(f"{root}/") for root in roots)
    return below and _LOCAL.fullmatch(path) is not None


def is_wanted(call: Call) -> bool:
    """Whether who asks for what does not exist would rather read a page than JSON."""
    is_api = f"{call.path}/".startswith("/api/")
    return not is_api and b"text/html" in call.headers.get(b"accept", b"")


async def refused(call: Call, refusal: Refusal) -> Answer:
    """A page that says what is wrong and keeps what was typed, or the way to the log-in."""
    await speak(call)
    typed = resubmission.of(call, _asked(call)) if call.method == "POST" else None
    if isinstance(refusal, Unproven):
        back = _way_back(call)
        if typed is not None and typed.typed and is_ours(typed.to):
            return await ask_log_in(call, refusal.status, wanted=back, typed=typed, had_ended=True)
        return go(call, f"{LOG_IN}?next={quote(back, safe='/')}" if back else LOG_IN)
    told = _TOLD.get(refusal.code) or _Told(CODES[refusal.code].title, retold(refusal.detail))
    is_away = refusal.code == "storage_unavailable"
    if refusal.code == "foreign_form" and call.visitor and typed and typed.typed:
        told = _STALE
    elif not is_away:
        typed = None
    answer = await _tell(
        call, refusal.status, told, typed, _way_back(call), is_away and call.method == "GET"
    )
    answer.headers += [(name.encode(), value.encode()) for name, value in refusal.headers]
    return answer


async def ask_log_in(
    call: Call,
    status: int = 200,
    *,
    wanted: str,
    typed: Kept | None = None,
    email: str = "",
    wrong: str = "",
    had_ended: bool = False,
) -> Answer:
    """The log-in form. wanted: where it leads to; typed: what it carries along."""
    return await show(
        call, "", "log_in.html", status,
        next=wanted, kept=typed, email=email, wrong=wrong, had_ended=had_ended,
    )  # fmt: skip


async def offer(call: Call, typed: Kept, back: str) -> Answer:
    """What was sent into an ended log-in, for who has logged in now to look at and to send."""
    return await _tell(call, 200, _WAITS, typed, back)


async def _tell(
    call: Call, status: int, told: _Told, typed: Kept | None, back: str, retries: bool = False
) -> Answer:
    if typed is not None and call.visitor is not None:
        typed = typed._replace(token=call.visitor.form_token)
    return await show(
        call, "", "refused.html", status,
        told=told, kept=typed, back=back, retries=retries,
        request_id=call.request_id if status >= 400 else "",
    )  # fmt: skip


def _way_back(call: Call) -> str:
    left = page_left(call)
    return left if is_known(left) else ""


def _asked(call: Call) -> str:
    return call.path + (f"?{call.query.decode('latin-1')}" if call.query else "")


def page_left(call: Call) -> str:
    """The page that was asked for, or on which the form stood; it may be none of ours."""
    if call.method == "GET":
        return _asked(call)
    try:
        left = urlsplit(call.headers.get(b"referer", b"").decode("latin-1"))
    except ValueError:
        return LOG_IN
    if left.netloc.encode("latin-1") != call.headers.get(b"host"):
        return LOG_IN
    return left.path.removeprefix(_root(call)) + (f"?{left.query}" if left.query else "")


def _root(call: Call) -> str:
    """What a proxy has stripped from the path, and links must begin with."""
    return call.shared.settings.path_prefix
