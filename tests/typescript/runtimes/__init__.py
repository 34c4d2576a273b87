"""Deno, Bun and newman, which `make prove` installs from npm: 260 MB."""

import sys
from pathlib import Path

from tests import interop


def find(path: str) -> Path:
    """A file of the npm packages. Skips the test where they cannot be had."""
    place = Path(sys.prefix) / "runtimes"
    return interop.installed(Path(__file__).parent, place) / "node_modules" / path
