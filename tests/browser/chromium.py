"""Chromium of this machine, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.servers.binaries import find

# Nothing that it would ask of the world by itself.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
# In milliseconds; machines that build things are slow.
_PATIENCE = 60_000
# What browsers say of refused forms, which are an answer and no fault of the page.
_REFUSED = (
    "the server responded with a status of 4",
    "does not conform to the required format",
    "cannot be parsed, or is out of range",
)
_SIZE = {"width": 1280, "height": 720}
_SESSION = "sealdesk"
ZONE = "Europe/Berlin"


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window. Raises NotHere."""
    program = find("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=[*_QUIET], timeout=3 * _PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """A browser's window of its own, with what it complained of."""

    def __init__(self, browser: Browser, base_url: str, **how: Any) -> None:
        settings = {"locale": "en-GB", "timezone_id": ZONE, "base_url": base_url, **how}
        self._base_url = base_url
        self.context: BrowserContext = browser.new_context(**settings)
        self.context.set_default_timeout(_PATIENCE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)

    def renew(self) -> None:
        """As good as new, for half a second less: nobody is logged in, nothing is kept."""
        if self.page.url.startswith(self._base_url):
            self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")
        self.page.unroute_all()
        self.page.set_viewport_size(_SIZE)  # type: ignore[arg-type]
        self.page.emulate_media(color_scheme="light")
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.complaints.clear()

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(each in text for each in _REFUSED):
            self.complaints.append(text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def log_in(self, email: str, password: str) -> None:
        """To the tickets, with a session that did not take the form and its pages."""
        self.enter(email, password)
        self.page.goto("/tickets")

    def enter(self, email: str, password: str) -> None:
        """The cookie of a session, which is a token of the API."""
        proof = {"email": email, "password": password}
        answer = httpx.post(f"{self._base_url}/api/v1/auth/login", json=proof, timeout=60)
        token = answer.raise_for_status().json()["data"]["access_token"]
        self.context.add_cookies(
            [
                {
                    "name": _SESSION, "value": token, "url": self._base_url,
                    "httpOnly": True, "sameSite": "Lax",
                }
            ]
        )  # fmt: skip

    def log_in_again(self, email: str, password: str) -> None:
        """At the log-in that a page led to, whose session has ended."""
        self.page.get_by_label("E-mail address").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.get_by_role("button", name="Log out").wait_for()

    def add_endpoint(self, url: str, description: str = "") -> str:
        """A new endpoint to which everything is sent; the path of its page."""
        page = self.page
        page.goto("/settings/webhooks/new")
        page.get_by_label("URL").fill(url)
        page.get_by_label("Description").fill(description)
        page.get_by_role("button", name="Add the endpoint").click()
        page.get_by_role("link", name="I have kept it").click()
        page.get_by_role("heading", name="Deliveries").wait_for()
        return page.url.removeprefix(page.url.partition("/settings")[0])

    def overflows(self) -> bool:
        """Whether the page can be scrolled sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
