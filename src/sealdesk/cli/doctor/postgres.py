"""The checks of `sealdesk doctor` of a PostgreSQL server and its settings."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any

from asyncpg import Record

from sealdesk.cli.doctor.finding import Finding
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.db.postgres import errors, preflight, server_status
from sealdesk.db.postgres.server_status import SERVE_NAME
from sealdesk.settings import Settings

_GOOD_SKEW_S = 5
_SLOW_MS = 5.0
# If one of them is off, a power failure can lose acknowledged changes or damage the files.
_DURABLE = ("fsync", "full_page_writes")


def check(settings: Settings, *, may_be_old: bool = False) -> Iterator[Finding]:
    """Check the server of SEALDESK_DATABASE_URL and the role that serves.

    may_be_old: the schema, before an upgrade.
    """
    with asyncio.Runner() as runner:
        try:
            findings = runner.run(_check_server(settings, may_be_old=may_be_old))
        except Unusable as error:
            findings = [Finding("bad", "database", str(error))]
    yield from findings


async def _check_server(settings: Settings, *, may_be_old: bool) -> list[Finding]:
    url, is_pooled = settings.database_url, settings.database_pooler == "transaction"
    where = preflight.redacted(url)
    async with preflight.opened(url, name="sealdesk doctor", is_pooled=is_pooled) as connection:
        try:
            async with connection.transaction():
                faults = await preflight.find_faults(connection, may_be_old=may_be_old)
                schema = await preflight.schema_version(connection)
            if faults:
                return [Finding("bad", "database", f"{where} {fault}") for fault in faults]
            before = time.time()
            server = await server_status.fetch_status(connection)
            skew_s = abs(float(server["now"]) - (before + time.time()) / 2)
            trip_ms = await server_status.measure_round_trip_ms(connection)
        except Exception as error:
            if errors.is_unavailable(error):
                raise Unusable(f"{where} cannot be checked: {error}") from error
            raise
    return [
        _check_database(where, server, schema),
        _check_durability(server),
        check_pages(dict(server)),
        _check_connections(server, settings),
        _check_worker(server),
        _check_round_trip(trip_ms),
        _check_clock(skew_s, settings.max_skew_s),
    ]


def _check_database(where: str, server: Record, schema: str | None) -> Finding:
    age = "current" if schema == KNOWN_VERSIONS[-1] else "older"
    text = f"{where} is PostgreSQL {server['version']} with the {age} schema {schema}; "
    return Finding("good", "database", f"{text}row level security applies to {server['role']}")


def _check_durability(server: Record) -> Finding:
    off = [name for name in _DURABLE if server[name] == "off"]
    if off:
        text = f"{' and '.join(off)} off: a power failure can destroy the database; set to on"
        return Finding("bad", "durable", text)
    connected = f"{_count_text(server['standbys'], 'standby server')} connected"
    if server["awaits_standby"]:
        return Finding("good", "durable", f"commits wait for the disk and a standby; {connected}")
    text = f"commits wait for the disk, not for a standby ({connected}); if this server is lost,"
    return Finding("note", "durable", f"{text} changes that no standby has received are lost too")


def check_pages(server: Mapping[str, Any]) -> Finding:
    """Check whether PostgreSQL notices damaged pages, and whether it has."""
    if server["data_checksums"] == "off":
        text = "PostgreSQL notices no damaged page: data checksums are off. Stop the server, run"
        return Finding("note", "pages", f"{text} pg_checksums --enable, and start it")
    failures = server["checksum_failures"]
    if failures:
        text = f"{failures} had a wrong checksum: check the disk, and restore the last good backup"
        return Finding("bad", "pages", text)
    return Finding("good", "pages", "data checksums are on, and none was wrong")


def _check_connections(server: Record, settings: Settings) -> Finding:
    each, processes = settings.database_connections, settings.expected_processes
    # One worker and one command use connections besides the serving processes.
    needed, max_connections = processes * each + each + 1, server["max_connections"]
    in_use = f"{server['served_by']} by {SERVE_NAME} on {_count_text(server['hosts'], 'host')} now"
    total = server["connections"]
    text = f"{in_use}, {total} in all; allowed: {max_connections}, needed at most: {needed}"
    if settings.database_pooler == "none" and needed > max_connections:
        remedy = "raise max_connections, or lower SEALDESK_DATABASE_CONNECTIONS"
        return Finding("bad", "connected", f"{text}: {remedy}")
    return Finding("good", "connected", text)


def _check_worker(server: Record) -> Finding:
    if server["worked_by"]:
        return Finding("good", "worker", "`sealdesk worker` runs")
    text = "no `sealdesk worker` runs, so the feed stops and webhooks are not sent; start one"
    return Finding("bad" if server["served_by"] else "note", "worker", text)


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _check_round_trip(trip_ms: float) -> Finding:
    text = f"{trip_ms:.1f} ms round trip to the server"
    if trip_ms > _SLOW_MS:
        return Finding("note", "way", f"{text}; every request needs several round trips")
    return Finding("good", "way", text)


def _check_clock(skew_s: float, max_skew_s: int) -> Finding:
    text = f"differs by {skew_s:.1f} s from the clock of the database server"
    if skew_s > max_skew_s:
        return Finding("bad", "clock", f"{text}; the limit is {max_skew_s} s")
    return Finding("good" if skew_s <= _GOOD_SKEW_S else "note", "clock", text)
