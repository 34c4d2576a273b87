"""Custom fields in a browser: defined in the settings, saved on a ticket, and filtered by."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.searching import wait_until_tickets
from tests.support.service import Tenant
from tests.tickets.custom_fields.factories import define


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


def _values(key: Key, ticket: dict[str, Any]) -> Any:
    return key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]["custom_fields"]


def test_fields_are_defined_saved_undone_and_filtered(
    window: Window, tenant: Tenant, key: Key
) -> None:
    page, admin = window.page, tenant.admin()
    ticket = key.ticket(subject="Kettle", custom_fields={"odd": [1]})
    page.goto("/settings/custom-fields/new")
    page.get_by_label("Label").fill("Carrier")
    page.get_by_label("Key", exact=True).fill("carrier")
    page.get_by_label("Type").select_option("choice")
    page.get_by_label("Choices").fill("DHL\nUPS")
    page.get_by_label("Required to resolve a ticket").check()
    window.touch(page.get_by_role("button", name="Add the field"))
    page.get_by_role("link", name="Carrier").wait_for()
    define(admin, "fragile", "checkbox", label="Fragile")
    define(admin, "note", label="Note")

    page.goto(f"/tickets/{ticket['id']}")
    page.get_by_label("Status", exact=True).select_option("resolved")
    status = page.locator("[data-field=status]")
    status.get_by_text("“Carrier” is needed before the ticket can be resolved.").wait_for()
    carrier = page.locator("[data-field=custom-carrier]")
    carrier.locator("select").select_option("UPS")
    carrier.get_by_text("Saved", exact=True).wait_for()
    page.get_by_label("Status", exact=True).select_option("open")
    page.get_by_label("Status", exact=True).select_option("resolved")
    status.get_by_text("Saved", exact=True).wait_for()
    page.get_by_label("Fragile").check()
    fragile = page.locator("[data-field=custom-fragile]")
    fragile.get_by_text("Saved", exact=True).wait_for()
    assert _values(key, ticket) == {"odd": [1], "carrier": "UPS", "fragile": True}
    window.touch(fragile.get_by_role("button", name="Undo"))
    fragile.get_by_text("Undone", exact=True).wait_for()
    expect(page.get_by_label("Fragile")).not_to_be_checked()
    assert _values(key, ticket)["fragile"] is False
    page.get_by_label("Note", exact=True).fill("Ring twice")
    page.get_by_label("Note", exact=True).blur()
    page.locator("[data-field=custom-note]").get_by_text("Saved", exact=True).wait_for()

    wait_until_tickets(tenant, "twice", ticket["id"])
    page.goto("/tickets?status=all")
    if not page.get_by_label("Custom field", exact=True).is_visible():
        window.touch(page.get_by_text("Filter", exact=True))
    page.get_by_label("Custom field", exact=True).select_option("carrier:UPS")
    page.wait_for_url("**field=carrier%3AUPS*")
    page.get_by_role("link", name="Kettle").first.wait_for()


@pytest.mark.prove
def test_a_value_that_its_control_shows_in_another_form_is_no_change(
    window: Window, tenant: Tenant, key: Key
) -> None:
    page = window.page
    define(tenant.admin(), "note")
    ticket = key.ticket(subject="Two\nlines", custom_fields={"note": "Two\r\nlines"})
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    note = page.get_by_label("Note", exact=True)
    note.fill("Ring twice")
    note.blur()
    page.locator("[data-field=custom-note]").get_by_text("Saved", exact=True).wait_for()
    page.goto("/tickets")  # A page with a change would ask, and the window would refuse to leave.
    expect(page).to_have_url(re.compile("/tickets$"))
