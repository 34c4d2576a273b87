"""Builds the TypeScript client, once for all processes of the tests."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests import interop
from tests.interop import NODE
from tests.typescript.sources import CLIENT

_PLACE = Path(sys.prefix) / "typescript"
_STAMP = ".built"
# What the site offers as a package. schema.d.ts would repeat src/schema.ts.
JAVASCRIPT = CLIENT.parent / "javascript"
_COPIED = ("src", "test")


def node_modules() -> Path:
    """The npm packages that the build needs. Skips the test where they cannot be had."""
    return interop.packages() / "node_modules"


@cache
def built() -> Path:
    """The directory of the built client: sources, dist and tests."""
    _PLACE.mkdir(exist_ok=True)
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in _files())).hexdigest()
    with (_PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = _PLACE / _STAMP
        if not stamp.exists() or stamp.read_text() != digest:
            _build()
            stamp.write_text(digest)
    return _PLACE


def packed_build(place: Path) -> dict[str, bytes]:
    """The files of the build that are in the checkout, by their names."""
    files = (file for file in (place / "dist").iterdir() if file.name != "schema.d.ts")
    return {file.name: file.read_bytes() for file in files}


def compile_types(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tsc on a project."""
    tsc = node_modules() / "typescript" / "bin" / "tsc"
    command: list[str | Path] = [NODE, tsc, "-p", project, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def _files() -> list[Path]:
    single = [CLIENT / name for name in ("README.md", "package.json", "tsconfig.json")]
    folders = [(CLIENT / folder).rglob("*") for folder in _COPIED]
    return single + sorted(file for files in folders for file in files if file.is_file())


def _build() -> None:
    for folder in (*_COPIED, "dist"):
        shutil.rmtree(_PLACE / folder, ignore_errors=True)
    for folder in _COPIED:
        shutil.copytree(CLIENT / folder, _PLACE / folder)
    for name in ("README.md", "package.json", "tsconfig.json"):
        shutil.copyfile(CLIENT / name, _PLACE / name)
    done = compile_types(_PLACE)
    assert done.returncode == 0, done.stdout + done.stderr
