"""Reads settings, connections and clock of a PostgreSQL server, and which processes use it."""

import asyncio
import time

from asyncpg import Connection, Record

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres.preflight import opened, redacted

_SERVER = """
SELECT current_setting('server_version') AS version, current_user AS role,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_standby_names') <> '' AS awaits_standby,
    current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int AS max_connections,
    (SELECT sum(numbackends)::int FROM pg_stat_database) AS connections,
    (SELECT count(DISTINCT client_addr) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $1) AS hosts,
    (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $1) AS served_by,
    (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $2) AS worked_by,
    (SELECT count(*) FROM pg_stat_replication) AS standbys,
    current_setting('data_checksums') AS data_checksums,
    (SELECT sum(checksum_failures)::int FROM pg_stat_database) AS checksum_failures,
    extract(epoch FROM clock_timestamp())::float8 AS now
"""
SERVE_NAME = "sealdesk serve"
WORKER_NAME = "sealdesk worker"
_POLL_S = 1.0
_COUNT = """
SELECT count(DISTINCT (client_addr, application_name)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = $1
"""


async def fetch_status(connection: Connection) -> Record:
    """version, role, fsync, full_page_writes, awaits_standby, standbys, data_checksums,
    checksum_failures (None without checksums), max_connections, connections (of all), served_by
    (connections) on hosts, worked_by (connections), now (seconds since the epoch).
    """
    (server,) = await connection.fetch(_SERVER, SERVE_NAME, WORKER_NAME)
    return server


async def measure_round_trip_ms(connection: Connection) -> float:
    """The shortest of ten round trips."""
    took = []
    for _ in range(10):
        begun = time.perf_counter()
        await connection.fetchval("SELECT 1")
        took.append(time.perf_counter() - begun)
    return min(took) * 1000


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
