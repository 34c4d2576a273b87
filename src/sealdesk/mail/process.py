"""Receives e-mail: inside `serve` on SQLite, in the process `sealdesk mail` on PostgreSQL."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import uvloop

from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.mail.reading.leasing import reading_folders
from sealdesk.settings import Settings
from sealdesk.state import AppState, make_state

MAX_SHUTDOWN_S = 10


def serve(
    settings: Settings,
    sock: socket.socket | None,
    on_ready: Callable[[], None],
    meanwhile: Callable[[AppState], Coroutine[Any, Any, None]],
) -> None:
    """Receive until SIGTERM or SIGINT, in the role that serves.

    sock: where it listens, if it does. meanwhile: runs until then.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run_until_signal(settings, sock, on_ready, meanwhile))


@contextlib.asynccontextmanager
async def receiving(state: AppState, sock: socket.socket | None) -> AsyncIterator[None]:
    """Receive meanwhile: at the socket, if there is one, and from folders."""
    listener = None
    if sock is not None:
        # With aiosmtpd 40 ms to import, which few installations need.
        from sealdesk.mail.receiving.listening import listen

        listener = await listen(state, sock)
    try:
        async with reading_folders(state):
            yield
    finally:
        if listener is not None:
            await listener.stop()


async def _run_until_signal(
    settings: Settings,
    sock: socket.socket | None,
    on_ready: Callable[[], None],
    meanwhile: Callable[[AppState], Coroutine[Any, Any, None]],
) -> None:
    state = make_state(settings, open_database(settings, name="sealdesk mail"), Clock())
    is_told = asyncio.Event()

    def stop() -> None:
        signal.alarm(MAX_SHUTDOWN_S)  # ends the process even if a message hangs
        is_told.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    background = asyncio.gather(meanwhile(state), state.migration_pause.watch(state.database))
    async with receiving(state, sock):
        on_ready()
        await is_told.wait()
    background.cancel()
    await asyncio.wait({background})
    await state.sandbox.close()
    await state.http_client.close()
    state.mail_resolver.close()
    await state.database.close()
