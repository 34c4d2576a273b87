"""Checks that apply to every page: security headers, and forms that only our pages can send."""

from html.parser import HTMLParser

from sealdesk.identity.auth.session_guard import FileGuard
from sealdesk.routes import PAGES
from sealdesk.web.operation import Route
from tests.support.pages import Page

_ID = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"
# The forms that need a session.
FORMS = [row for row in PAGES if row.guard.scheme == "session" and row.method == "POST"]


def is_file(route: Route) -> bool:
    """Whether a script sends a file as the body, instead of a form."""
    return isinstance(route.guard, FileGuard)


# Headers of a form that another site sends; no Sec-Fetch-Site where the page is not secure.
FOREIGN_ORIGINS = [
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "cross-site", "origin": "https://evil.test"},
    {"sec_fetch_site": "same-origin, cross-site"},
    {"sec_fetch_site": ""},
    {"origin": "https://evil.test"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "http://[::1"},
]
# Values of `next` that must not be redirected to.
FOREIGN_PLACES = (
    "https://evil.test/",
    "//evil.test/settings/webhooks",
    "/\\evil.test",
    "/%5Cevil.test",
    "\\\\evil.test",
    "/settings/webhooks/../..//evil.test",
    "/settings/webhooks\r\nset-cookie: a=b",
    "/settings/webhooks@evil.test",
    "/settings/webhooksevil.test",
    "/settings/webhooks/\u202e",
    "javascript:alert(1)",
    "/docs",
    "/log-out",
    " /settings/webhooks",
    "/settings/webhooks/" + "a" * 2000,
)


class PageAddresses(HTMLParser):
    """The ids, the addresses and the inline styles and scripts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.unnamed: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.ids += [value for name, value in attributes if name == "id" and value]
        self.addresses += [value for n, value in attributes if n in ("href", "src") and value]
        if tag == "style" or (tag == "script" and "src" not in named):
            self.inline.append(tag)
        self.inline += [n for n in named if n == "style" or n.startswith("on")]
        if tag == "img" and "alt" not in named:
            self.unnamed.append(tag)


def path_of(route: Route) -> str:
    """The path of a route, with an id in each placeholder."""
    return "/".join(_ID if part.startswith("{") else part for part in route.path.split("/"))


def assert_page_is_secure(page: Page, *, scripts: int = 1) -> None:
    """Check the headers of a page, and that it uses nothing that they forbid.

    Scripts may fetch only where a user is logged in. scripts: how many the page has.
    """
    headers = page.answer.headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    nonce = policy.pop("script-src").removeprefix("'nonce-").removesuffix("'")
    is_logged_in = "/log-out" in page.answer.text
    assert policy.pop("connect-src", None) == ("'self'" if is_logged_in else None)
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self'",
        "font-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert [value for tag, name, value in page.attributes if name == "nonce"] == [nonce] * scripts
    assert len(nonce) >= 22
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "private, no-store"
    assert headers["content-type"] == "text/html; charset=utf-8"
    inline = PageAddresses(page.answer.text)
    assert inline.inline == [] and inline.unnamed == []
    assert all(address.startswith(("/", "#")) for address in inline.addresses)
