"""Every page and every form in a real browser, with hostile texts in every field."""

from collections.abc import Callable

import httpx
import pytest

from tests.browser.chromium import Window
from tests.browser.crawler import TEXTLESS, Visit
from tests.browser.page_checks import OUR_ELEMENTS, Looker, foreign
from tests.browser.xss_desk import hostile_desk, page_paths
from tests.browser.xss_live import alive
from tests.browser.xss_stored import lacking
from tests.browser.xss_texts import BREAKOUT, CHOSEN_LIVE, SUM, Texts
from tests.support.pages import Page, logged_in
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant

pytestmark = pytest.mark.timeout(600)
# Forms that no page offers here, or that a script sends: they have no text that a page shows.
_UNSEEN = {
    "/tickets/{id}/answering",
    "/team-now/away",
    "/team-now/here",
    "/tickets/{id}/fields",
    "/tickets/{id}/macro",
    "/tickets/bulk/macro",
    "/tickets/preview",
    "/tickets/{id}/unmerge",
    "/tickets/{id}/notes/{note_id}",
    "/tickets/{id}/links/{other_id}/remove",
    "/customers/{id}/merge",
    "/customers/{id}/unmerge",
    "/account/two-factor/confirm",
    "/settings/api-keys/confirm",
    "/account/two-factor/recovery-codes",
    "/account/two-factor/off",
    "/settings/people/{id}/two-factor-off",
    "/settings/people/{id}/reactivate",
    "/settings/webhooks/{id}/activate",
    "/settings/webhooks/{id}/retry-now",
    "/settings/email/{id}/pause",
    "/settings/email/{id}/connect",
    "/settings/email/{id}/code",
    "/settings/email/{id}/verify",
    "/settings/teams/{id}/members/{user_id}",
    "/settings/email/former",
    "/held-messages/{id}/block",
    "/held-messages/{id}/add-sender",
    "/held-messages/{id}/open-ticket",
}
_NO_POLICY = "default-src * 'unsafe-inline'"
_AROUND = (
    "{}", '<p title="{}">', "<input value='{}'>", "<textarea>{}</textarea>", "<pre>{}</pre>",
    "<title>{}</title>", "<p title={}>", "<dialog open>{}</dialog>",
)  # fmt: skip


# One of each layout: `make prove` checks all pages and refused forms.
_LAYOUTS = (
    "/tickets", "/tickets/new", "/tickets/views", "/customers", "/notifications", "/account",
    "/team-now", "/reports",
    "/settings/api-keys/new", "/settings/webhooks/new", "/settings/people", "/settings/email",
)  # fmt: skip


def test_pages_of_every_layout_are_accessible(
    opened: Callable[..., Window], tenant: Tenant
) -> None:
    # Axe stays loaded in this window, as in those of other tests that check pages.
    looker, ticket = Looker(opened(reduced_motion="reduce")), tenant.key().ticket()
    looker.window.enter(tenant.admin_email, PASSWORD)
    shown = (*_LAYOUTS, f"/tickets/{ticket['id']}", f"/customers/{ticket['customer']['id']}")
    found = [fault for path in shown for fault in looker.go(path)]
    assert not found, "\n".join(found)


def test_hostile_texts_are_shown_as_texts(desk: Service, receiver: Receiver) -> None:
    """Of every page; `make prove` opens each in a browser, and sends its forms."""
    texts = Texts()
    tenant = desk.tenant(texts.fit(100))
    places = hostile_desk(tenant, receiver, texts)
    visitor = logged_in(tenant)
    assert lacking(tenant, texts) == []
    pages = {path: visitor.get(path) for path in page_paths(places, [next(texts.parts())])}
    found = {path: fault for path, page in pages.items() if (fault := _fault_of(path, page))}
    assert found == {}


def _fault_of(path: str, page: Page) -> str:
    strange = {*page.tags} - {*OUR_ELEMENTS.split()}
    names = {name for _, name, _ in page.attributes}
    inline = [name for name in names if name.startswith("on") or name in ("style", "srcdoc")]
    led = [link for link in page.links if not link.lower().startswith(("/", "#", "http"))]
    is_shown = path in TEXTLESS or SUM in page.answer.text
    if page.status >= 500 or strange or inline or led or not is_shown:
        return f"{page.status} {strange} {inline} {led} {'' if is_shown else 'shows no text'}"
    return ""


@pytest.mark.prove
def test_no_page_runs_a_text(
    opened: Callable[..., Window], desk: Service, receiver: Receiver
) -> None:
    looker = Looker(opened(), "none")
    texts = Texts()
    visit = Visit(looker, desk, receiver, texts).make(asked=[next(texts.parts())])
    assert visit.lacking == []
    assert visit.unseen == _UNSEEN
    assert not visit.found, "\n".join(visit.found)


def test_a_text_that_runs_without_a_policy_is_noticed(
    opened: Callable[..., Window], desk: Service
) -> None:
    """Otherwise the test above could not fail."""
    window = opened()
    policy = httpx.get(desk.url, timeout=60).headers["content-security-policy"]
    for around in _AROUND:
        html = f"<!doctype html><body>{around.format(BREAKOUT)}"
        assert "a dialog: 1" in _complaints(window, html, _NO_POLICY)
        assert foreign(window.page)
        held_back = _complaints(window, html, policy)
        assert "a dialog: 1" not in held_back
        assert "Content Security Policy" in str(held_back)


def _complaints(window: Window, html: str, policy: str) -> list[str]:
    """What the browser reports of a page with this text, under a policy."""
    headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": policy}
    window.page.route("**/shown", lambda route: route.fulfill(body=html, headers=headers))
    window.page.goto("/shown")
    window.page.evaluate("new Promise((done) => setTimeout(done))")
    complaints = [*window.complaints]
    window.complaints.clear()
    window.page.unroute_all()
    return complaints


def test_texts_of_every_kind_run_or_leave_an_element(opened: Callable[..., Window]) -> None:
    """Every eighth of those chosen here; `make prove` tries all of the corpus."""
    texts = CHOSEN_LIVE[::8]
    assert [*alive(opened(java_script_enabled=True), texts)] == [*texts]
