"""Reads the schema version of a database and migrates it to the current one.

It reads with plain SQL; migrations run in a child process, because Alembic and SQLAlchemy would
cost the server 23 MiB.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from sealdesk.db import data_owner
from sealdesk.db.engine import Tx
from sealdesk.errors import ConfigurationError

_MIGRATIONS = Path(__file__).with_name("migrations") / "versions"
# Every version that this code can migrate from; the last is current.
KNOWN_VERSIONS = tuple(sorted(each.name[:4] for each in _MIGRATIONS.glob("[0-9]*.py")))
# The last commit with the migrations of development, from "0001" on (decision 0083).
DEVELOPMENT_COMMIT = "cb386095"
_READ_VERSION = "SELECT version_num FROM alembic_version LIMIT 1"


class Unusable(ConfigurationError):
    """The database cannot be used in its present state; the text says what to do."""


def ensure_current(path: Path) -> bool:
    """Migrate the database at `path` to the current schema; False when it was current.

    Raises Unusable.
    """
    if schema_version(path) == KNOWN_VERSIONS[-1]:
        return False
    _run_migration({"path": str(path)})
    return True


def migrate_postgres(
    owner_url: str, *, runtime_url: str, worker_url: str, shard_count: int = 0
) -> list[str]:
    """Migrate a PostgreSQL database to the current schema and set up its roles.

    shard_count: if not 0, also distributes the tables that are not distributed yet over the nodes
    of Citus, and returns their names. Idempotent. Raises Unusable.
    """
    urls = {"owner": owner_url, "runtime": runtime_url, "worker": worker_url}
    distributed: list[str] = json.loads(_run_migration({**urls, "shards": shard_count}))
    return distributed


def _run_migration(request: dict[str, object]) -> str:
    """Run the child process that migrates; returns its output. Raises Unusable."""
    child = subprocess.run(
        [sys.executable, "-m", "sealdesk.db.migrate"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode != 0:
        lines = child.stderr.strip().splitlines() or ["the migration failed without a message"]
        raise Unusable(lines[-1])
    return child.stdout


def schema_version(path: Path) -> str | None:
    """The schema version of a database file, None for a new one. Raises Unusable."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            version = _read_file_version(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        if denial := data_owner.explain_denial(path):
            raise Unusable(denial) from error
        raise Unusable(
            f"{path} cannot be read as a Sealdesk database ({error});"
            " restore it from a backup or name another with SEALDESK_DATA_DIR"
        ) from error
    if version is not None and version not in KNOWN_VERSIONS:
        raise Unusable(f"{path} {describe_unknown(version)}; nothing was changed")
    return version


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
    row = await tx.fetch_one(_READ_VERSION, {})
    return None if row is None else str(row["version_num"])


def _read_file_version(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 100"
    ).fetchall()
    if not tables:
        return None
    if ("alembic_version",) not in tables:
        raise sqlite3.DatabaseError("it holds tables of another program")
    row = connection.execute(_READ_VERSION).fetchone()
    return None if row is None else str(row[0])
