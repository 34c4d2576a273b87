"""What `sealdesk doctor` finds out about a PostgreSQL server and the way it is used."""

import asyncio
import time
from collections.abc import Iterator

from asyncpg import Record

from sealdesk.cli.doctor.finding import Finding
from sealdesk.db.postgres import errors, preflight, server_status
from sealdesk.db.postgres.peers import SERVE_NAME
from sealdesk.db.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.settings import Settings

_GOOD_SKEW_S = 5
_SLOW_MS = 5.0
# Off, each of them lets acknowledged changes be lost or the files be damaged when power fails.
_DURABLE = ("fsync", "full_page_writes")


def examine(settings: Settings) -> Iterator[Finding]:
    """Whether the server of SEALDESK_DATABASE_URL can be served from, and safely."""
    with asyncio.Runner() as runner:
        try:
            findings = runner.run(_examined(settings))
        except Unusable as error:
            findings = [Finding("bad", "database", str(error))]
    yield from findings


async def _examined(settings: Settings) -> list[Finding]:
    url, is_pooled = settings.database_url, settings.database_pooler == "transaction"
    connection = await preflight.open_connection(url, name="sealdesk doctor", is_pooled=is_pooled)
    where = preflight.redacted(url)
    try:
        async with connection.transaction():
            faults = await preflight.find_faults(connection)
        if faults:
            return [Finding("bad", "database", f"{where} {fault}") for fault in faults]
        before = time.time()
        server = await server_status.fetch_status(connection)
        skew_s = abs(float(server["now"]) - (before + time.time()) / 2)
        trip_ms = await server_status.measure_round_trip_ms(connection)
    except Exception as error:
        if errors.is_unavailable(error):
            raise Unusable(f"{where} cannot be examined: {error}") from error
        raise
    finally:
        await connection.close(timeout=1)
    return [
        _database(where, server),
        _durability(server),
        _connections(server, settings),
        _worker(server),
        _way(trip_ms),
        _clock(skew_s, settings.max_skew_s),
    ]


def _database(where: str, server: Record) -> Finding:
    text = (
        f"{where} is PostgreSQL {server['version']} with the current schema {KNOWN_VERSIONS[-1]}; "
    )
    return Finding("good", "database", f"{text}row level security holds {server['role']}")


def _durability(server: Record) -> Finding:
    off = [name for name in _DURABLE if server[name] == "off"]
    if off:
        text = f"{' and '.join(off)} off: a failure of power can destroy the database; set to on"
        return Finding("bad", "durable", text)
    connected = f"{_counted(server['standbys'], 'standby server')} connected"
    if server["awaits_standby"]:
        return Finding("good", "durable", f"commits wait for the disk and a standby; {connected}")
    text = f"commits wait for the disk, not for a standby ({connected}): what is acknowledged"
    return Finding("note", "durable", f"{text} is lost with this server, unless it was copied")


def _connections(server: Record, settings: Settings) -> Finding:
    each, processes = settings.database_connections, settings.expected_processes
    # A worker and a command beside them.
    wanted, most = processes * each + each + 1, server["max_connections"]
    now = f"{server['served_by']} by {SERVE_NAME} on {_counted(server['hosts'], 'host')} now"
    text = f"{now}, {server['connections']} by all; {most} can be, {wanted} may be wanted"
    if settings.database_pooler == "none" and wanted > most:
        mend = "raise max_connections, or lower SEALDESK_DATABASE_CONNECTIONS"
        return Finding("bad", "connected", f"{text}: {mend}")
    return Finding("good", "connected", text)


def _worker(server: Record) -> Finding:
    if server["worked_by"]:
        return Finding("good", "worker", "`sealdesk worker` runs")
    text = "no `sealdesk worker` runs: the feed stands still, and webhooks are not sent; start one"
    return Finding("bad" if server["served_by"] else "note", "worker", text)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _way(trip_ms: float) -> Finding:
    text = f"{trip_ms:.1f} ms to the server and back"
    if trip_ms > _SLOW_MS:
        return Finding("note", "way", f"{text}; every request needs several of these")
    return Finding("good", "way", text)


def _clock(skew_s: float, max_skew_s: int) -> Finding:
    text = f"{skew_s:.1f} s from the database server's"
    if skew_s > max_skew_s:
        return Finding("bad", "clock", f"{text}; signed requests may differ by {max_skew_s} s")
    return Finding("good" if skew_s <= _GOOD_SKEW_S else "note", "clock", text)
