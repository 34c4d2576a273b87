"""One ASGI application, composed from what the process shares."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from sealdesk import worker
from sealdesk.clock import Clock
from sealdesk.db.sqlite import SqliteDatabase
from sealdesk.routes import ROUTES
from sealdesk.settings import Settings
from sealdesk.shared import Shared, share
from sealdesk.web.application import Application
from sealdesk.web.call import Receive, Scope, Send

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def compose(settings: Settings, clock: Clock | None = None) -> tuple[Asgi, Shared]:
    """The application, and what it shares. The database must have the current schema.

    Raises sqlite3.Error.
    """
    shared = share(settings, SqliteDatabase(settings.database_path), clock or Clock())
    application = Application(ROUTES, shared)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await application(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _live(shared, receive, send)

    return app, shared


async def _live(shared: Shared, receive: Receive, send: Send) -> None:
    """Start the background loop with the server, and end everything with it."""
    await receive()
    await shared.limiter.start()
    background = asyncio.create_task(worker.run(shared))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    background.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await background
    await shared.limiter.stop()
    await shared.database.close()
    await send({"type": "lifespan.shutdown.complete"})
