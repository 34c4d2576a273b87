"""The files of attachments in a backup: found beside the database, and put back."""

import hashlib
import os
import re
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from sealdesk.crypto.encrypted_file import DamagedFile
from sealdesk.settings import make_private_dir

FOLDER = "attachments"  # of the data directory, and of the archive
_READ_BYTES = 256 * 1024
# <the first two digits>/<SHA-256>.<tenant>: see tickets/attachments/files.py.
_NAME = re.compile(rf"{FOLDER}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})\.[0-9a-f-]{{36}}")


class FileTotals(NamedTuple):
    """How many files there are, and their size."""

    files: int
    size_bytes: int


class PackedFile(NamedTuple):
    """A file in an archive, to be read before the next."""

    name: str
    content: IO[bytes]


def measure(folder: Path) -> FileTotals:
    """What a backup will contain of this directory."""
    sizes = [path.stat().st_size for path in find(folder)]
    return FileTotals(len(sizes), sum(sizes))


def find(folder: Path) -> Iterator[Path]:
    """The files in order; those that are still being received are left out."""
    for directory in sorted(folder.glob("[0-9a-f][0-9a-f]")):
        for path in sorted(directory.iterdir()):
            if _NAME.fullmatch(name_of(path)):
                yield path


def name_of(path: Path) -> str:
    """The name of a file in the archive."""
    return f"{FOLDER}/{path.parent.name}/{path.name}"


def members(tar: tarfile.TarFile) -> Iterator[PackedFile]:
    """The files behind the dump. Raises DamagedFile for any other name."""
    while (member := tar.next()) is not None:
        content = tar.extractfile(member)
        if content is None or _NAME.fullmatch(member.name) is None:
            raise DamagedFile("it contains a file that is no attachment")
        yield PackedFile(member.name, content)


def unpack(packed: Iterable[PackedFile], data_dir: Path) -> None:
    """Put files into a data directory; those that it has already stay. Raises DamagedFile."""
    for file in packed:
        path = data_dir / file.name
        for folder in (path.parent.parent, path.parent):
            make_private_dir(folder)
        if not path.exists():
            _write(file, path)


def _write(file: PackedFile, path: Path) -> None:
    handle, part = tempfile.mkstemp(dir=path.parent)
    try:
        digest = hashlib.sha256()
        with os.fdopen(handle, "wb") as target:
            while block := file.content.read(_READ_BYTES):
                digest.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != path.name.partition(".")[0]:
            raise DamagedFile("an attachment does not fit its name")
        Path(part).rename(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
