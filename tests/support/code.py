"""The files of the project, and what code a result belongs to."""

import hashlib
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def list_files(*directories: str) -> list[Path]:
    """What git knows, or would add, in these directories of the project; "." for all."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *directories]
    listed = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True).stdout
    return [_ROOT / name for name in sorted({*listed.decode().split("\0")} - {""})]


def hash_of(*directories: str) -> str:
    """A hash of these files."""
    digest = hashlib.sha256()
    for path in list_files(*directories):
        name = path.relative_to(_ROOT)
        digest.update(f"{name}\0".encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()
