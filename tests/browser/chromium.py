"""Chromium of this machine, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.servers.binaries import find

# Without requests of its own to the internet.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
# One renderer for all pages takes a fifth less processor time than one for each (2026-11).
_FRUGAL = ("--in-process-gpu", "--renderer-process-limit=1")
# Generous, because machines that run tests are busy.
_TIMEOUT_MS = 60_000
expect.set_options(timeout=_TIMEOUT_MS)  # 5 s by default
# What browsers log of refused forms, which is no error of the page.
_REFUSED = (
    "the server responded with a status of 4",
    "does not conform to the required format",
    "cannot be parsed, or is out of range",
)
_SESSION = "sealdesk"
ZONE = "Europe/Berlin"
# Theme and width, with a mouse or with touch.
LOOKS: dict[str, dict[str, Any]] = {
    "light and wide": {"color_scheme": "light", "viewport": {"width": 1280, "height": 720}},
    "dark and narrow": {
        "color_scheme": "dark",
        "viewport": {"width": 390, "height": 700},
        "has_touch": True,
        "is_mobile": True,
    },
}
# Elements outside the window, which nobody can reach. Phones widen the window itself, so the width
# is read from the root element; tabs and wide tables scroll by themselves.
_BEYOND = """() => {
  const root = document.documentElement, width = root.clientWidth;
  if (root.scrollWidth > width) return `is ${root.scrollWidth} wide at ${width}`;
  const found = [...document.querySelectorAll("a, button, input, select, textarea, summary")].find(
    (each) => {
      const { left, right } = each.getBoundingClientRect();
      return right > left && (left < 0 || right > width + 1)
        && each.checkVisibility()
        && !each.closest(".skip, .tabs, .acts, .by-key, .scroll, .reports > .card, pre");
    });
  return found ? `has outside of the window ${found.outerHTML.slice(0, 150)}` : "";
}"""
_WATCH = f"""for (const event of ["load", "click", "change", "pagehide"]) {{
  addEventListener(event, () => {{
    const beyond = ({_BEYOND})();
    if (beyond) console.error(`${{location.pathname}} ${{beyond}}`);
  }}, true);
}}"""
# What the page takes away by itself after some seconds, such as an undo, stays for a slow machine.
_STAY = """const later = setTimeout;
window.setTimeout = (work, ms, ...rest) =>
  later(work, String(work).includes("replaceChildren()") ? 600_000 : ms, ...rest);"""
# Every label that a button gets.
_NOTE_LABELS = """(button) => {
  const labels = (window.labels ??= {})[button.dataset.copy] = [];
  new MutationObserver(() => labels.push(button.textContent)).observe(button, { childList: true });
}"""
_http = httpx.Client(timeout=300)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window. Raises NotHere."""
    program = find("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=[*_QUIET, *_FRUGAL], timeout=3 * _TIMEOUT_MS
        )
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """A window with its own browser context. complaints: errors that it reported."""

    def __init__(self, browser: Browser, base_url: str, **how: Any) -> None:
        settings = {"locale": "en-GB", "timezone_id": ZONE, "base_url": base_url}
        self._how = {**settings, **LOOKS["light and wide"], **how}
        self._base_url = base_url
        self.context: BrowserContext = browser.new_context(**self._how)
        self.context.set_default_timeout(_TIMEOUT_MS)
        self.context.add_init_script(f"{{ {_WATCH} {_STAY} }}")
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self._loaded: set[Path] = set()
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)

    def load_once(self, script: Path) -> None:
        """Run this file at the beginning of every page from now on."""
        if script not in self._loaded:
            self._loaded.add(script)
            self.context.add_init_script(path=script)

    @property
    def is_phone(self) -> bool:
        return bool(self._how.get("has_touch"))

    def renew(self) -> None:
        """Log out and clear the storage, which is faster than a new window."""
        if self.page.url.startswith(self._base_url):
            self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.page.goto("about:blank")  # a page that stays open goes on asking the service
        self.page.mouse.move(0, 0)  # a list below the pointer is not replaced
        self.page.unroute_all()
        if self.page.viewport_size != self._how["viewport"]:
            self.page.set_viewport_size(self._how["viewport"])
        self.page.emulate_media(media="screen", color_scheme=self._how["color_scheme"])
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
        """Log in without the form, and open the tickets."""
        self.enter(email, password)
        self.page.goto("/tickets")

    def enter(self, email: str, password: str) -> None:
        """Set the session cookie, which is a token of the API."""
        proof = {"email": email, "password": password}
        answer = _http.post(f"{self._base_url}/api/v1/auth/login", json=proof)
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
        """Log in on the page that an ended session led to."""
        self.page.get_by_label("E-mail address").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.press("Log in")
        self.page.locator(".account-links").wait_for(state="attached")

    def open_menu(self) -> None:
        """Show the ways through the desk, which narrow windows hide behind a button."""
        opens = self.page.locator(".opens-menu")
        if opens.is_visible():
            self.touch(opens)

    def touch(self, what: Locator) -> None:
        """Tap or click; fails where the element is covered."""
        if self.is_phone:
            what.tap()
        else:
            what.click()

    def go_by(self, what: Locator) -> None:
        """Touch an element that leads to another page, and wait for that page."""
        self.look()
        with self.page.expect_navigation(wait_until="domcontentloaded"):
            self.touch(what)

    def press(self, name: str) -> None:
        self.go_by(self.page.get_by_role("button", name=name, exact=True))

    def send_reply(self) -> None:
        """Press the button of the composer."""
        self.go_by(self.page.locator("#composer button.main"))

    def follow(self, name: str) -> None:
        self.go_by(self.page.get_by_role("link", name=name, exact=True))

    def sees(self, text: str) -> None:
        self.page.get_by_text(text).filter(visible=True).first.wait_for()

    def sees_heading(self, name: str) -> None:
        self.page.get_by_role("heading", name=name, exact=True).wait_for()

    def copy(self, source: str) -> str:
        """What is in the clipboard after touching the copy button of an element."""
        page, button = self.page, self.page.locator(f"[data-copy={source}]")
        # The label says so for two seconds only, which may be over before the next look at it.
        button.evaluate(_NOTE_LABELS)
        self.touch(button)
        page.wait_for_function("name => labels[name].includes('Copied')", arg=source)
        return str(page.evaluate("(window.kept ?? navigator.clipboard).readText()"))

    def look(self) -> None:
        """Report elements that cannot be reached, also where scripts are off."""
        if beyond := self.page.evaluate(_BEYOND):
            self.complaints.append(f"{self.page.url} {beyond}")

    def add_endpoint(self, url: str, description: str = "") -> str:
        """Add an endpoint for all events; the path of its page."""
        page = self.page
        page.goto("/settings/webhooks/new")
        page.get_by_label("URL").fill(url)
        page.get_by_label("Description").fill(description)
        self.press("Add the endpoint")
        self.follow("I have saved it")
        self.sees_heading("Deliveries")
        return page.url.removeprefix(page.url.partition("/settings")[0])
