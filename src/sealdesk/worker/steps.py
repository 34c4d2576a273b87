"""Runs one step of the worker; a failure is logged and does not end the worker."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sealdesk.errors import ServiceUnavailable
from sealdesk.state import AppState

_AFTER_FAILURE_S = 0.5

log = logging.getLogger("sealdesk.worker")

Step = Callable[[AppState], Awaitable[int]]


def rest_s(state: AppState, took_s: float) -> float:
    """How long long work rests after a step.

    On SQLite a step blocks the writes of requests, so steps have a quarter of the time. On
    PostgreSQL they only load the database, and have half.
    """
    return took_s * (1 if state.settings.has_worker_process else 3)


async def attempt(step: Step, state: AppState, name: str = "") -> int:
    """Run a step; how much it did, or 0 after a failure and a pause. name: for the log.

    It waits while another process migrates the database.
    """
    name = name or step.__name__
    await state.migration_pause.end()
    try:
        return await step(state)
    except ServiceUnavailable as error:
        log.warning(
            "worker step waits for the database",
            extra={"step": name, "cause": repr(error.__cause__)},
        )
    except Exception:
        log.exception("worker step failed", extra={"step": name})
    await asyncio.sleep(_AFTER_FAILURE_S)
    return 0
