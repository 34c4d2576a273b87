"""Which other processes use the same database."""

import asyncio

from asyncpg import Connection

from sealdesk.db.postgres.preflight import connected, shown
from sealdesk.db.schema_version import Unusable

SERVING = "sealdesk serve"
WORKING = "sealdesk worker"
_ASK_EVERY_S = 1.0
_COUNT = """
SELECT count(DISTINCT (client_addr, application_name)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = $1
"""


async def ensure_alone(url: str, *, wait_s: float) -> None:
    """Wait until no process serves this database any more. Raises Unusable when one goes on.

    Each process by itself would allow a key its whole rate limit.
    """
    connection = await connected(url, name="sealdesk check")
    try:
        waited_s = 0.0
        while await _count(connection):
            if waited_s >= wait_s:
                raise Unusable(
                    f"another process serves {shown(url)}; several need SEALDESK_REDIS_URL, which"
                    " shares the rate limits, or SEALDESK_PER_PROCESS_LIMITS=accept"
                )
            await asyncio.sleep(_ASK_EVERY_S)
            waited_s += _ASK_EVERY_S
    finally:
        await connection.close(timeout=1)


async def _count(connection: Connection) -> int:
    return int(await connection.fetchval(_COUNT, SERVING))
