"""The ASGI application of a server process, and what starts and stops with it."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from sealdesk.api_keys.usage import recorder as usage
from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.db.migrations import schema_version
from sealdesk.errors import ServiceUnavailable
from sealdesk.installation.watch import Watch
from sealdesk.routes import PAGES, ROUTES, SITE
from sealdesk.settings import Settings
from sealdesk.state import AppState, make_state
from sealdesk.teams.assigning import RoundRobin
from sealdesk.telemetry import descriptors
from sealdesk.web.application import Application
from sealdesk.web.request import Receive, Scope, Send
from sealdesk.worker import loop
from sealdesk.worker.rewriter import keep_rewriting_addresses

Asgi = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
Receiving = Callable[[AppState], AbstractAsyncContextManager[None]]


def compose(
    settings: Settings,
    clock: Clock | None = None,
    *,
    epoch: int = 0,
    receiving: Receiving | None = None,
) -> tuple[Application, AppState]:
    """The application and its state. The database must have the current schema.

    receiving: receives e-mail meanwhile. Raises sqlite3.Error.
    """
    database = open_database(settings, name="sealdesk serve")
    state = make_state(settings, database, clock or Clock(), epoch=epoch)
    return Application(
        (*ROUTES, *PAGES), state, SITE, partial(_run_lifespan, state, receiving)
    ), state


async def _run_lifespan(
    state: AppState, receiving: Receiving | None, receive: Receive, send: Send
) -> None:
    """Start the background tasks with the server, and stop them and close everything with it."""
    await receive()
    await state.limits.limiter.start()
    state.database.listeners += (state.long_poll.wake, state.streams.wake)
    state.lifetime.on_drain.append(state.streams.end_all)
    with contextlib.suppress(ServiceUnavailable):
        # Opens a connection, so that other processes see this one (db/postgres/server_status.py).
        await state.database.read(schema_version.read_version)
    background = [
        asyncio.create_task(state.database.watch()),
        asyncio.create_task(descriptors.watch(state.metrics.count_exhausted_descriptors)),
    ]
    if not state.settings.has_worker_process:
        background.append(asyncio.create_task(loop.run(state)))
    background.append(asyncio.create_task(RoundRobin(state).run()))
    background.append(asyncio.create_task(keep_rewriting_addresses(state)))
    background.append(asyncio.create_task(Watch(state, "serve").run()))
    background.append(asyncio.create_task(usage.write_periodically(state)))
    async with contextlib.nullcontext() if receiving is None else receiving(state):
        await send({"type": "lifespan.startup.complete"})
        await receive()
    for task in background:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await state.background_tasks.finish()
    await state.streams.stop()
    await usage.write_remaining(state)
    await state.close()
    await send({"type": "lifespan.shutdown.complete"})
