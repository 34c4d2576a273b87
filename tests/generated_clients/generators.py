"""Generates a Python and a TypeScript client from a document, once for each document.

openapi-python-client is installed from requirements.lock into a directory of its own: it needs an
older typer than the command line of the service. What is made lands in .venv.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import interop
from tests.servers.run import not_run

PYTHON_PROGRAM = "program.py"
TYPESCRIPT_PROGRAM = "program.ts"
_PACKAGE = "sealdesk_api"
_TYPES = "sealdesk-api.d.ts"
_PLACE = Path(sys.prefix) / "generated-clients"
_LOCK = Path(__file__).with_name("requirements.lock")
_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
_WITHIN_S = 300


def generate_python(document: bytes, program: str) -> Path:
    """The directory with the package `sealdesk_api`, and beside it the program."""

    def make(place: Path) -> None:
        (place / PYTHON_PROGRAM).write_text(program)
        _python(document, place)

    return _made("python", document + program.encode() + _LOCK.read_bytes(), make)


def generate_typescript(document: bytes, program: str) -> Path:
    """The directory with the types `sealdesk-api.d.ts`, and beside them the program."""

    def make(place: Path) -> None:
        (place / TYPESCRIPT_PROGRAM).write_text(program)
        _typescript(document, place)

    return _made("typescript", document + program.encode(), make)


def check_python(directory: Path) -> str:
    """What mypy says of the package and of the program; empty without faults."""
    options = ("--strict", "--config-file=", "--no-error-summary", f"--cache-dir={_PLACE / 'mypy'}")
    env = {**os.environ, "MYPYPATH": str(directory)}
    files = (_PACKAGE, PYTHON_PROGRAM)
    done = _completed(sys.executable, "-m", "mypy", *options, *files, cwd=directory, env=env)
    return done.stdout + done.stderr


def check_typescript(directory: Path) -> str:
    """What the TypeScript compiler says of the types and of the program."""
    options = (
        "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib",
        "es2022,dom", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess",
        "--incremental", "--tsBuildInfoFile", "checked.tsbuildinfo",
    )  # fmt: skip
    compiler = interop.packages() / "node_modules" / "typescript" / "bin" / "tsc"
    done = _completed(interop.NODE, compiler, *options, TYPESCRIPT_PROGRAM, cwd=directory)
    return done.stdout + done.stderr


def _made(kind: str, source: bytes, make: Callable[[Path], None]) -> Path:
    """The directory that was made from this source. An older one is replaced."""
    with _locked(kind):
        place, stamp = _PLACE / kind, _PLACE / f"{kind}.sha256"
        version = hashlib.sha256(source).hexdigest()
        if not (stamp.exists() and stamp.read_text() == version):
            stamp.unlink(missing_ok=True)
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            make(place)
            stamp.write_text(version)
        return place


@contextmanager
def _locked(kind: str) -> Iterator[None]:
    _PLACE.mkdir(exist_ok=True)
    with (_PLACE / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _python(document: bytes, place: Path) -> None:
    source, config = place / "openapi.json", place / "config.yml"
    source.write_bytes(document)
    config.write_text("post_hooks: []\n")
    done = _completed(
        sys.executable, "-m", "openapi_python_client", "generate", "--path", source,
        "--config", config, "--meta", "none", "--fail-on-warning",
        "--output-path", place / _PACKAGE,
        cwd=place, env={**os.environ, "PYTHONPATH": str(_generator())},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def _generator() -> Path:
    """The directory in which the generator for Python is installed."""
    return _made("openapi-python-client", _LOCK.read_bytes(), _install)


def _install(place: Path) -> None:
    options = ("--target", place, "--no-deps", "--require-hashes", "--requirement", _LOCK)
    done = _completed(sys.executable, *_PIP, *options)
    if done.returncode != 0:
        not_run(f"openapi-python-client: {' / '.join(done.stderr.splitlines()[-3:])}")


def _typescript(document: bytes, place: Path) -> None:
    (place / "openapi.json").write_bytes(document)
    (place / "package.json").write_text('{"type": "module"}\n')
    modules = interop.packages() / "node_modules"
    (place / "node_modules").symlink_to(modules)
    generator = modules / "openapi-typescript" / "bin" / "cli.js"
    done = _completed(interop.NODE, generator, "openapi.json", "--output", _TYPES, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr


def _completed(
    *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=_WITHIN_S, check=False
    )
