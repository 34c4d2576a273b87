"""Customers in a real browser: found, viewed, edited."""

import pytest

from tests.browser.chromium import Window
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"


def test_a_customer_is_found_and_edited(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    vera = key.customer("vera@example.test", name="Vera Bakker", company="Bakker & Zonen")
    key.customer("noor@example.test", name="Noor Haddad")
    key.ticket(subject="Where is my teapot?", customer={"email": "vera@example.test"})
    page.goto("/tickets")
    window.open_menu()
    window.go_by(page.get_by_role("navigation", name="Main").get_by_text("Customers"))
    assert page.locator(".list .url").all_inner_texts() == ["Noor Haddad", "Vera Bakker"]
    page.get_by_role("searchbox", name="Name, e-mail").fill("zonen")
    window.press("Search")
    assert page.locator(".list .url").all_inner_texts() == ["Vera Bakker"]
    page.get_by_role("searchbox", name="Name, e-mail").fill("nobody@example.test")
    window.press("Search")
    window.sees_heading("No customers found")
    window.follow("Show all")
    window.follow("Vera Bakker")
    page.get_by_role("link", name="Where is my teapot?").wait_for()
    window.follow("Edit")
    page.get_by_label("E-mail address", exact=True).fill("noor@example.test")
    page.get_by_label("Phone", exact=True).fill("+31 20 123")
    window.press("Save")
    window.sees("Another customer has this e-mail address")
    page.get_by_label("E-mail address", exact=True).fill("vera@bakker.test")
    # Meanwhile a program changes the same customer.
    at = f"{CUSTOMERS}/{vera['id']}"
    assert key.patch(at, {"company": "Bakker"}).status_code == 200
    window.press("Save")
    window.sees("This customer has changed since you opened the form, so nothing was saved.")
    window.sees("Company: Bakker")
    window.press("Save")
    window.sees("+31 20 123")
    found = key.get(at).json()["data"]
    assert (found["email"], found["company"]) == ("vera@bakker.test", "Bakker")


@pytest.mark.prove
def test_a_row_is_a_link_in_its_whole_width(window: Window, tenant: Tenant) -> None:
    vera = tenant.key().customer("vera@example.test", name="Vera Bakker")
    window.page.goto("/customers")
    row = window.page.locator(".list > li")
    box = row.bounding_box()
    assert box is not None
    row.click(position={"x": box["width"] / 2, "y": 6})
    window.page.wait_for_url(f"**/customers/{vera['id']}")
