"""What runs in the processes that `test_killed` kills; imports little, as each of them does."""

import asyncio

from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.settings import Settings
from sealdesk.state import make_state
from sealdesk.worker import loop


def work(settings: Settings) -> None:
    """The background loop of `sealdesk serve`, or the process of `sealdesk worker`."""
    if settings.has_worker_process:
        loop.serve(settings, lambda: None)
    else:
        database = open_database(settings, name="killed")
        asyncio.run(loop.run(make_state(settings, database, Clock())))
