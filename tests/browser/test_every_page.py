"""Every page and every form in a real browser, with hostile texts in every field."""

from collections.abc import Callable

import httpx
import pytest

from tests.browser.chromium import Window
from tests.browser.crawler import Visit
from tests.browser.page_checks import Looker, foreign
from tests.browser.xss_live import alive
from tests.browser.xss_texts import BREAKOUT, CHOSEN_LIVE, Texts
from tests.support.receiver import Receiver
from tests.support.service import Service

pytestmark = pytest.mark.timeout(600)
# Forms that no page offers here, or that a script sends: they have no text fields.
_UNSEEN = {
    "/tickets/{id}/answering",
    "/tickets/{id}/fields",
    "/tickets/{id}/macro",
    "/tickets/{id}/unmerge",
    "/account/two-factor/confirm",
    "/settings/api-keys/confirm",
    "/account/two-factor/recovery-codes",
    "/account/two-factor/off",
    "/settings/people/{id}/two-factor-off",
    "/settings/people/{id}/reactivate",
    "/settings/webhooks/{id}/activate",
    "/settings/webhooks/{id}/retry-now",
    "/settings/email/{id}/pause",
    "/held-messages/{id}/block",
    "/held-messages/{id}/add-sender",
    "/held-messages/{id}/open-ticket",
}
_NO_POLICY = "default-src * 'unsafe-inline'"
_AROUND = (
    "{}", '<p title="{}">', "<input value='{}'>", "<textarea>{}</textarea>", "<pre>{}</pre>",
    "<title>{}</title>", "<p title={}>", "<dialog open>{}</dialog>",
)  # fmt: skip


@pytest.fixture
def looker(opened: Callable[..., Window]) -> Looker:
    """In a window of its own, because its checks are loaded into every page."""
    return Looker(opened(reduced_motion="reduce"))


def test_no_page_runs_a_text_and_all_are_accessible(
    looker: Looker, desk: Service, receiver: Receiver
) -> None:
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
    policy = httpx.get(desk.url).headers["content-security-policy"]
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
