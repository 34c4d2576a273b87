"""The database that is upgraded: by one command at a time, with the rights that it needs."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sealdesk.db import data_owner
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.sqlite import first_start
from sealdesk.settings import Settings

_RESERVE_BYTES = 256 * 1024 * 1024
# A backup of SQLite is a copy, then the file made of it. The dump of PostgreSQL is compressed.
_COPIES_OF_SQLITE = 2


class Target(NamedTuple):
    """A database. size_bytes: of it alone."""

    schema: str
    size_bytes: int
    is_postgres: bool


@contextmanager
def alone(settings: Settings) -> Iterator[Target]:
    """The database, while no other upgrade of it runs. Raises Unusable, ConfigurationError."""
    if settings.data_dir.is_dir() and (denial := data_owner.explain_denial(settings.data_dir)):
        raise Unusable(f"{denial}; nothing was changed")
    if not settings.is_on_postgres:
        with _alone_on_sqlite(settings) as target:
            yield target
        return
    owner_url = settings.get_owner_url(
        "only the owner of the tables can migrate them. Set it to the URL of the same database with"
        " the role that owns them"
    )
    # asyncpg takes 22 ms to import, which SQLite does not need.
    from sealdesk.db.postgres import upgrading

    with upgrading.alone(owner_url) as (schema, size_bytes):
        yield Target(schema, size_bytes, is_postgres=True)


@contextmanager
def _alone_on_sqlite(settings: Settings) -> Iterator[Target]:
    path = settings.database_path
    first_start.ensure_not_lost(settings.data_dir, path)
    schema = schema_version.get_schema_version(path)
    if denial := data_owner.explain_denial(path):
        raise Unusable(f"{denial}; nothing was changed")
    with path.with_name(f"{path.name}.upgrade-lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unusable(
                f"another `sealdesk upgrade` of {path} is running; wait until it has ended"
            ) from error
        yield Target(schema, path.stat().st_size, is_postgres=False)


def ensure_room(settings: Settings, target: Target, backups: Path | None) -> None:
    """Raises Unusable where the disk has no room to migrate, or for a backup into a directory."""
    if not target.is_postgres:
        # In the log of the database a migration may write all of it anew.
        _ensure_free(settings.data_dir, target.size_bytes, "to migrate")
    if backups is not None:
        copies = 1 if target.is_postgres else _COPIES_OF_SQLITE
        needed = copies * target.size_bytes + _attachment_bytes(settings)
        _ensure_free(backups, needed, "for the backup; name another directory with --backup-into")


def _attachment_bytes(settings: Settings) -> int:
    if settings.attachment_bucket is not None:
        return 0
    walk = os.walk(settings.data_dir / "attachments")
    return sum(Path(at, name).lstat().st_size for at, _, names in walk for name in names)


def _ensure_free(directory: Path, needed_bytes: int, what_for: str) -> None:
    present = next(each for each in (directory, *directory.absolute().parents) if each.exists())
    free = shutil.disk_usage(present).free
    if free < needed_bytes + _RESERVE_BYTES:
        needed = (needed_bytes + _RESERVE_BYTES) // 1024**2
        raise Unusable(
            f"{free // 1024**2} MiB are free beside {directory}, and {needed} MiB are needed"
            f" {what_for}; nothing was changed"
        )
