"""`python -m tests.browser`: take the screenshots of docs and the pictures of pages."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from sealdesk.db.engine import Tx
from sealdesk.db.migrations import schema_version
from tests.browser import pictures, screenshots
from tests.browser.chromium import browsing
from tests.support.databases import on_sqlite
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service, wait_until

_PLACE = Path(__file__).parents[2] / "docs" / "screenshots"
_HOME = "/settings/webhooks"
_ADA = "ada@acme.test"
_ENDPOINTS = (
    ("https://hooks.acme.test/warehouse", "Data warehouse", 200),
    ("https://erp.acme.test/sealdesk/events", "ERP: customers and invoices", 410),
    ("https://chat.acme.test/integrations/4f1c", "Team chat, #support", 500),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, receiving() as receiver:
        template = Path(directory) / "template.db"
        schema_version.ensure_current(template)
        with browsing() as browser:
            screenshots.take(browser, template, _PLACE, _tell)
            with screenshots.filled(browser, template) as (service, ids):
                for file in pictures.take_all(browser, service, ids):
                    _tell(file.name)
            with on_sqlite(template)(Path(directory) / "data", **LOOPBACK) as service:
                _take_all(browser, service, f"{_HOME}/{_fill(service, receiver)}")


def _tell(what: str) -> None:
    sys.stdout.write(f"{_PLACE.name}/{what}\n")
    sys.stdout.flush()


def _fill(service: Service, receiver: Receiver) -> str:
    """A tenant with endpoints in every state; the id of the active one."""
    tenant = service.tenant("Acme")
    tenant.user("tenant_admin", _ADA, "Ada Lindqvist")
    admin, key = service.log_in(_ADA), tenant.key()
    ids = []
    for url, description, status in reversed(_ENDPOINTS):
        receiver.answers(status, b'{"received": true}', {"content-type": "application/json"})
        seen = len(receiver.got)
        kinds = ["ticket.created", "reply.created", "ticket.status_changed"]
        new = {"url": receiver.url, "events": kinds, "description": description}
        ids.append(admin.post("/api/v1/webhooks", new).json()["data"]["id"])
        ticket = key.ticket()["id"]
        key.post(f"/api/v1/external/tickets/{ticket}/replies", {"body": "On its way."})
        key.patch(f"/api/v1/external/tickets/{ticket}", {"status": "resolved"})
        wait_until(lambda seen=seen: len(receiver.got) > seen, 20)  # type: ignore[misc]
        log = f"/api/v1/webhooks/{ids[-1]}/deliveries"
        wait_until(lambda log=log: _is_attempted(admin.get(log).json()["data"]), 20)  # type: ignore[misc]
        service.write(lambda tx, url=url: _rename(tx, ids[-1], url))  # type: ignore[misc]
    return str(ids[-1])


def _is_attempted(deliveries: list[dict[str, Any]]) -> bool:
    return any(each["last_attempt"] for each in deliveries[-1:])


async def _rename(tx: Tx, endpoint_id: str, url: str) -> None:
    """Host names instead of loopback addresses."""
    params = {"id": endpoint_id, "url": url}
    await tx.execute("UPDATE endpoints SET url = :url WHERE id = :id", params)
    of_endpoint = "SELECT id FROM deliveries WHERE endpoint_id = :id"
    await tx.execute(f"UPDATE attempts SET url = :url WHERE delivery_id IN ({of_endpoint})", params)


def _take_all(browser: Browser, service: Service, endpoint: str) -> None:
    for name, path, theme, size in (
        ("webhooks", _HOME, "light", (1180, 440)),
        ("endpoint", endpoint, "dark", (1180, 700)),
        ("endpoint-phone", endpoint, "light", screenshots.PHONE),
    ):
        with screenshots.opened(browser, service, _ADA, theme) as window:
            window.page.goto(path)
            _tell(screenshots.keep(window.page, _PLACE, f"{name}-{theme}", size))
            if name == "endpoint":
                window.page.locator(".dense a").first.click()
                window.page.get_by_text("Payload").click()
                _tell(screenshots.keep(window.page, _PLACE, "delivery-dark", (1180, 760)))


if __name__ == "__main__":
    main()
