"""Paths of pages that a log-in, a language switch or an error page may lead back to."""

import re
from urllib.parse import urlsplit

from sealdesk.web.request import Request

LOG_IN = "/"
ACCOUNT = "/account"
# Characters that cannot lead to another host: no dots, no backslash, no `//` at the start.
_LOCAL = re.compile(
    r"/[A-Za-z0-9_-][A-Za-z0-9/_-]{0,500}(?:\?[A-Za-z0-9/_=&%:.+-]{0,1000})?", re.ASCII
)


def may_return_to(request: Request, path: str) -> bool:
    """Whether it is the path of a page with GET: the only targets of a redirect after a log-in."""
    return is_page(request, path) and not path.startswith(f"{ACCOUNT}/")


def is_page(request: Request, path: str) -> bool:
    """Whether it is below a page of the site or the account: a page or the target of its form."""
    start = path.partition("?")[0]
    site = request.site
    roots = [ACCOUNT, *site.other_pages, *(item.path for item in site.navigation)]
    is_below = any(start == root or start.startswith(f"{root}/") for root in roots)
    return is_below and _LOCAL.fullmatch(path) is not None


def find_return_path(request: Request) -> str:
    """The page that this request asks for or comes from; "" when it is no page to return to."""
    path = current_page(request)
    return path if may_return_to(request, path) else ""


def current_page(request: Request) -> str:
    """The page of a GET, or the page that holds the submitted form; not checked by `is_page`."""
    if request.method == "GET":
        return requested_path(request)
    return referring_page(request)


def referring_page(request: Request) -> str:
    """The page of this service that the request comes from, by its Referer; "/" without one."""
    try:
        referer = urlsplit(request.headers.get(b"referer", b"").decode("latin-1"))
    except ValueError:
        return LOG_IN
    if referer.netloc.encode("latin-1") != request.headers.get(b"host"):
        return LOG_IN
    path = referer.path.removeprefix(request.state.settings.path_prefix)
    return path + (f"?{referer.query}" if referer.query else "")


def requested_path(request: Request) -> str:
    """Path and query of this request."""
    return request.path + (f"?{request.query.decode('latin-1')}" if request.query else "")
