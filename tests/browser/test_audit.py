"""Settings → Audit log in a real browser: filters and the CSV export."""

import csv

import pytest

from tests.browser.chromium import Window
from tests.support.service import Tenant

HOME = "/settings/audit"


def test_what_was_done_is_filtered_and_taken_along(window: Window, tenant: Tenant) -> None:
    page = window.page
    tenant.user("agent", name="=1+1")
    tenant.admin().post("/api/v1/api-keys", {"name": "Shop", "permissions": ["tickets:read"]})
    page.goto(HOME)
    window.touch(page.get_by_text("Filter", exact=True))
    page.get_by_label("Action").select_option("API key created")
    window.press("Apply")
    (row,) = page.locator(".list li").all()
    assert "API key created" in row.inner_text() and "127.0.0.1" in row.inner_text()
    window.go_by(row.get_by_role("link").last)
    window.sees("Only by")
    window.follow("Clear filters")
    with page.expect_download() as told:
        window.touch(page.get_by_role("link", name="Export as CSV"))
    with told.value.path().open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert rows[0]["action"] == "api_key.created"
    assert len(rows) == page.locator(".list li").count()
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


@pytest.mark.prove
def test_a_filter_by_time_is_typed_in_ones_own_zone(window: Window) -> None:
    page = window.page
    page.goto(HOME)
    window.touch(page.get_by_text("Filter", exact=True))
    page.get_by_label("From").fill("2026-01-01T01:00")
    window.press("Apply")
    page.get_by_text("User added").last.wait_for()
    assert "since=2026-01-01T00%3A00%3A00.000Z" in page.url
    assert page.get_by_label("From").input_value() == "2026-01-01T01:00"
