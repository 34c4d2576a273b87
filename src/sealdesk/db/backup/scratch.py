"""Private directories beside the file of a backup, and files that appear only when complete."""

import errno
import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sealdesk.db.migrations.schema_version import Unusable

_PREFIX = ".sealdesk-backup-"


@contextmanager
def directory(parent: Path) -> Iterator[Path]:
    """A directory that is deleted at the end; it also deletes those that killed commands left.

    Raises Unusable on a full disk.
    """
    with _opened(parent) as parent_handle:
        fcntl.flock(parent_handle, fcntl.LOCK_EX)
        _delete_abandoned(parent)
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        handle = os.open(path, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        with _naming_full_disk(parent):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


@contextmanager
def _naming_full_disk(place: Path) -> Iterator[None]:
    """Say which disk is full: the error of a write does not. Raises Unusable."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if not is_full and getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_FULL:
            raise
        raise Unusable(f"{place} is on a full file system; make room there") from error


def _delete_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        with _opened(path) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # another command is using it
            shutil.rmtree(path, ignore_errors=True)


def publish(complete: Path, path: Path) -> None:
    """Give a file on the same disk its name, durably. Raises FileExistsError."""
    with _opened(complete) as handle:
        os.fsync(handle)
    # Not os.link, which no stick formatted for Windows has.
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it exists already", str(path))
    complete.rename(path)
    with _opened(path.parent) as handle:
        os.fsync(handle)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
