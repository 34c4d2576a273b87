"""Data of an installation from before the dashboard is there after the upgrade."""

import asyncio
from collections.abc import Callable

from alembic import command
from sqlalchemy import Connection

from sealdesk.db import schema_version
from sealdesk.db.migrate import make_config, postgres_transaction, sqlite_transaction
from sealdesk.settings import Settings
from tests.support.pages import logged_in
from tests.support.searching import wait_until_tickets
from tests.support.service import Service, Tenant

_BEFORE = "0002"
_TICKETS = "/api/v1/external/tickets"
_NEW = {
    "subject": "The lamp flickers",
    "description": "Since Monday.",
    "customer": {"email": "ann@example.test"},
}


def test_tickets_from_before_an_upgrade_are_shown_found_and_changed(
    start: Callable[[], Service],
) -> None:
    before = start()
    tenant = before.tenant()
    key = tenant.key()
    ticket_id = key.post(_TICKETS, _NEW).json()["data"]["id"]
    key.post(f"{_TICKETS}/{ticket_id}/replies", {"body": "We look into it."})
    before.stop()
    _take_back(before.settings)
    _upgrade(before.settings)
    after = Service(before.settings, before.clock)
    after.start()
    try:
        same = Tenant(after, tenant.id, tenant.admin_email)
        visitor = logged_in(same)
        assert "The lamp flickers" in visitor.get("/tickets").text
        page = visitor.get(f"/tickets/{ticket_id}")
        assert "We look into it." in page.text
        page = visitor.submit(page.form(f"/tickets/{ticket_id}"), priority="urgent")
        history = visitor.get(f"/tickets/{ticket_id}/history")
        assert page.status == 200 and "Urgent" in history.text
        wait_until_tickets(same, "flickers monday look", ticket_id)
    finally:
        after.stop()


def _take_back(settings: Settings) -> None:
    def downgrade(connection: Connection) -> None:
        command.downgrade(make_config(connection), _BEFORE)

    async def on_postgresql() -> None:
        async with postgres_transaction(settings.owner_database_url) as connection:
            await connection.run_sync(downgrade)

    if settings.database_url:
        asyncio.run(on_postgresql())
        return
    with sqlite_transaction(settings.database_path) as connection:
        downgrade(connection)
    assert schema_version.schema_version(settings.database_path) == _BEFORE


def _upgrade(settings: Settings) -> None:
    if settings.database_url:
        schema_version.migrate_postgres(
            settings.owner_database_url,
            runtime_url=settings.database_url,
            worker_url=settings.worker_database_url,
        )
    else:
        assert schema_version.ensure_current(settings.database_path)
