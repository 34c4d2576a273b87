"""Pages: HTML with the headers that it needs, and how what is refused looks to people."""

import re
import secrets
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from sealdesk.errors import CODES, ApiError, Unauthorized
from sealdesk.web import assets
from sealdesk.web.pages import environment, i18n, resubmission
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.messages import translate
from sealdesk.web.pages.resubmission import Kept
from sealdesk.web.request import Header, Request, Response

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
    Place("/tickets", gettext_noop("Tickets"), True),
    Place("/customers", gettext_noop("Customers"), True),
    Place("/settings/api-keys", gettext_noop("API Keys"), False),
    Place("/settings/webhooks", gettext_noop("Webhooks"), False),
    Place("/settings/people", gettext_noop("People"), False),
    Place("/settings/audit", gettext_noop("Audit"), False),
)


class _Told(NamedTuple):
    title: str
    advice: str


_TOLD = {
    "insufficient_role": _Told(
        gettext_noop("This page is for administrators"),
        gettext_noop(
            "Your log-in is fine, but this is not yours to change. Ask an administrator of your"
            " desk."
        ),
    ),
    "foreign_form": _Told(
        gettext_noop("That form is out of date"),
        gettext_noop(
            "It was not sent from a page of your present log-in, so nothing was changed. Go back,"
            " reload the page, and send it again."
        ),
    ),
    "malformed_request": _Told(
        gettext_noop("That cannot be read"),
        gettext_noop("Go back, reload the page, and send its form again."),
    ),
    "method_not_allowed": _Told(
        gettext_noop("There is nothing to read here"),
        gettext_noop("This address only takes a form. Go back to the page that the form is on."),
    ),
    "body_too_large": _Told(
        gettext_noop("That is too long"),
        gettext_noop("Go back and send less of it. Nothing was changed."),
    ),
    "not_found": _Told(
        gettext_noop("There is nothing here"),
        gettext_noop("The address may be mistyped, or what was here has been deleted."),
    ),
    "storage_unavailable": _Told(
        gettext_noop("Back in a moment"),
        gettext_noop("The storage cannot be reached right now. Try again in a moment."),
    ),
    "query_too_slow": _Told(
        gettext_noop("That would take too long"),
        gettext_noop(
            "There is too much to look through. Ask for less, for instance a shorter time."
        ),
    ),
    "internal_error": _Told(
        gettext_noop("Something went wrong"),
        gettext_noop("That was our fault, and it has been noted."),
    ),
}
_STALE = _Told(
    gettext_noop("That form is out of date"),
    gettext_noop("It was made for an earlier log-in, so nothing was changed."),
)
_WAITS = _Told(
    gettext_noop("This was not sent yet"),
    gettext_noop("Your log-in had ended, so nothing was changed."),
)


async def activate(request: Request) -> None:
    """The language that was chosen with a cookie, or that the browser prefers, for this request."""
    accepted = request.headers.get(b"accept-language", b"").decode("latin-1")
    await i18n.activate(i18n.preferred(request.cookie(LANGUAGE_COOKIE) or "", accepted))


def language_cookie(request: Request, language: str) -> Header:
    """The header that keeps a choice of language for a year."""
    secure = "; Secure" if request.is_https else ""
    flags = f"Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000{secure}"
    return b"set-cookie", f"{LANGUAGE_COOKIE}={language}; {flags}".encode()


async def show(
    request: Request,
    room: str,
    template: str,
    status: int = 200,
    *,
    may_fetch: bool = False,
    **values: Any,
) -> Response:
    """A page out of a room's templates. room: its package, "" for what all rooms share.

    may_fetch: whether its script asks for more of our pages.
    """
    nonce = secrets.token_urlsafe(16)
    frame = {
        "root": _root(request),
        "assets": assets.ADDRESSES,
        "visitor": request.visitor,
        "places": PLACES,
        "path": request.path,
        "nonce": nonce,
        "language": i18n.active_language(),
        "languages": i18n.LANGUAGES,
    }
    text = await environment.page(room, template, {**frame, **values})
    policy = _POLICY.format(nonce=nonce) + ("; connect-src 'self'" if may_fetch else "")
    headers = [*_headers(request), (b"content-security-policy", policy.encode())]
    return Response(status, text.encode(), headers, _HTML)


def download(content: bytes, content_type: bytes, name: str) -> Response:
    """A file to be kept, under a name of ours; nothing in it is run."""
    disposition = f'attachment; filename="{name}"'.encode()
    policy = (b"content-security-policy", b"default-src 'none'; sandbox")
    headers = [*_HEADERS, (b"content-disposition", disposition), policy]
    return Response(200, content, headers, content_type)


def go(request: Request, path: str, *headers: Header) -> Response:
    """On to another page of ours, which is fetched with GET."""
    location = f"{_root(request)}{path}".encode()
    return Response(303, b"", [*_headers(request), (b"location", location), *headers], _HTML)


def _headers(request: Request) -> list[Header]:
    return [*_HEADERS, _ONLY_HTTPS] if request.is_https else [*_HEADERS]


def address(request: Request) -> str:
    """Where this service is, as the browser names it; what is no host is not passed on."""
    host = request.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if request.is_https else "http"
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


def is_wanted(request: Request) -> bool:
    """Whether who asks for what does not exist would rather read a page than JSON."""
    is_api = f"{request.path}/".startswith("/api/")
    return not is_api and b"text/html" in request.headers.get(b"accept", b"")


async def refused(request: Request, refusal: ApiError) -> Response:
    """A page that says what is wrong and keeps what was typed, or the way to the log-in."""
    await activate(request)
    typed = resubmission.of(request, _asked(request)) if request.method == "POST" else None
    if isinstance(refusal, Unauthorized):
        back = _way_back(request)
        if typed is not None and typed.typed and is_ours(typed.to):
            return await ask_log_in(
                request, refusal.status, wanted=back, typed=typed, had_ended=True
            )
        return go(request, f"{LOG_IN}?next={quote(back, safe='/')}" if back else LOG_IN)
    told = _TOLD.get(refusal.code) or _Told(CODES[refusal.code].title, translate(refusal.detail))
    is_away = refusal.code == "storage_unavailable"
    if refusal.code == "foreign_form" and request.visitor and typed and typed.typed:
        told = _STALE
    elif not is_away:
        typed = None
    response = await _tell(
        request,
        refusal.status,
        told,
        typed,
        _way_back(request),
        is_away and request.method == "GET",
    )
    response.headers += [(name.encode(), value.encode()) for name, value in refusal.headers]
    return response


async def ask_log_in(
    request: Request,
    status: int = 200,
    *,
    wanted: str,
    typed: Kept | None = None,
    email: str = "",
    wrong: str = "",
    had_ended: bool = False,
) -> Response:
    """The log-in form. wanted: where it leads to; typed: what it carries along."""
    return await show(
        request, "", "log_in.html", status,
        next=wanted, kept=typed, email=email, wrong=wrong, had_ended=had_ended,
    )  # fmt: skip


async def offer(request: Request, typed: Kept, back: str) -> Response:
    """What was sent into an ended log-in, for who has logged in now to look at and to send."""
    return await _tell(request, 200, _WAITS, typed, back)


async def _tell(
    request: Request, status: int, told: _Told, typed: Kept | None, back: str, retries: bool = False
) -> Response:
    if typed is not None and request.visitor is not None:
        typed = typed._replace(token=request.visitor.form_token)
    return await show(
        request, "", "refused.html", status,
        told=told, kept=typed, back=back, retries=retries,
        request_id=request.request_id if status >= 400 else "",
    )  # fmt: skip


def _way_back(request: Request) -> str:
    left = page_left(request)
    return left if is_known(left) else ""


def _asked(request: Request) -> str:
    return request.path + (f"?{request.query.decode('latin-1')}" if request.query else "")


def page_left(request: Request) -> str:
    """The page that was asked for, or on which the form stood; it may be none of ours."""
    if request.method == "GET":
        return _asked(request)
    try:
        left = urlsplit(request.headers.get(b"referer", b"").decode("latin-1"))
    except ValueError:
        return LOG_IN
    if left.netloc.encode("latin-1") != request.headers.get(b"host"):
        return LOG_IN
    return left.path.removeprefix(_root(request)) + (f"?{left.query}" if left.query else "")


def _root(request: Request) -> str:
    """What a proxy has stripped from the path, and links must begin with."""
    return request.state.settings.path_prefix
