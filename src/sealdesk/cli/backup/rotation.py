"""A directory of dated backups, of which the newest stay."""

import re
from pathlib import Path

from sealdesk import clock
from sealdesk.errors import ConfigurationError

_NAME = re.compile(r"sealdesk-\d{4}-\d{2}-\d{2}T\d{6}Z\.backup", re.ASCII)


def new_file(directory: Path, now_us: int) -> Path:
    """The file of a backup made now. Raises ConfigurationError."""
    if not directory.is_dir():
        raise ConfigurationError(f"{directory} is not a directory; create it for the backups")
    at = clock.iso(now_us).partition(".")[0].replace(":", "")
    return directory / f"sealdesk-{at}Z.backup"


def delete_old(directory: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups that `new_file` has named; those that were deleted."""
    dated = sorted(path for path in directory.iterdir() if _NAME.fullmatch(path.name))
    old = dated[:-keep]
    for path in old:
        path.unlink()
    return old
