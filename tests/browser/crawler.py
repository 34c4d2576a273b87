"""Visits every page and every form of a tenant in which every text is hostile."""

from collections.abc import Iterable, Sequence

from sealdesk.identity.auth.session_guard import FileGuard
from sealdesk.routes import PAGES
from tests.browser.form_sender import Form, forms_of, send
from tests.browser.page_checks import Looker
from tests.browser.xss_desk import address, hostile_desk, page_paths
from tests.browser.xss_stored import lacking
from tests.browser.xss_texts import BREAKOUT, Texts
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service

_ANONYMOUS = ("/reset", "/?next=/tickets", "/nowhere", "/docs/errors")
# Pages that show something else while there is no data.
_EMPTY = (
    "/tickets", "/customers", "/settings/api-keys", "/settings/api-keys/debug",
    "/settings/webhooks", "/settings/custom-fields", "/settings/macros", "/settings/teams",
    "/settings/email",
)  # fmt: skip
TEXTLESS = {"/reset", "/account/password", "/settings/people/invite", "/tickets/export",
             "/customers/export"}  # fmt: skip
_POSTS = [
    route.path
    for route in PAGES
    if route.method == "POST" and not isinstance(route.guard, FileGuard)  # its body is no form
]


class Visit:
    """Visits the pages of one tenant. found: what is wrong with them."""

    def __init__(self, looker: Looker, desk: Service, receiver: Receiver, texts: Texts) -> None:
        self.found: list[str] = []
        self.lacking: list[str] = []  # columns that are shown and lack some of the texts
        self.unseen: set[str] = set()  # forms that no page had
        self.fields: set[str] = set()  # what was typed in
        self._looker, self._receiver, self._texts = looker, receiver, texts
        self._tenant = desk.tenant(texts.fit(100))
        self._forms: dict[str, Form] = {}
        self._places: dict[str, str] = {}

    def make(self, *, asked: Iterable[str], besides: Sequence[str] = ()) -> "Visit":
        """Visit everything. asked: what is searched and filtered for. besides: further pages."""
        self._see((*_ANONYMOUS, *besides))
        self._looker.window.enter(self._tenant.admin_email, PASSWORD)
        self._see(_EMPTY)
        self._places = hostile_desk(self._tenant, self._receiver, self._texts)
        self.lacking = lacking(self._tenant, self._texts)
        self._see(page_paths(self._places, asked), is_hostile=True)
        self.unseen = {path for path in _POSTS if self._at(path) not in self._forms}
        self._send_refused()
        self._send_accepted()
        return self

    def _see(self, paths: Iterable[str], *, is_hostile: bool = False) -> None:
        for path in paths:
            self.found += self._looker.go(path)
            self._forms |= forms_of(self._looker.page)
            if is_hostile and path not in TEXTLESS and not self._looker.shows_text:
                self.found.append(f"{path[:200]}: shows no text")

    def _send_refused(self) -> None:
        """Send every form with hostile values, which it refuses."""
        for path in _POSTS:
            form = self._forms.get(self._at(path))
            if form is not None and form.is_typed:
                is_shown = send(self._looker.page, form, form.hostile(self._texts))
                self.fields |= {f"{path} {name}" for name in form.names}
                self.found += self._looker.look(f"{path} refused", for_accessibility=is_shown)

    def _send_accepted(self) -> None:
        """Send forms that are accepted, and check the pages that follow."""
        page, fit = self._looker.page, self._texts.fit
        new = f"new.of.{self._tenant.id}@example.test"
        self._send_form("/tickets/bulk", ticket=self._places["/tickets"], status="on_hold",
                   priority="urgent")  # fmt: skip
        self._forms |= forms_of(page)
        self._send_form("/tickets/bulk")
        self._send_form("/settings/people/invite", email=new, name=fit(100))
        self._send_form("/settings/people/{id}/link")
        token = page.locator("#secret").inner_text().partition("#")[2]
        self._send_form("/reset", token=token, new=PASSWORD)
        self._send_form("/settings/api-keys/new", name=fit(100))
        self._send_form("/settings/api-keys/{id}/rotate")
        self._send_form("/settings/api-keys/debug", method=BREAKOUT, target=fit(999),
                   signature=fit(99), timestamp=BREAKOUT, body=fit(9999), api_key=BREAKOUT,
                   host=BREAKOUT)  # fmt: skip
        self._send_form("/settings/webhooks/new", url=self._receiver.url, description=fit(255))
        self._send_form("/settings/webhooks/{id}/rotate")

    def _send_form(self, path: str, **typed: str) -> None:
        form = self._forms[self._at(path)]
        assert send(self._looker.page, form, form.typed(**typed)), path
        self.found += self._looker.look(f"{path} taken")

    def _at(self, path: str) -> str:
        return address(path, self._places)
