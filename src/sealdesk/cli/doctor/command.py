"""The command `sealdesk doctor`, and its checks of an installation on SQLite."""

import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from sealdesk import build
from sealdesk.cli import domains
from sealdesk.cli.doctor import bucket, issues, running_service, sqlite_storage
from sealdesk.cli.doctor.finding import Finding, report
from sealdesk.cli.installation import Installation, SqliteAccess, open_database_access
from sealdesk.cli.master_key import try_passwords, try_secrets
from sealdesk.cli.output import JsonOption
from sealdesk.db import data_owner
from sealdesk.db.migrations import schema_version
from sealdesk.db.sqlite import first_start
from sealdesk.db.sqlite.connection import connect as connect_sqlite
from sealdesk.errors import ConfigurationError
from sealdesk.mail.mailboxes.store import directory
from sealdesk.settings import Settings, data_dir_of, find_fault_of, from_env

_SAFE_SQLITE = (3, 51, 3)
_SECRETS_TRIED = 100
_MAX_ADDRESSES = 10_000
_MIN_FREE_BYTES = 256 * 1024 * 1024
_GOOD_FREE_BYTES = 2 * 1024 * 1024 * 1024
_MAX_NAMED = 5

# Pragma → value that every connection of Sealdesk must report.
_PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}


def doctor(
    fix: Annotated[
        bool,
        typer.Option(
            help="Make the data directory and its files private, and give them to its owner."
        ),
    ] = False,
    deep: Annotated[
        bool, typer.Option(help="Compare all attachments with their rows, not only some.")
    ] = False,
    public_url: Annotated[
        str,
        typer.Option(
            help="Check only whether a proxy at this URL passes signed requests on unchanged."
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Check the installation, or a proxy in front of it.

    Checks settings, files, database, disk and clock; on PostgreSQL also the server and the role.
    Prints one line for each check and exits with 1 if one failed. Changes nothing without --fix
    and may be run at any time.

    With --public-url, sends about sixty signed requests to the service behind a proxy, from any
    machine, and reports which bytes the proxy changed. Needs SEALDESK_API_KEY and
    SEALDESK_API_SECRET; a key without any permission is enough. The requests change no data; the
    service records only the use of the key and the refused requests.
    """
    report(_run_checks(public_url, fix, deep), json=json, width=9)


def find_before_upgrade() -> Iterator[Finding]:
    """The findings on a database whose schema may be older."""
    return _check_sqlite_installation(fix=False, deep=False, may_be_old=True)


def _run_checks(public_url: str, fix: bool, deep: bool) -> Iterator[Finding]:
    if not public_url:
        return _check_sqlite_installation(fix, deep)
    # 8 ms to import, which the other checks do not need.
    from sealdesk.cli.doctor import public_url as public_url_checks

    return public_url_checks.check(public_url)


def _check_sqlite_installation(
    fix: bool, deep: bool, *, may_be_old: bool = False
) -> Iterator[Finding]:
    if os.environ.get("SEALDESK_DATABASE_URL"):
        yield from _check_postgres_installation(fix, deep, may_be_old=may_be_old)
        return
    with suppress(RuntimeError):  # no such home, which reading the settings reports
        data_dir = data_dir_of(os.environ)
        if not data_dir.is_dir():
            missing = f"{data_dir} does not exist; `sealdesk serve` creates it"
            yield Finding("bad", "data", next(iter(find_fault_of(data_dir)), missing))
            return
        if not os.access(data_dir, os.R_OK | os.X_OK):
            yield Finding("bad", "data", data_owner.explain_denial(data_dir) or str(data_dir))
            return
        yield from _check_file_modes(data_dir, "*", fix)
    try:
        settings = from_env(os.environ)
    except ConfigurationError as error:
        yield Finding("bad", "settings", str(error))
        return
    yield Finding("good", "settings", f"valid; the data directory is {settings.data_dir}")
    yield _check_disk(settings.data_dir)
    yield _check_python()
    yield _check_sqlite_version()
    yield from _check_database(settings, fix, deep)
    yield from bucket.check(settings)
    yield _check_server(settings)
    yield from running_service.check(settings)


def _check_postgres_installation(fix: bool, deep: bool, *, may_be_old: bool) -> Iterator[Finding]:
    # asyncpg takes 22 ms to import, which the checks of SQLite do not need.
    from sealdesk.cli.doctor import postgres as postgres_checks

    try:
        settings = from_env(os.environ)
    except ConfigurationError as error:
        yield Finding("bad", "settings", str(error))
        return
    yield Finding("good", "settings", "valid; the data is in PostgreSQL")
    yield _check_python()
    is_usable = True
    for finding in postgres_checks.check(settings, may_be_old=may_be_old):
        is_usable = is_usable and (finding.about, finding.state) != ("database", "bad")
        yield finding
    if is_usable and not may_be_old:
        with open_database_access(settings) as access:
            yield _check_secrets(Installation(settings, access))
            yield from _check_mail_addresses(Installation(settings, access))
    if is_usable:
        yield from issues.check(settings, is_deep=deep, fix=fix)
    yield from bucket.check(settings)
    yield from running_service.check(settings)


def _check_file_modes(directory: Path, pattern: str, fix: bool) -> Iterator[Finding]:
    """Check that only the owner may read the data directory and its files."""
    files = [path for path in directory.glob(pattern) if path.is_file()]
    expected_modes = dict.fromkeys(files, 0o600) | ({directory: 0o700} if pattern == "*" else {})
    open_to_others = [path for path in expected_modes if path.stat().st_mode & 0o077]
    for path in open_to_others:
        mode = f"{path.stat().st_mode & 0o777:04o}"
        if fix:
            path.chmod(expected_modes[path])
            yield Finding(
                "note", "files", f"{path} was open to other users ({mode}) and is private now"
            )
        else:
            text = f"{path} is open to other users ({mode}); run `sealdesk doctor --fix`"
            yield Finding("bad", "files", text)
    foreign = data_owner.find_foreign(directory) if pattern == "*" else []
    if foreign:
        yield _report_foreign(directory, foreign, fix)
    if not open_to_others and not foreign:
        yield Finding("good", "files", f"{directory}: {len(files)} files, all private")


def _report_foreign(directory: Path, foreign: list[Path], fix: bool) -> Finding:
    """Files of other users, which the service cannot write or replace."""
    owner = data_owner.name_of(directory.stat().st_uid)
    named = ", ".join(path.name for path in foreign[:_MAX_NAMED])
    if fix:
        with suppress(PermissionError):
            data_owner.give_to_owner(directory, foreign)
            return Finding("note", "files", f"{named}: now of {owner}, the owner of {directory}")
    text = f"{named}: not of {owner}, the owner of {directory}, so the service cannot write them"
    return Finding("bad", "files", f"{text}; run `sealdesk doctor --fix` as root")


def _check_disk(data_dir: Path) -> Finding:
    free = shutil.disk_usage(data_dir).free
    text = f"{free / 1024**3:.1f} GiB free"
    if free < _MIN_FREE_BYTES:
        return Finding("bad", "disk", f"{text}: writes will soon fail; free some space")
    return Finding("good" if free >= _GOOD_FREE_BYTES else "note", "disk", text)


def _check_python() -> Finding:
    version = platform.python_version()
    if build.is_python_optimised():
        return Finding("good", "python", f"{version}, built with optimisation")
    text = f"{version} was built without optimisation, so each request costs about a tenth more"
    advice = "use the Python of a distribution, or one built with --enable-optimizations"
    return Finding("note", "python", f"{text}; {advice}")


def _check_sqlite_version() -> Finding:
    if sqlite3.sqlite_version_info >= _SAFE_SQLITE:
        return Finding("good", "sqlite", sqlite3.sqlite_version)
    return Finding(
        "note",
        "sqlite",
        f"{sqlite3.sqlite_version}; before {'.'.join(map(str, _SAFE_SQLITE))} two processes that"
        " checkpoint can corrupt a database. Of Sealdesk only the server does; let no other program"
        " write to the database",
    )


def _check_database(settings: Settings, fix: bool, deep: bool) -> Iterator[Finding]:
    path = settings.database_path
    if path.parent != settings.data_dir:
        yield from _check_file_modes(path.parent, f"{path.name}*", fix)
    try:
        first_start.ensure_not_lost(settings.data_dir, path)
        schema = schema_version.schema_version(path)
    except ConfigurationError as error:
        yield Finding("bad", "database", str(error))
        return
    if schema is None:
        yield Finding("bad", "database", f"{path} does not exist; `sealdesk migrate` creates it")
        return
    if schema != schema_version.KNOWN_VERSIONS[-1]:
        known = schema_version.KNOWN_VERSIONS[-1]
        advice = f"the next start of the server migrates it to {known}"
        if schema > known:
            advice = f"a newer version made it, and this one, which knows {known}, can use it"
        yield Finding("note", "database", f"{path} has schema {schema}; {advice}")
        return
    yield from sqlite_storage.check(path)
    try:
        with closing(connect_sqlite(path)) as connection:
            yield _check_pragmas(path, connection, schema)
            installation = Installation(settings, SqliteAccess(connection))
            yield _check_secrets(installation)
            yield from _check_mail_addresses(installation)
        yield from issues.check(settings, is_deep=deep, fix=fix)
    except sqlite3.Error as error:
        yield Finding("bad", "database", f"{path} cannot be used: {error}")


def _check_mail_addresses(installation: Installation) -> Iterator[Finding]:
    """Addresses of mailboxes that another tenant could claim, too."""
    forms = installation.read(lambda tx: directory.list_contested_forms(tx, _MAX_ADDRESSES))
    for address, owner in forms.items():
        text = f"{address} is a mailbox of {owner}, but without its + it is another tenant's"
        yield Finding("note", "mailbox", text)
    for domain in domains.list_assigned(installation):
        for address, owner in domains.list_contested(installation, domain).items():
            text = f"{address} is a mailbox of {owner}, but its domain is that of"
            yield Finding("note", "mailbox", f"{text} {domain.tenant_id}")


def _check_pragmas(path: Path, connection: sqlite3.Connection, schema: str) -> Finding:
    values = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _PRAGMAS}
    wrong = [f"{name} is {values[name]}" for name in _PRAGMAS if values[name] != _PRAGMAS[name]]
    if wrong:
        return Finding("bad", "database", f"{path}: {', '.join(wrong)}")
    return Finding("good", "database", f"{path} has the current schema {schema}, WAL, full sync")


def _check_secrets(installation: Installation) -> Finding:
    """Check that the master keys open the first sealed secrets."""
    keys = try_secrets(installation, _SECRETS_TRIED)
    mailboxes = try_passwords(installation, _SECRETS_TRIED)
    if fault := keys.fault or mailboxes.fault:
        return Finding("bad", "secrets", f"{fault}; is a master key missing?")
    if not keys.tried_count + mailboxes.tried_count:
        return Finding("note", "secrets", "none is stored, so the master key was not tried")
    tried = f"{keys.tried_count} of API keys and {mailboxes.tried_count} of mailboxes tried"
    return Finding("good", "secrets", f"the master key opens them ({tried})")


def _check_server(settings: Settings) -> Finding:
    # The server takes 200 ms to import, which other commands do not need.
    from sealdesk.server.serve import is_serving

    is_running = is_serving(settings.database_path)
    if is_running:
        return Finding("good", "server", "is running")
    return Finding("note", "server", "is not running; `sealdesk serve` starts it")
