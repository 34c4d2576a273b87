"""Snoozing and following a ticket in a browser."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.service import Tenant

API = "/api/v1/external/tickets"


def test_a_ticket_is_snoozed_and_followed_by_keys(window: Window, tenant: Tenant) -> None:
    key, page = tenant.key(name="Shop"), window.page
    ticket = key.ticket()
    page.goto(f"/tickets/{ticket['id']}")
    field = page.locator("[data-field=snoozed_until]")
    page.get_by_label("Snooze", exact=True).select_option(label="Tomorrow morning")
    field.get_by_text("Saved", exact=True).wait_for()
    until = key.get(f"{API}/{ticket['id']}").json()["data"]["snoozed_until"]
    morning = page.evaluate("(at) => [new Date(at).getHours(), new Date(at).getMinutes()]", until)
    assert morning == [8, 0]
    assert timedelta() < datetime.fromisoformat(until) - datetime.now(UTC) < timedelta(hours=48)
    assert "Snoozed until" in page.locator("[data-marks]").first.inner_text()
    window.touch(field.get_by_role("button", name="Undo"))
    field.get_by_text("Undone", exact=True).wait_for()
    assert key.get(f"{API}/{ticket['id']}").json()["data"]["snoozed_until"] is None
    # A time of one's own, in the zone of the browser.
    own = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%dT10:30")
    window.touch(page.get_by_text("At a time …"))
    page.get_by_label("At a time").fill(own)
    page.get_by_label("At a time").dispatch_event("change")
    field.get_by_text("Saved", exact=True).wait_for()
    until = key.get(f"{API}/{ticket['id']}").json()["data"]["snoozed_until"]
    assert page.evaluate("(at) => new Date(at).getHours()", until) == 10
    window.touch(page.get_by_role("button", name="Follow", exact=True))
    page.locator(".ticket-head").get_by_text("Followed by").wait_for()
    # Chosen in the list, it leaves the list.
    other = key.ticket(subject="In the list")
    page.goto("/tickets")
    page.get_by_label(f"Ticket {other['number']}").check()
    page.get_by_role("group", name="Change the selected tickets").get_by_label(
        "Snooze"
    ).select_option(label="Until the next reply")
    page.get_by_text("1 ticket was changed").wait_for()
    expect(page.locator("[data-ticket]")).to_have_count(0)
    assert key.get(f"{API}/{other['id']}").json()["data"]["snoozed_until"] == "next_reply"
