"""The example desk as `sealdesk demo` makes it, with keys in use, for pictures of its pages."""

import tempfile
from pathlib import Path
from random import Random

from playwright.sync_api import Browser

from sealdesk import demo
from sealdesk.api_keys import usage
from sealdesk.demo import ADMIN, Made
from sealdesk.identity import passwords
from sealdesk.shared import Shared
from sealdesk.usage import HOUR_US, KeyUse
from tests.browser.chromium import Window
from tests.support.client import Key
from tests.support.databases import on_sqlite
from tests.support.service import PASSWORD, Service

_TICKETS = "/api/v1/external/tickets"
# What the shop's program does in an hour of the day, at most: permission, status, endpoint.
_USES = (
    ("tickets:read", 200, f"GET {_TICKETS}", 160),
    ("tickets:write", 201, f"POST {_TICKETS}", 70),
    ("replies:write", 201, f"POST {_TICKETS}/{{id}}/replies", 40),
    ("customers:read", 404, "GET /api/v1/external/customers/{id}", 25),
    ("tickets:read", 429, f"GET {_TICKETS}", 12),
)
_ADDRESSES = ("203.0.113.20", "203.0.113.21", "198.51.100.7")
_PICTURES = (
    ("inbox", "/tickets", "light", 1180, 760),
    ("inbox-dark", "/tickets", "dark", 1180, 760),
    ("ticket", "ticket", "light", 1180, 900),
    ("api-key", "key", "light", 1100, 980),
    ("people", "/settings/people", "light", 1100, 520),
)


def take(browser: Browser, template: Path, place: Path) -> None:
    """The pictures of inbox, ticket, key and people."""
    with (
        tempfile.TemporaryDirectory() as directory,
        on_sqlite(template)(Path(directory) / "data") as service,
    ):
        made = _fill(service)
        for name, path, theme, width, height in _PICTURES:
            size = {"width": width, "height": height}
            window = Window(browser, service.url, color_scheme=theme, viewport=size)
            window.log_in(ADMIN[1], PASSWORD)
            _go(window, path, made)
            window.page.screenshot(path=place / f"{name}.png")
            window.context.close()


def _go(window: Window, path: str, made: Made) -> None:
    page = window.page
    page.goto("/tickets?status=pending" if path == "ticket" else path if "/" in path else "/")
    if path == "ticket":
        page.locator("[data-ticket] a").nth(2).click()
        page.get_by_label("Your answer").wait_for()
    elif path == "key":
        page.goto(f"/settings/api-keys/{made.key.id}")


def _fill(service: Service) -> Made:
    password, now_us = passwords.hash_now(PASSWORD), service.clock.now_us()
    made = service.write(
        lambda tx: demo.fill(
            tx,
            admin_hash=password, agent_hash=password,
            ring=service.shared.ring, now_us=now_us,
        )
    )  # fmt: skip
    Key(service, made.key.id, made.key.api_key, made.key.api_secret).get("/api/v1/external/whoami")
    (row,) = service.rows("SELECT tenant_id FROM api_keys WHERE id = :id LIMIT 2", id=made.key.id)
    service.in_serving(lambda shared: _use(shared, row[0], made.key.id))
    return made


async def _use(shared: Shared, tenant_id: str, key_id: str) -> None:
    """A day of a program, quiet at night."""
    chance, now_us = Random(7), shared.clock.now_us()
    for hours_ago in range(24):
        at_us = now_us - hours_ago * HOUR_US
        share = 0.15 + 0.85 * max(0.0, 1 - abs((at_us // HOUR_US) % 24 - 13) / 8)
        for permission, status, endpoint, most in _USES:
            use = KeyUse(tenant_id, key_id, permission)
            for _ in range(int(most * share * chance.uniform(0.6, 1))):
                address = chance.choices(_ADDRESSES, (6, 3, 1))[0]
                shared.usage.note(use, at_us, status, endpoint, address)
    await usage.write_down(shared)
