"""`pytest -p tests.prove.late`: each step of background work begins late, as on a slow machine.

A test that reads at once what the background does fails then.
"""

import asyncio

from sealdesk.state import AppState
from sealdesk.worker import steps

_LATE_S = 1.0
_attempt = steps.attempt


async def _attempt_late(step: steps.Step, state: AppState, name: str = "") -> int:
    await asyncio.sleep(_LATE_S)
    return await _attempt(step, state, name)


# Before the modules that import it.
steps.attempt = _attempt_late
