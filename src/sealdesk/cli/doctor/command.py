"""`sealdesk doctor`: is everything as it should be?"""

import json as json_text
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from sealdesk.api_keys import rules
from sealdesk.cli.doctor.finding import Finding
from sealdesk.cli.installation import Desk, FileDoors, doors_of
from sealdesk.cli.keys import find_key, sealed_of_all
from sealdesk.cli.output import AsJson, as_json, console
from sealdesk.cli.requests import api_url, connection
from sealdesk.crypto.sealing import UnsealError
from sealdesk.db import schema_version
from sealdesk.db.sqlite.connection import connect
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env

_SAFE_SQLITE = (3, 51, 3)
_SECRETS_TRIED = 100
_LEAST_FREE_BYTES = 256 * 1024 * 1024
_GOOD_FREE_BYTES = 2 * 1024 * 1024 * 1024
_ASK_TIMEOUT_S = 2.0
_GOOD_SKEW_S = 5

# What every connection of ours must have: pragma → value as SQLite reports it.
_PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}

_MARKS = {"good": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}


def doctor(
    fix: Annotated[bool, typer.Option(help="Make files private that are not.")] = False,
    public_url: Annotated[
        str, typer.Option(help="Check only what a proxy does to signed requests to this address.")
    ] = "",
    json: AsJson = False,
) -> None:
    """Check settings, files, database, disk and clock; on PostgreSQL the server and the role too.

    Fails (exit code 1) if anything is wrong. Changes nothing without --fix, and may be run at any
    time.

    With --public-url it sends some sixty signed requests to the service behind a proxy, from any
    machine, and says which bytes arrived changed. It needs SEALDESK_API_KEY and
    SEALDESK_API_SECRET; a key without any permission is enough, and nothing is stored but that
    the key was used and which requests were refused.
    """
    findings: list[Finding] = []
    screen = console()
    for finding in _found(public_url, fix):
        findings.append(finding)
        if not json:
            screen.print(f"{_MARKS[finding.state]} [bold]{finding.about:<9}[/] ", end="")
            screen.print(finding.text.replace("\n", f"\n{' ' * 12}"), markup=False)
    if json:
        as_json([finding._asdict() for finding in findings])
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


def _found(public_url: str, fix: bool) -> Iterator[Finding]:
    if not public_url:
        return _examine(os.environ.get("SEALDESK_DATA_DIR") or "var", fix)
    from sealdesk.cli.doctor.public_url import examine

    return examine(public_url)


def _examine(data_dir: str, fix: bool) -> Iterator[Finding]:
    if os.environ.get("SEALDESK_DATABASE_URL"):
        yield from _examine_server()
        return
    if not Path(data_dir).is_dir():
        yield Finding("bad", "data", f"{data_dir} is not there; sealdesk serve makes it")
        return
    yield from _modes(Path(data_dir), "*", fix)
    try:
        settings = from_env(os.environ)
    except ConfigurationError as error:
        yield Finding("bad", "settings", str(error))
        return
    yield Finding("good", "settings", f"fit; the data lies in {settings.data_dir}")
    yield _disk(settings.data_dir)
    yield _sqlite()
    yield from _database(settings, fix)
    yield _server(settings)
    yield _clock(settings.max_skew_s)


def _examine_server() -> Iterator[Finding]:
    from sealdesk.cli.doctor import postgres as postgres_findings

    try:
        settings = from_env(os.environ)
    except ConfigurationError as error:
        yield Finding("bad", "settings", str(error))
        return
    yield Finding("good", "settings", "fit; the data lies in PostgreSQL")
    is_fit = True
    for finding in postgres_findings.examine(settings):
        is_fit = is_fit and (finding.about, finding.state) != ("database", "bad")
        yield finding
    if is_fit:
        with doors_of(settings) as doors:
            yield _secrets(Desk(settings, doors))
    yield _clock(settings.max_skew_s)


def _modes(directory: Path, pattern: str, fix: bool) -> Iterator[Finding]:
    """The data directory and the files in it must be their owner's alone."""
    files = [path for path in directory.glob(pattern) if path.is_file()]
    wanted = dict.fromkeys(files, 0o600) | ({directory: 0o700} if pattern == "*" else {})
    open_to_others = [path for path in wanted if path.stat().st_mode & 0o077]
    for path in open_to_others:
        mode = f"{path.stat().st_mode & 0o777:04o}"
        if fix:
            path.chmod(wanted[path])
            yield Finding("note", "files", f"{path} was open to others ({mode}), now it is private")
        else:
            text = f"{path} is open to others ({mode}); sealdesk doctor --fix makes it private"
            yield Finding("bad", "files", text)
    if not open_to_others:
        yield Finding("good", "files", f"{directory}: {len(files)} files, all private")


def _disk(data_dir: Path) -> Finding:
    free = shutil.disk_usage(data_dir).free
    text = f"{free / 1024**3:.1f} GiB free"
    if free < _LEAST_FREE_BYTES:
        return Finding("bad", "disk", f"{text}; writes will soon be refused")
    return Finding("good" if free >= _GOOD_FREE_BYTES else "note", "disk", text)


def _sqlite() -> Finding:
    if sqlite3.sqlite_version_info >= _SAFE_SQLITE:
        return Finding("good", "sqlite", sqlite3.sqlite_version)
    return Finding(
        "note",
        "sqlite",
        f"{sqlite3.sqlite_version}; before {'.'.join(map(str, _SAFE_SQLITE))} two processes that"
        " checkpoint can corrupt a database. Here only one does; let no other program write to it",
    )


def _database(settings: Settings, fix: bool) -> Iterator[Finding]:
    path = settings.database_path
    if path.parent != settings.data_dir:
        yield from _modes(path.parent, f"{path.name}*", fix)
    try:
        schema = schema_version.schema_version(path)
    except ConfigurationError as error:
        yield Finding("bad", "database", str(error))
        return
    if schema is None:
        yield Finding("bad", "database", f"{path} is not there; sealdesk migrate makes it")
        return
    if schema != schema_version.KNOWN_VERSIONS[-1]:
        words = f"the next start brings it to {schema_version.KNOWN_VERSIONS[-1]}"
        yield Finding("note", "database", f"{path} has schema {schema}; {words}")
        return
    try:
        with closing(connect(path)) as connection:
            yield _pragmas(path, connection, schema)
            yield _secrets(Desk(settings, FileDoors(connection)))
    except sqlite3.Error as error:
        yield Finding("bad", "database", f"{path} cannot be used: {error}")


def _pragmas(path: Path, connection: sqlite3.Connection, schema: str) -> Finding:
    found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _PRAGMAS}
    wrong = [f"{name} is {found[name]}" for name in _PRAGMAS if found[name] != _PRAGMAS[name]]
    if wrong:
        return Finding("bad", "database", f"{path}: {', '.join(wrong)}")
    return Finding("good", "database", f"{path} has the current schema {schema}, WAL, full sync")


def _secrets(desk: Desk) -> Finding:
    """Whether the master keys open what is sealed, tried on the first secrets."""
    sealed = list(islice(sealed_of_all(desk), _SECRETS_TRIED))
    for tenant_id, key_id in sealed:
        key = desk.read(partial(find_key, tenant_id, key_id), tenant_id)
        try:
            if key is not None and key.sealed_secret is not None:
                desk.key_ring.open(key.sealed_secret, rules.seal_context(key))
        except UnsealError as error:
            text = f"the secret of key {key_id} cannot be opened: {error}"
            return Finding("bad", "secrets", text)
    return Finding("good", "secrets", f"the master key opens them ({len(sealed)} tried)")


def _server(settings: Settings) -> Finding:
    from sealdesk.server.serve import is_serving

    is_running = is_serving(settings.database_path)
    return Finding("good", "server", "is running" if is_running else "is not running")


def _clock(max_skew_s: int) -> Finding:
    """Compared with the service at SEALDESK_API_URL, which may be on another machine."""
    from http.client import HTTPException

    try:
        with closing(connection(_ASK_TIMEOUT_S)) as open_connection:
            open_connection.request("GET", "/api/v1/time")
            there = json_text.loads(open_connection.getresponse().read())["data"]["unix"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return Finding("good", "clock", f"not compared: nothing answers at {api_url()}")
    except ConfigurationError as error:
        return Finding("bad", "clock", str(error))
    skew_s = abs(int(time.time()) - there)
    text = f"{skew_s} s from the one at {api_url()}; signed requests may differ by {max_skew_s} s"
    if skew_s > max_skew_s:
        return Finding("bad", "clock", text)
    return Finding("good" if skew_s <= _GOOD_SKEW_S else "note", "clock", text)
