"""Settings → API keys in a real browser: a key's life, how it is used, and what was refused."""

import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from sealdesk.api_keys.usage import recorder as usage
from tests.browser.chromium import Window
from tests.browser.page_checks import Looker
from tests.support.client import Key, send
from tests.support.service import Service, Tenant

HOME = "/settings/api-keys"
WHOAMI = "/api/v1/external/whoami"
TICKETS = "/api/v1/external/tickets"


@pytest.mark.prove
def test_a_new_key_is_shown_and_copied_once(window: Window) -> None:
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto(f"{HOME}/new")
    page.get_by_label("Name").fill("Shop")
    page.get_by_label("Allowed addresses").fill("everywhere")
    window.press("Create the key")
    # The error is beside its field, and the other fields keep their values.
    assert page.get_by_label("Allowed addresses").get_attribute("aria-invalid") == "true"
    assert page.get_by_label("Name").input_value() == "Shop"
    page.get_by_label("Allowed addresses").fill("")
    expect(page.get_by_label("tickets:read")).to_be_hidden()
    window.touch(page.get_by_label("Only the selected ones"))
    window.touch(page.get_by_label("tickets:read"))
    expect(page.get_by_label("Date")).to_be_hidden()
    page.get_by_label("Expires").select_option("date")
    page.get_by_label("Date").fill("2099-07-01T12:00")
    window.press("Create the key")
    secret = page.locator("#secret").inner_text()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    window.touch(page.locator("#label-ruby"))
    for name in ("key", "secret", "curl", "program-ruby", "run-ruby"):
        assert window.copy(name) == page.locator(f"#{name}").text_content()
        expect(page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    # On plain http, elsewhere than on this machine, browsers have no such clipboard.
    page.evaluate("window.kept = navigator.clipboard")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    assert window.copy("secret") == secret
    page.reload()
    window.sees_heading("Use")
    assert secret not in page.content()
    at = page.locator("time[datetime^='2099-']")
    assert at.get_attribute("datetime") == "2099-07-01T10:00:00.000000Z"


@pytest.mark.prove
def test_the_command_for_a_first_ticket_works_as_it_is_pasted(
    window: Window, desk: Service
) -> None:
    page, looker = window.page, Looker(window)
    page.goto(f"{HOME}/new")
    page.get_by_label("Name").fill("Shop")
    window.press("Create the key")
    window.touch(page.locator("#label-ruby"))
    assert looker.look("the new key, with the program in Ruby") == []
    command = page.locator("#ticket-curl").text_content() or ""
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=300, check=True)
    assert b'"subject":"Hello"' in done.stdout


def test_a_key_is_used_edited_rotated_and_revoked(
    window: Window, tenant: Tenant, desk: Service
) -> None:
    page, key = window.page, tenant.key(name="Shop")
    soon = datetime.fromtimestamp(desk.clock.now_us() / 1e6, UTC) + timedelta(days=9, hours=12)
    page.goto(HOME)
    window.sees("Never used")
    assert [key.get(WHOAMI).status_code for _ in range(5)] == [200] * 5
    desk.in_serving(usage.write_counts)
    window.follow("Shop")
    _sees_use(window)
    window.follow("30 days")
    _sees_use(window)
    window.follow("Edit")
    page.get_by_label("Name").fill("Shop of Vera")
    window.touch(page.get_by_label("Read only"))
    page.get_by_label("Expires").select_option("date")
    page.get_by_label("Date").fill(soon.strftime("%Y-%m-%dT%H:%M"))
    window.press("Save")
    window.sees_heading("Shop of Vera")
    assert key.post(TICKETS, {}).status_code == 403
    window.go_by(page.locator(".breadcrumb").get_by_role("link", name="API keys"))
    if not window.is_phone:
        window.sees("read only")
    window.sees("Expires in 9 days")
    window.follow("Shop of Vera")
    window.follow("Rotate the secret")
    _is_told_of_its_use(window)
    window.press("Rotate the secret")
    renewed = Key(desk, key.id, key.api_key, page.locator("#secret").inner_text())
    assert (key.get(WHOAMI).status_code, renewed.get(WHOAMI).status_code) == (401, 200)
    window.follow("I have saved it")
    window.follow("Revoke")
    _is_told_of_its_use(window)
    window.press("Revoke the key")
    window.sees("Revoked")
    assert renewed.get(WHOAMI).status_code == 401


def _sees_use(window: Window) -> None:
    """As bars with enough contrast, and as a table."""
    bar = window.page.locator(".plot rect.good")
    box = bar.bounding_box()
    assert box is not None and box["height"] > 20 and box["width"] > 2
    colours = (
        "(bar) => [bar, bar.previousElementSibling].map((each) => getComputedStyle(each).fill)"
    )
    assert len({*bar.evaluate(colours)}) == 2
    window.touch(window.page.get_by_text("As a table"))
    expect(window.page.get_by_role("rowheader").first).to_be_visible()
    window.sees("/whoami")


def _is_told_of_its_use(window: Window) -> None:
    window.sees("This key is in use.")
    told = re.compile(r"^[5-9] requests in the last 24 hours, [5-9] in the last 30 days\.$")
    window.page.get_by_text(told).wait_for()
    window.sees("From 127.0.0.1.")


@pytest.mark.prove
def test_a_concurrent_change_of_a_key_is_not_overwritten(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key(name="Shop")
    page.goto(f"{HOME}/{key.id}/edit")
    page.get_by_label("Name").fill("Shop of Vera")
    change = {"rate_limit": 7}
    assert tenant.admin().patch(f"/api/v1/api-keys/{key.id}", change).status_code == 200
    window.press("Save")
    window.sees("This key has changed since you opened the form, so nothing was saved.")
    assert page.get_by_label("Name").input_value() == "Shop of Vera"
    window.press("Save")
    window.sees_heading("Shop of Vera")


def test_a_signature_is_debugged_from_a_refusal_and_from_pasted_text(
    window: Window, tenant: Tenant
) -> None:
    page, key, target = window.page, tenant.key(name="Shop"), f"{TICKETS}?status=open"
    headers = key.signature_headers("GET", TICKETS)
    assert send(tenant.service, "GET", target, b"", headers).status_code == 401
    page.goto(f"{HOME}/{key.id}")
    window.go_by(page.get_by_role("link", name=f"GET {target}"))
    window.sees("The query was not signed.")
    page.get_by_role("row", name="Path and query").get_by_text("differs").wait_for()
    # The signature is corrected and checked again.
    good = key.signature_headers("GET", target)
    page.get_by_label("x-api-timestamp").fill(good["x-api-timestamp"])
    page.get_by_label("x-api-signature").fill(f"sha256={good['x-api-signature']}")
    window.press("Look")
    window.sees("The signature has a prefix")
    page.get_by_label("x-api-signature").fill("")
    window.press("Look")
    window.sees("This must not be empty.")
    page.get_by_label("x-api-signature").fill(good["x-api-signature"])
    window.press("Look")
    window.sees("This signature is correct.")
    assert key.api_secret not in page.content()
