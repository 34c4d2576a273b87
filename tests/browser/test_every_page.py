"""Every page and every form in a real browser, with hostile texts in every field."""

from collections.abc import Callable, Iterable

import httpx
import pytest
from sqlalchemy import LargeBinary, Text

from sealdesk.db.schema import metadata
from sealdesk.routes import PAGES
from tests.browser.chromium import Window
from tests.browser.forms import Form, forms_of, send
from tests.browser.hostile import (
    BREAKOUT,
    address,
    hostile,
    hostile_desk,
    page_paths,
    with_hostile_texts,
)
from tests.browser.looking import Looker, foreign
from tests.support.receiver import Receiver
from tests.support.service import PASSWORD, Service, Tenant
from tests.test_schema import OF_TENANTS

pytestmark = pytest.mark.timeout(600)
_ANONYMOUS = ("/reset", "/?next=/tickets", "/nowhere")
# What a new desk shows in their place.
_EMPTY = (
    "/tickets", "/customers", "/settings/api-keys", "/settings/api-keys/debug",
    "/settings/webhooks",
)  # fmt: skip
_TEXTLESS = {"/reset", "/account/password", "/settings/people/invite"}
_POSTS = [route.path for route in PAGES if route.method == "POST"]
# What no page offers as long as all is well, or the script sends: nothing is typed in them.
_UNSEEN = {
    "/tickets/{id}/answering",
    "/settings/people/{id}/reactivate",
    "/settings/webhooks/{id}/activate",
}
_NO_POLICY = "default-src * 'unsafe-inline'"
_AROUND = (
    "{}", '<p title="{}">', "<input value='{}'>", "<textarea>{}</textarea>", "<pre>{}</pre>",
    "<title>{}</title>", "<p title={}>", "<dialog open>{}</dialog>",
)  # fmt: skip
# Texts that nobody types and no program sends: what the service calls and counts things by.
_OURS = {
    "action", "actor_kind", "allowed_ips", "author_type", "body_sha256", "code",
    "diagnosis", "disabled_reason", "email_identity", "event_type", "events", "key_prefix",
    "measure", "password_hash", "permissions", "reference", "replay_protection", "role",
    "sealed_old_secret", "sealed_secret", "signature", "source", "status", "type", "value", "words",
}  # fmt: skip
# On no page: answers of the API that are kept, and from where somebody logged in.
_UNSHOWN = {"idempotency", "user_addresses"}


@pytest.fixture
def looker(opened: Callable[..., Window]) -> Looker:
    """In a window of its own kind, for it stays one that looks."""
    return Looker(opened(reduced_motion="reduce"))


def test_no_page_takes_a_text_for_html_or_hinders_anybody(
    looker: Looker, desk: Service, receiver: Receiver
) -> None:
    tenant = desk.tenant(hostile(100))
    forms, found = _seen(looker, _ANONYMOUS)
    looker.window.enter(tenant.admin_email, PASSWORD)
    found += _seen(looker, _EMPTY)[1]
    places = hostile_desk(tenant, receiver)
    assert _columns() == with_hostile_texts(tenant, _columns())
    more = _seen(looker, page_paths(places), is_hostile=True)
    forms, found = forms | more[0], found + more[1]
    assert not found, "\n".join(found)
    assert {path for path in _POSTS if address(path, places) not in forms} == _UNSEEN
    for form in (form for form in forms.values() if form.is_typed):
        is_shown = send(looker.page, form, form.hostile())
        found += looker.look(f"{form.action} refused", for_barriers=is_shown)
    found += _taken(looker, tenant, forms, places, receiver.url)
    assert not found, "\n".join(found)


def _seen(
    looker: Looker, paths: Iterable[str], *, is_hostile: bool = False
) -> tuple[dict[str, Form], list[str]]:
    """The forms of these pages, and what is wrong with them."""
    forms: dict[str, Form] = {}
    found = []
    for path in paths:
        found += looker.go(path)
        forms |= forms_of(looker.page)
        if is_hostile and path not in _TEXTLESS and not looker.says_it:
            found.append(f"{path[:200]}: shows no text")
    return forms, found


def _taken(
    looker: Looker, tenant: Tenant, forms: dict[str, Form], places: dict[str, str], url: str
) -> list[str]:
    """What is wrong with the pages that answer a form which is taken."""
    page, email = looker.page, f"new.of.{tenant.id}@example.test"
    found: list[str] = []

    def take(path: str, **typed: str) -> None:
        form = forms[address(path, places)]
        assert send(page, form, form.typed(**typed)), path
        found.extend(looker.look(f"{path} taken"))

    take("/tickets/bulk", ticket=places["/tickets"], status="on_hold", priority="urgent")
    forms |= forms_of(page)
    take("/tickets/bulk")
    take("/settings/people/invite", email=email, name=hostile(100))
    take("/settings/people/{id}/link")
    token = page.locator("#secret").inner_text().partition("#")[2]
    take("/reset", token=token, new=PASSWORD)
    take("/settings/api-keys/new", name=hostile(100))
    take("/settings/api-keys/{id}/rotate")
    take("/settings/api-keys/debug", method=BREAKOUT, target=hostile(999), signature=hostile(99),
         timestamp=BREAKOUT, body=hostile(9999), api_key=BREAKOUT, host=BREAKOUT)  # fmt: skip
    take("/settings/webhooks/new", url=url, description=hostile(255))
    take("/settings/webhooks/{id}/rotate")
    return found


def _columns() -> set[str]:
    """The columns for texts that somebody else writes, and that may be shown."""
    shown = [table for table in OF_TENANTS if table.name not in _UNSHOWN]
    return {
        f"{table.name}.{column.name}"
        for table in (metadata.tables["tenants"], *shown)
        for column in table.columns
        if isinstance(column.type, Text | LargeBinary)
        and not (column.name in _OURS or column.name.endswith("id"))
    }


def test_a_text_runs_where_nothing_holds_it_back_and_is_seen(
    opened: Callable[..., Window], desk: Service
) -> None:
    """Otherwise that none runs on our pages would say nothing."""
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
    """What a page with this text in it leads to, under a policy."""
    headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": policy}
    window.page.route("**/shown", lambda route: route.fulfill(body=html, headers=headers))
    window.page.goto("/shown")
    window.page.evaluate("new Promise((done) => setTimeout(done))")
    complaints = [*window.complaints]
    window.complaints.clear()
    window.page.unroute_all()
    return complaints
