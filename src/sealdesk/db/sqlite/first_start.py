"""Tells the first start of an installation from one whose SQLite database is lost.

A new, empty database in the place of a lost one would hide the loss.
"""

from pathlib import Path

from sealdesk.crypto import key_files
from sealdesk.db.migrations.schema_version import Unusable


def ensure_not_lost(data_dir: Path, database: Path) -> None:
    """Raises Unusable when there are traces of a database, but not the database."""
    # The marker first: a concurrent first start creates the database before it removes this.
    if key_files.first_start_marker(data_dir).exists():
        return
    if database.exists() and database.stat().st_size > 0:
        return
    served = database.with_name(f"{database.name}.serve-lock")
    traces = [path for path in (data_dir / key_files.MASTER, served) if path.exists()]
    if traces:
        raise Unusable(
            f"{database} is missing or empty, but {traces[0]} shows that there was a database; no"
            " new one is made. Mount its disk, or run `sealdesk restore`. To begin anew without"
            f" the old data, move {' and '.join(map(str, traces))} away"
        )


def finish(data_dir: Path) -> None:
    """The database exists now; from here on its absence is a loss."""
    key_files.first_start_marker(data_dir).unlink(missing_ok=True)
