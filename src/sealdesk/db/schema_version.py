"""Which schema a database has, and bringing it to ours. Reads by SQL alone: Alembic and
SQLAlchemy would cost the server 23 MiB, so they run in a child process.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from sealdesk.db.engine import Tx
from sealdesk.errors import ConfigurationError

KNOWN = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
)  # every schema version that this code can migrate from; the last is current
_STORED = "SELECT version_num FROM alembic_version LIMIT 1"


class Unusable(ConfigurationError):
    """The database cannot be used as it is; the text says what to do."""


def ensure_current(path: Path) -> bool:
    """Bring the database at `path` to this code's schema; whether anything was done.

    Raises Unusable.
    """
    if schema_version(path) == KNOWN[-1]:
        return False
    _migrate({"path": str(path)})
    return True


def migrate_postgres(owner_url: str, *, runtime_url: str, worker_url: str) -> None:
    """Bring a PostgreSQL database to this code's schema, and its roles to what they need.

    May be done again. Raises Unusable.
    """
    _migrate({"owner": owner_url, "runtime": runtime_url, "worker": worker_url})


def _migrate(told: dict[str, str]) -> None:
    child = subprocess.run(
        [sys.executable, "-m", "sealdesk.db.migrate"],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode != 0:
        lines = child.stderr.strip().splitlines() or ["the migration ended without a word"]
        raise Unusable(lines[-1])


def schema_version(path: Path) -> str | None:
    """The schema version of a database file, None for a new one. Raises Unusable."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            version = _read_version(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise Unusable(
            f"{path} cannot be read as a Sealdesk database ({error});"
            " restore it from a backup or name another with SEALDESK_DATA_DIR"
        ) from error
    if version is not None and version not in KNOWN:
        raise Unusable(
            f"{path} has schema {version}, which is newer than this Sealdesk knows"
            f" ({KNOWN[-1]}); run the newer Sealdesk, nothing was changed"
        )
    return version


async def stored(tx: Tx) -> str | None:
    """The schema version of the open database: the least that can be read of it."""
    row = await tx.fetch_one(_STORED, {})
    return None if row is None else str(row["version_num"])


def _read_version(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 100"
    ).fetchall()
    if not tables:
        return None
    if ("alembic_version",) not in tables:
        raise sqlite3.DatabaseError("it holds tables of something else")
    row = connection.execute(_STORED).fetchone()
    return None if row is None else str(row[0])
