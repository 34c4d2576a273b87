"""HTML responses with their security headers, redirects and downloads."""

import re
import secrets
from contextlib import suppress
from typing import Any

from sealdesk.errors import ServiceUnavailable
from sealdesk.web.pages import environment, i18n, preferences
from sealdesk.web.request import Header, Request, Response

EMAIL_PATH = "/settings/email"
_SETTINGS = "/settings"
_HTML = b"text/html; charset=utf-8"
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
_HEADERS: tuple[Header, ...] = (
    # Not no-referrer: with it, browsers send `Origin: null` with our own forms too.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_HSTS = (b"strict-transport-security", b"max-age=31536000")
_PANES = b"panes=two"  # set by the script
_NOTHING_BESIDE = {"unread_count": 0, "failing_count": 0, "leaving_replies": (), "sidebar": None}
_MAY_FETCH = "; connect-src 'self'"
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


async def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A rendered template. template: `room/file.html`.

    The script may request other pages of this service where a user is logged in.
    """
    nonce = secrets.token_urlsafe(16)
    frame: dict[str, Any] = {
        "root": request.state.settings.path_prefix,
        "visitor": request.visitor,
        "nav_items": request.site.navigation,
        "path": request.path,
        "has_panes": _PANES in request.headers.get(b"cookie", b"").split(b"; "),
        "nonce": nonce,
        "language": i18n.active_language(),
        "languages": i18n.LANGUAGES,
        "theme": preferences.theme(request),
    }
    packages = request.site.template_packages
    if await environment.is_in_frame(packages, template):
        frame |= await _list_beside(request, has_sidebar="sidebar" in values)
    await request.turn.pause()
    text = await environment.render(packages, template, {**frame, **values})
    policy = _POLICY.format(nonce=nonce) + (_MAY_FETCH if request.visitor else "")
    headers = [*_headers(request), (b"content-security-policy", policy.encode())]
    return Response(status, text.encode(), headers, _HTML)


async def _list_beside(request: Request, *, has_sidebar: bool) -> dict[str, Any]:
    """What the frame shows beside the content: nothing where nobody is logged in.

    An error page needs no storage. has_sidebar: the page has read the views itself.
    """
    beside: dict[str, Any] = {**_NOTHING_BESIDE}
    visitor, site = request.visitor, request.site
    if request.proof.caller is None or visitor is None:
        return beside
    with suppress(ServiceUnavailable):
        beside["unread_count"] = await site.count_unread(request)
        # The pages of mailboxes say what is wrong, and only administrators can change it.
        if visitor.is_administrator and not request.path.startswith(EMAIL_PATH):
            beside["failing_count"] = await site.count_failing_mailboxes(request)
        if preferences.holds(request):
            beside["leaving_replies"] = await site.list_leaving(request)
        # In the settings their own navigation stands there.
        if not has_sidebar and not request.path.startswith(_SETTINGS):
            beside["sidebar"] = await site.list_beside(request)
    return beside


def download(content: bytes, content_type: bytes, name: str) -> Response:
    """A file that the browser saves under this name and does not display."""
    disposition = f'attachment; filename="{name}"'.encode()
    policy = (b"content-security-policy", b"default-src 'none'; sandbox")
    headers = [*_HEADERS, (b"content-disposition", disposition), policy]
    return Response(200, content, headers, content_type)


def redirect(request: Request, path: str, *headers: Header) -> Response:
    """A 303 to another page of this service, which the browser fetches with GET."""
    location = f"{request.state.settings.path_prefix}{path}".encode()
    return Response(303, b"", [*_headers(request), (b"location", location), *headers], _HTML)


def base_url(request: Request) -> str:
    """Scheme and host as the browser names them; an invalid Host header is not used."""
    host = request.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if request.is_https else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'desk.example.com'}"


def _headers(request: Request) -> list[Header]:
    return [*_HEADERS, _HSTS] if request.is_https else [*_HEADERS]
