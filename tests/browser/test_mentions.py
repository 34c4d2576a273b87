"""Colleagues are offered behind an "@" of the composer."""

from playwright.sync_api import expect

from tests.browser.chromium import Window
from tests.support.pages import INBOX
from tests.support.service import Tenant


def test_a_colleague_is_mentioned_by_some_letters(window: Window, tenant: Tenant) -> None:
    page, key = window.page, tenant.key()
    for name in ("Eve Miller", "Theo Brandt"):
        tenant.user("agent", f"{name[:3]}.of.{tenant.id}@example.test", name)
    ticket = key.ticket(subject="Order")
    page.goto(f"{INBOX}/{ticket['id']}")
    page.keyboard.press("n")
    reply, offered = page.get_by_label("Your reply"), page.locator(".pop [role=option]")
    page.keyboard.type("Mail a@mil.test, then @")
    expect(offered).to_have_text(["EMEve Miller", "TBTheo Brandt"])
    page.keyboard.press("Enter")  # none is marked yet
    page.keyboard.type("@mil")
    expect(page.locator(".pop [aria-selected=true]")).to_have_text("EMEve Miller")
    page.keyboard.press("Enter")
    page.keyboard.type("please, or @the")
    page.keyboard.press("Escape")
    expect(page.locator(".pop")).to_have_count(0)
    page.keyboard.type(".")
    expect(reply).to_have_value("Mail a@mil.test, then @\n@Eve Miller please, or @the.")
