"""The processes that an upgrade leaves running."""

import asyncio

import msgspec

from sealdesk.clock import Clock
from sealdesk.db.factory import opened_database
from sealdesk.errors import ServiceUnavailable
from sealdesk.installation import processes
from sealdesk.installation.store import notes
from sealdesk.installation.types import ProcessNote
from sealdesk.settings import Settings

_IN_ORDER = ("serve", "worker", "mail")


def list_processes(settings: Settings) -> list[ProcessNote]:
    """Those that have given a sign of life, in the order in which to restart them."""
    try:
        living = asyncio.run(_list_living(settings))
    except (ServiceUnavailable, msgspec.ValidationError):
        return []  # an older version notes otherwise; the general advice remains
    told = [each for each in living if each.kind in _IN_ORDER]
    return sorted(told, key=lambda each: (_IN_ORDER.index(each.kind), each.host, each.pid))


async def _list_living(settings: Settings) -> list[ProcessNote]:
    url = settings.owner_database_url
    async with opened_database(settings, name="sealdesk upgrade", url=url) as database:
        return processes.living(await database.read(notes.list_processes), Clock().now_us())
