"""Background work pauses while another session migrates."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.db.migrations import pause
from sealdesk.settings import from_env
from sealdesk.state import AppState, make_state
from sealdesk.worker.steps import attempt
from tests.support.databases import Template


@pytest.fixture
def settings_env(postgres_template: Template, tmp_path: Path) -> dict[str, str]:
    env = postgres_template.env(postgres_template.name)
    return {**env, "SEALDESK_DATA_DIR": str(tmp_path)}


def test_a_step_waits_until_the_migration_has_ended(settings_env: dict[str, str]) -> None:
    assert asyncio.run(_steps_around_a_migration(settings_env)) == ["before", "after"]


async def _steps_around_a_migration(env: dict[str, str]) -> list[str]:
    settings = from_env(env)
    url = settings.worker_database_url
    database = open_database(settings, name="sealdesk worker", url=url)
    state, done = make_state(settings, database, Clock()), []

    async def step(_: AppState, name: str) -> int:
        done.append(name)
        return 1

    migrating = await asyncpg.connect(settings.owner_database_url)
    try:
        await state.migration_pause.look(database)
        await attempt(lambda state: step(state, "before"), state, "test")
        transaction = migrating.transaction()
        await transaction.start()
        for statement in pause.HOLD:
            await migrating.execute(statement)
        await state.migration_pause.look(database)
        waiting = asyncio.create_task(attempt(lambda state: step(state, "after"), state, "test"))
        await asyncio.sleep(0)
        assert done == ["before"]
        await transaction.rollback()
        await state.migration_pause.look(database)
        await waiting
    finally:
        await migrating.close()
        await state.http_client.close()
        state.mail_resolver.close()
        await database.close()
    return done
