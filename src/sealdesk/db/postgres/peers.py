"""Finds other processes that serve the same database."""

import asyncio

from asyncpg import Connection

from sealdesk.db.postgres.preflight import opened, redacted
from sealdesk.db.schema_version import Unusable

SERVE_NAME = "sealdesk serve"
WORKER_NAME = "sealdesk worker"
_POLL_S = 1.0
_COUNT = """
SELECT count(DISTINCT (client_addr, application_name)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = $1
"""


async def ensure_single_process(url: str, *, wait_s: float) -> None:
    """Wait until no other process serves this database. Raises Unusable when one remains.

    Without shared limits each process would allow a key its whole rate limit.
    """
    async with opened(url, name="sealdesk check") as connection:
        waited_s = 0.0
        while await _count_processes(connection):
            if waited_s >= wait_s:
                raise Unusable(
                    f"another process serves {redacted(url)}; several need SEALDESK_REDIS_URL,"
                    " which shares the rate limits, or SEALDESK_PER_PROCESS_LIMITS=accept"
                )
            await asyncio.sleep(_POLL_S)
            waited_s += _POLL_S


async def _count_processes(connection: Connection) -> int:
    return int(await connection.fetchval(_COUNT, SERVE_NAME))
