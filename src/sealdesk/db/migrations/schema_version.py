"""Reads the schema version of a database and migrates it to the current one.

It reads with plain SQL; migrations run in a child process, because Alembic and SQLAlchemy would
cost the server 23 MiB.
"""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

from sealdesk.db import data_owner
from sealdesk.db.engine import Tx
from sealdesk.errors import ConfigurationError

MIGRATIONS = Path(__file__).with_name("versions")
# Every version that this code can migrate from; the last is current.
KNOWN_VERSIONS = tuple(sorted(each.name[:4] for each in MIGRATIONS.glob("[0-9]*.py")))
# The last commit with the migrations of development (decision 0083), which refuses schemas before
# "0043" with the commit that leads there.
DEVELOPMENT_COMMIT = "fbad4ff9"
Report = Callable[[str], object]
READ_OLDEST_READER = "SELECT note FROM installation_notes WHERE name = 'oldest_reader' LIMIT 1"
READ_VERSION = "SELECT version_num FROM alembic_version LIMIT 1"


class Unusable(ConfigurationError):
    """The database cannot be used in its present state; the text says what to do."""


def ensure_current(path: Path, report: Report = str) -> bool:
    """Migrate the database at `path` to the current schema; False when it was current.

    A newer one that this version can read is left as it is. report: called with the schema after
    each migration. Raises Unusable.
    """
    version = schema_version(path)
    if version is not None and version >= KNOWN_VERSIONS[-1]:
        return False
    _run_migration({"path": str(path)}, report)
    return True


def migrate_postgres(
    owner_url: str,
    *,
    runtime_url: str,
    worker_url: str,
    shard_count: int = 0,
    report: Report = str,
) -> list[str]:
    """Migrate a PostgreSQL database to the current schema and set up its roles.

    shard_count: if not 0, also distributes the tables that are not distributed yet over the nodes
    of Citus, and returns their names. report: as above. Idempotent. Raises Unusable.
    """
    urls = {"owner": owner_url, "runtime": runtime_url, "worker": worker_url}
    return _run_migration({**urls, "shards": shard_count}, report)


def pending_after(schema: str | None) -> tuple[str, ...]:
    """The migrations that a database of this schema lacks; of a new one all."""
    return tuple(each for each in KNOWN_VERSIONS if schema is None or each > schema)


def _run_migration(request: dict[str, object], report: Report) -> list[str]:
    """Run the child process that migrates; the tables that it distributed. Raises Unusable."""
    distributed: list[str] = []
    with TemporaryFile("w+") as errors, _start_child(errors) as child:
        with cast(IO[str], child.stdin) as told:
            json.dump(request, told)
        for line in cast(IO[str], child.stdout):
            match json.loads(line):
                case str(schema):
                    report(schema)
                case list(tables):
                    distributed = tables
        if child.wait() != 0:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            raise Unusable((lines or ["the migration failed without a message"])[-1])
    return distributed


def _start_child(errors: IO[str]) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-m", "sealdesk.db.migrate"], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True)


def schema_version(path: Path) -> str | None:
    """The schema version of a database file, None for a new one. Raises Unusable."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            version = _read_file_version(connection)
            is_readable = version is not None and is_known(
                version, lambda: _read_oldest(connection)
            )
        finally:
            connection.close()
    except sqlite3.Error as error:
        if denial := data_owner.explain_denial(path):
            raise Unusable(denial) from error
        raise Unusable(
            f"{path} cannot be read as a Sealdesk database ({error});"
            " restore it from a backup or name another with SEALDESK_DATA_DIR"
        ) from error
    if version is not None and not is_readable:
        raise Unusable(f"{path} {describe_unknown(version)}; nothing was changed")
    return version


def get_schema_version(path: Path) -> str:
    """The schema version of a database file. Raises Unusable, also for a new one."""
    version = schema_version(path)
    if version is None:
        raise Unusable(f"{path} holds no Sealdesk; name its directory with SEALDESK_DATA_DIR")
    return version


def is_known(version: str, read_oldest: Callable[[], str | None]) -> bool:
    """Whether this version can use a database of this schema.

    read_oldest: reads the note of the migration, such as "0056 of 0058", if the schema is newer.
    """
    if version in KNOWN_VERSIONS:
        return True
    if version < KNOWN_VERSIONS[0]:
        return False
    oldest, _, of = (read_oldest() or "").partition(" of ")
    return of == version and oldest <= KNOWN_VERSIONS[-1]


def oldest_reader_of(schema: str) -> str:
    """The oldest schema whose version can serve on this one (decision 0102): itself unless its
    migration says another."""
    (path,) = MIGRATIONS.glob(f"{schema}_*.py")
    # With Alembic 100 ms to import, which only those who migrate need.
    module = import_module(f"sealdesk.db.migrations.versions.{path.stem}")
    return str(getattr(module, "oldest_reader", schema))


def describe_unknown(version: str, command: str = "migrate") -> str:
    """What a schema is that is not one of KNOWN_VERSIONS, and what to do."""
    if version < KNOWN_VERSIONS[0]:
        return (
            f"has schema {version} of a development version: check out commit"
            f" {DEVELOPMENT_COMMIT}, run `sealdesk {command}` there, then return to this version"
        )
    return (
        f"has schema {version}, which is newer than this Sealdesk knows ({KNOWN_VERSIONS[-1]});"
        " run the newer Sealdesk"
    )


async def read_version(tx: Tx) -> str | None:
    """The schema version of the open database; also the cheapest query that proves it readable."""
    row = await tx.fetch_one(READ_VERSION, {})
    return None if row is None else str(row["version_num"])


def _read_oldest(connection: sqlite3.Connection) -> str | None:
    row = connection.execute(READ_OLDEST_READER).fetchone()
    return None if row is None else str(row[0])


def _read_file_version(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 100"
    ).fetchall()
    if not tables:
        return None
    if ("alembic_version",) not in tables:
        raise sqlite3.DatabaseError("it holds tables of another program")
    row = connection.execute(READ_VERSION).fetchone()
    return None if row is None else str(row[0])
