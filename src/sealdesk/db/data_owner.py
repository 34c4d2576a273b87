"""Who owns the data directory, and why a file in it cannot be used.

The service runs as the owner. What root makes beside it, such as a new journal of keys, the service
could not write.
"""

import os
import pwd
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def find_foreign(directory: Path) -> list[Path]:
    """What belongs to another user than the directory it is in."""
    owner = directory.stat().st_uid
    return [path for path, uid in _walk(directory) if uid != owner]


@contextmanager
def made_for_owner(directory: Path) -> Iterator[None]:
    """Give what root makes in the directory meanwhile to its owner; nothing for other users."""
    before = _owned_by_root(directory)
    try:
        yield
    finally:
        give_to_owner(directory, _owned_by_root(directory) - before)


def give_to_owner(directory: Path, paths: Iterable[Path]) -> None:
    """Give files to the owner of the directory that they are in. Raises OSError."""
    for path in paths:
        owner = directory.stat()
        with suppress(FileNotFoundError):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _owned_by_root(directory: Path) -> set[Path]:
    """What root owns in the directory of another user."""
    if os.geteuid() != 0 or not directory.is_dir() or directory.stat().st_uid == 0:
        return set()
    return {path for path, uid in _walk(directory) if uid == 0}


def name_of(uid: int) -> str:
    """The name of a user, or the id of one without a name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def explain_denial(path: Path) -> str | None:
    """Why this user cannot write a file or beside it, and what to do; None when they can.

    Raises OSError where not even the directory can be looked at.
    """
    directory = _directory_of(path)
    found = os.statvfs(directory)
    if found.f_flag & os.ST_RDONLY:
        return f"{directory} is on a read-only file system; mount it writable"
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        return _explain_rights(path, directory, directory)
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        return _explain_rights(path, directory, path)
    is_full = found.f_blocks > 0 and found.f_bavail == 0
    return f"{directory} is on a full file system; make room there" if is_full else None


def _directory_of(path: Path) -> Path:
    with suppress(PermissionError):  # of a directory that this user may not enter
        if path.is_dir():
            return path
    return path.parent


def _explain_rights(path: Path, directory: Path, denying: Path) -> str:
    user, owner = os.geteuid(), directory.stat().st_uid
    text = f"{path} cannot be written by {name_of(user)}"
    if user != owner:
        return f"{text}; run this as {name_of(owner)}, who owns {directory}"
    if denying.stat().st_uid != user:
        return f"{text}, who owns {directory}; run `sealdesk doctor --fix` as root"
    return f"{text}, who owns it; run `chmod u+rwX {denying}`"


def _walk(directory: Path) -> Iterator[tuple[Path, int]]:
    """The files and their owners; the service may delete some meanwhile."""
    for folder, folders, files in os.walk(directory):
        for path in (Path(folder, name) for name in (*folders, *files)):
            with suppress(FileNotFoundError):
                yield path, path.lstat().st_uid
