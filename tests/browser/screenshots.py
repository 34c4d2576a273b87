"""The example desk as `sealdesk demo` makes it, with keys in use, for pictures of its pages.

Its clock stands still and its key has a name of ours, so that pictures change with the pages alone.
"""

import base64
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page

from sealdesk.api_keys.usage import recorder as usage
from sealdesk.db.engine import Tx
from sealdesk.identity.auth import passwords
from sealdesk.state import AppState
from sealdesk.telemetry.counters import HOUR_US, KeyUse
from sealdesk_demo import example_tenant
from sealdesk_demo.example_tenant import ADMIN, NewDemo
from tests.browser.chromium import Window
from tests.support.client import Key, send
from tests.support.databases import on_sqlite
from tests.support.service import PASSWORD, Service, wait_until

ADMIN_EMAIL = ADMIN[1]
NOW = datetime(2026, 11, 18, 14, 20, tzinfo=UTC)
THEMES = ("light", "dark")
WIDE, PHONE = (1180, 760), (390, 760)
_BEGINNER = ("Noor Haddad", "noor@acme-books.test")
_TICKETS = "/api/v1/external/tickets"
_KEYS = "/settings/api-keys"
# What the shop's program does in an hour of the day, at most: permission, status, endpoint.
_USES = (
    ("tickets:read", 200, f"GET {_TICKETS}", 160),
    ("tickets:write", 201, f"POST {_TICKETS}", 70),
    ("replies:write", 201, f"POST {_TICKETS}/{{id}}/replies", 40),
    ("customers:read", 404, "GET /api/v1/external/customers/{id}", 25),
    ("tickets:read", 429, f"GET {_TICKETS}", 12),
)
_ADDRESSES = ("203.0.113.20", "203.0.113.21", "198.51.100.7")
# What the search, reports and the audit log do not have yet.
_BEHIND = """
SELECT 1 FROM event_outbox
UNION ALL SELECT 1 WHERE (SELECT count(*) FROM search_rebuilds WHERE tenant_id IS NULL) < 2
UNION ALL SELECT 1 FROM report_rebuilds
UNION ALL SELECT 1 FROM events, log_positions WHERE events.log_position > log_positions.position
LIMIT 1
"""
# Where a picture is taken, and how large: {key}, {refusal} and {ticket} are ids of this desk.
_PICTURES = (
    ("inbox", "/tickets?status=all", WIDE),
    ("inbox-phone", "/tickets", PHONE),
    ("ticket", "/tickets/{ticket}", (1180, 900)),
    ("ticket-phone", "/tickets/{ticket}", PHONE),
    ("api-key", f"{_KEYS}/{{key}}", (1180, 1000)),
    ("debugger", f"{_KEYS}/debug?key={{key}}&refusal={{refusal}}", (1180, 640)),
    ("reports", "/reports?period=month", (1180, 820)),
    ("people", "/settings/people", (1180, 440)),
    ("audit", "/settings/audit", (1180, 640)),
)


def take(browser: Browser, template: Path, place: Path, told: Callable[[str], None]) -> None:
    """Screenshots of the demo tenant and of an empty one, each light and dark."""
    with filled(browser, template) as (service, ids):
        for theme in THEMES:
            with opened(browser, service, ADMIN_EMAIL, theme) as window:
                for name, path, size in _PICTURES:
                    window.page.goto(path.format_map(ids))
                    told(keep(window.page, place, f"{name}-{theme}", size))
            with opened(browser, service, _BEGINNER[1], theme) as window:
                _name_it(window.page)
                told(keep(window.page, place, f"first-run-{theme}", WIDE))


@contextmanager
def filled(browser: Browser, template: Path) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service with the demo tenant and an empty one; its clock stands still. Some of its ids."""
    with (
        tempfile.TemporaryDirectory() as directory,
        on_sqlite(template)(Path(directory) / "data") as service,
    ):
        service.clock.stop_at(int(NOW.timestamp()))
        ids = _fill(service, browser)
        wait_until(lambda: not service.rows(_BEHIND))
        yield service, ids


@contextmanager
def opened(
    browser: Browser, service: Service, email: str, theme: str, **how: Any
) -> Iterator[Window]:
    """A window with a session, and with the clock of the service."""
    window = Window(browser, service.url, color_scheme=theme, **how)
    window.page.clock.set_fixed_time(datetime.fromtimestamp(service.clock.now_us() / 1e6, UTC))
    window.log_in(email, PASSWORD)
    yield window
    window.context.close()


def keep(page: Page, place: Path, name: str, size: tuple[int, int]) -> str:
    """Take a screenshot as WebP, which is half the size of PNG; the name of the file."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    session = page.context.new_cdp_session(page)
    how = {"format": "webp", "quality": 80}
    image = base64.b64decode(session.send("Page.captureScreenshot", how)["data"])
    (place / f"{name}.webp").write_bytes(image)
    return f"{name}.webp, {len(image) / 1024:.0f} KiB"


def _name_it(page: Page) -> None:
    """A host name instead of the loopback address."""
    page.locator("#first-ticket").evaluate(
        "pre => pre.textContent = pre.textContent.replace(location.origin, 'https://desk.acme.test')"
    )


def _fill(service: Service, browser: Browser) -> dict[str, str]:
    """The example, what its key and its administrator did since, and a desk that begins."""
    password, now_us = passwords.hash_now(PASSWORD), service.clock.now_us()
    made = service.write(
        lambda tx: example_tenant.create(
            tx,
            admin_hash=password, agent_hash=password,
            key_ring=service.state.key_ring, now_us=now_us,
        )
    )  # fmt: skip
    _refuse(service, made)
    (row,) = service.rows("SELECT tenant_id FROM api_keys WHERE id = :id LIMIT 2", id=made.key.id)
    service.in_serving(lambda state: _use(state, row[0], made.key.id))
    _administer(service, browser)
    service.write(lambda tx: _rename(tx, made.key.id))
    (refusal,) = service.rows("SELECT id FROM refusals ORDER BY id DESC LIMIT 1")
    (ticket,) = service.rows(
        "SELECT t.id FROM tickets t JOIN replies r"
        " ON r.ticket_id = t.id AND r.tenant_id = t.tenant_id"
        " WHERE t.status IN ('pending', 'on_hold') GROUP BY t.id"
        " ORDER BY count(*) DESC, t.number DESC LIMIT 1"
    )
    service.tenant("Acme Books").user("tenant_admin", _BEGINNER[1], _BEGINNER[0])
    return {"key": made.key.id, "refusal": refusal[0], "ticket": ticket[0]}


def _refuse(service: Service, made: NewDemo) -> None:
    """A request whose query was not signed."""
    key = Key(service, made.key.id, made.key.api_key, made.key.api_secret)
    key.get("/api/v1/external/whoami")
    signed = key.signature_headers("GET", _TICKETS)
    send(service, "GET", f"{_TICKETS}?status=open&per_page=50", b"", signed)


def _administer(service: Service, browser: Browser) -> None:
    """Invite a user, and create and revoke a key, some minutes apart."""
    admin = service.log_in(ADMIN_EMAIL)
    with opened(browser, service, ADMIN_EMAIL, "light") as window:
        for name, email in (("Ines Horvat", "ines"), ("Bram Quinn", "bram")):
            window.page.goto("/settings/people/invite")
            window.page.get_by_label("E-mail address").fill(f"{email}@acme-ceramics.test")
            window.page.get_by_label("Name").fill(name)
            window.page.get_by_role("button", name="Create the link").click()
            window.page.locator("#secret").wait_for()
            service.clock.advance(190)
    new = {"name": "ERP: invoices", "permissions": ["tickets:read", "customers:read"]}
    made = admin.post("/api/v1/api-keys", new).json()["data"]
    service.clock.advance(400)
    admin.patch(f"/api/v1/api-keys/{made['id']}", {"rate_limit": 120})
    service.clock.advance(250)
    admin.delete(f"/api/v1/api-keys/{made['id']}")


async def _rename(tx: Tx, key_id: str) -> None:
    params = {"id": key_id, "prefix": "tk_live_4f9a31c7"}
    await tx.execute("UPDATE api_keys SET key_prefix = :prefix WHERE id = :id", params)


async def _use(state: AppState, tenant_id: str, key_id: str) -> None:
    """A day of requests by a program, few at night."""
    chance, now_us = Random(7), state.clock.now_us()
    for hours_ago in range(24):
        at_us = now_us - hours_ago * HOUR_US
        share = 0.15 + 0.85 * max(0.0, 1 - abs((at_us // HOUR_US) % 24 - 13) / 8)
        for permission, status, endpoint, most in _USES:
            use = KeyUse(tenant_id, key_id, permission)
            for _ in range(int(most * share * chance.uniform(0.6, 1))):
                address = chance.choices(_ADDRESSES, (6, 3, 1))[0]
                state.key_usage.note(use, at_us, status, endpoint, address)
    await usage.write_counts(state)
