"""What code a result belongs to."""

import hashlib
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def hash_of(*directories: str) -> str:
    """A hash of the Python files in these directories of the project."""
    digest = hashlib.sha256()
    for directory in directories:
        for path in sorted((_ROOT / directory).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
