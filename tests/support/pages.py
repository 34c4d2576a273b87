"""A browser without scripts: follows links, fills forms, stores cookies."""

import re
from functools import cached_property
from html import unescape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import httpx

from sealdesk import ids
from tests.support.client import Headers, send

if TYPE_CHECKING:
    from tests.support.service import Service, Tenant

PASSWORD = "correct horse battery staple"
# The path of the inbox, the first page after a log-in.
INBOX = "/tickets"
FORM = "application/x-www-form-urlencoded"
_FROM_OUR_PAGE = {"content_type": FORM, "sec_fetch_site": "same-origin"}


class Form(NamedTuple):
    """A form of a page: its method, its action, and its present fields."""

    method: str
    action: str
    fields: list[tuple[str, str]]

    def value(self, name: str) -> str:
        return dict(self.fields)[name]


class Page:
    """A page, which is parsed when a test looks at its contents: many look at the status only."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.status = answer.status_code

    @cached_property
    def _contents(self) -> "_Contents":
        return _Contents(self.answer.text)

    @cached_property
    def text(self) -> str:
        """The visible text, with single spaces."""
        return " ".join(" ".join(self._contents.words).split())

    @property
    def forms(self) -> list[Form]:
        return self._contents.forms

    @property
    def links(self) -> list[str]:
        return self._contents.links

    @property
    def tags(self) -> list[str]:
        return self._contents.tags

    @property
    def attributes(self) -> list[tuple[str, str, str]]:
        """The attributes of all tags: tag, name, value."""
        return self._contents.attributes

    def form(self, action: str, field: str = "") -> Form:
        """The form with this action, and this field if several have the action."""
        of_action = [form for form in self.forms if form.action == action]
        (found,) = [form for form in of_action if not field or field in dict(form.fields)]
        return found


# Pages of the service are well formed: html.parser, which reads anything, takes four times as long.
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_TAG = re.compile(
    r"<(?:!--.*?-->|![^>]*>|/(?P<end>[a-z][a-z0-9]*)>"
    rf"""|(?P<tag>[a-z][a-z0-9-]*)(?P<attributes>(?:[^>"']|{_QUOTED})*)>)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"""([^\s="'/]+)(?:=({_QUOTED}))?""")


class _Contents:
    def __init__(self, text: str) -> None:
        self.forms: list[Form] = []
        self._apart: dict[str, list[tuple[str, str]]] = {}
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self._textarea: str | None = None
        self._select: str | None = None
        read_to = 0
        for found in _TAG.finditer(text):
            self._handle_data(unescape(text[read_to : found.start()]))
            read_to = found.end()
            if found["tag"]:
                pairs = _ATTRIBUTE.findall(found["attributes"])
                self._handle_start(
                    found["tag"], {name.lower(): unescape(value[1:-1]) for name, value in pairs}
                )
            elif found["end"] == "textarea":
                self._textarea = None
            elif found["end"] == "select":
                self._select = None
        self._handle_data(unescape(text[read_to:]))

    def _handle_start(self, tag: str, named: dict[str, str]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in named.items()]
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag == "form":
            # A field before its form names it.
            fields = self._apart.pop(named.get("id", ""), [])
            self.forms.append(Form(named.get("method", "get"), named["action"], fields))
        elif tag == "input" and "form" in named:
            self._apart.setdefault(named["form"], []).append((named["name"], named["value"]))
        elif self.forms and "name" in named and "disabled" not in named:
            self._field(tag, named)
        elif tag == "option" and self._select and "selected" in named:
            self.forms[-1].fields.append((self._select, named["value"]))

    def _field(self, tag: str, named: dict[str, str]) -> None:
        is_box = named.get("type") in ("checkbox", "radio")
        if tag == "input" and (not is_box or "checked" in named):
            self.forms[-1].fields.append((named["name"], named.get("value", "on")))
        elif tag == "textarea":
            self._textarea = named["name"]
            self.forms[-1].fields.append((named["name"], ""))
        elif tag == "select":
            self._select = named["name"]

    def _handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._textarea is not None:
            fields = self.forms[-1].fields
            # Browsers leave out the end of line that a text begins with.
            before = fields[-1][1]
            fields[-1] = (self._textarea, before + (data if before else data.removeprefix("\n")))


class Visitor:
    """A browser: one service, its cookies, and its present address."""

    def __init__(self, service: "Service") -> None:
        self.service = service
        self.cookies: dict[str, str] = {}
        self.at = "/"

    def get(self, path: str, **headers: str) -> Page:
        """A page; redirects are followed."""
        return self._go("GET", path, b"", _named(headers))

    def submit(self, form: Form, /, **fields: str | list[str]) -> Page:
        """Send a form with these fields changed."""
        return self.post(form.action, _filled(form, fields))

    def post(self, path: str, fields: list[tuple[str, str]], **headers: str) -> Page:
        """Send fields as one of our forms does, unless headers say otherwise."""
        sent = {**_named(_FROM_OUR_PAGE), **_named(headers)}
        return self._go("POST", path, urlencode(fields).encode(), sent)

    def once(self, method: str, path: str, body: bytes = b"", **headers: str) -> httpx.Response:
        """One request, without following redirects."""
        own = self.service.url
        sent: Headers = {"accept": "text/html", "referer": f"{own}{self.at}", **_named(headers)}
        if self.cookies:
            sent.setdefault("cookie", "; ".join(f"{n}={v}" for n, v in self.cookies.items()))
        answer = send(self.service, method, path, body, sent)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies.pop(name, None)
            if value:
                self.cookies[name] = value
        return answer

    def _go(self, method: str, path: str, body: bytes, headers: Headers) -> Page:
        answer = self.once(method, path, body, **headers)
        while answer.status_code == 303:
            path = answer.headers["location"]
            answer = self.once("GET", path.partition("#")[0])
        self.at = path
        return Page(answer)

    def log_in(self, email: str, password: str = PASSWORD) -> Page:
        form = self.get("/").form("/log-in")
        return self.submit(form, email=email, password=password)


def logged_in(tenant: "Tenant") -> Visitor:
    """The tenant's administrator at a browser."""
    visitor = Visitor(tenant.service)
    form = visitor.get("/").form("/log-in")
    sent = _filled(form, {"email": tenant.admin_email, "password": PASSWORD})
    # The inbox behind it takes as long as the log-in itself, and most tests begin elsewhere.
    answer = visitor.once("POST", form.action, urlencode(sent).encode(), **_FROM_OUR_PAGE)
    assert visitor.cookies
    visitor.at = answer.headers["location"]
    return visitor


def ticket_ids(page: Page) -> list[str]:
    """The ids of the tickets that a page lists, in its order."""
    links = (link.removeprefix(f"{INBOX}/") for link in page.links)
    return [link for link in links if ids.is_canonical(link)]


def _filled(form: Form, fields: dict[str, str | list[str]]) -> list[tuple[str, str]]:
    kept = [(name, value) for name, value in form.fields if name not in fields]
    for name, value in fields.items():
        kept += [(name, one) for one in ([value] if isinstance(value, str) else value)]
    return kept


def _named(headers: Headers) -> Headers:
    return {name.replace("_", "-"): value for name, value in headers.items()}
