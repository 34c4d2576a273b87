"""Installs django-helpdesk in an environment of its own, and fills its database."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

from bench.databases import rows
from bench.databases.sqlite_data import DATA_DIR
from bench.plan import Plan

_HERE = Path(__file__).parent
_LOCK = _HERE / "requirements.lock"
_REQUIREMENT = "django-helpdesk=="
_ROOT = _HERE.parents[2]
_INSTALL_WITHIN_S = 600
_SEED = 20_260_102
_PRIORITIES = 5


class HelpdeskUnavailable(Exception):
    """django-helpdesk cannot be installed; the message says why."""


class Helpdesk(msgspec.Struct, frozen=True):
    """An installation. python, database: paths. token: of a user who may read and write."""

    built_from: str
    python: str
    database: str
    token: str

    @property
    def env(self) -> dict[str, str]:
        """The environment of its processes."""
        return _environment(Path(self.database))


def prepare(plan: Plan, home: Path = DATA_DIR, *, rebuild: bool = False) -> Helpdesk:
    """The installation without tickets of earlier runs. Raises HelpdeskUnavailable."""
    directory = home / f"django-helpdesk-{plan.peer_tickets}"
    stamp, filled = directory / "built.json", directory / "filled.sqlite3"
    built_from = _compute_fingerprint(plan)
    if not rebuild and stamp.exists():
        helpdesk = msgspec.json.decode(stamp.read_bytes(), type=Helpdesk)
        if helpdesk.built_from == built_from:
            _copy_database(filled, Path(helpdesk.database))
            return helpdesk
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    python = _install(home / "django-helpdesk")
    token = _fill(python, filled, plan.peer_tickets)
    helpdesk = Helpdesk(built_from, str(python), str(directory / "run.sqlite3"), token)
    stamp.write_bytes(msgspec.json.encode(helpdesk))
    _copy_database(filled, Path(helpdesk.database))
    return helpdesk


def _copy_database(filled: Path, database: Path) -> None:
    for leftover in database.parent.glob(f"{database.name}-*"):
        leftover.unlink()
    shutil.copy(filled, database)


def read_version() -> str:
    """The locked release."""
    (line,) = (line for line in _LOCK.read_text().splitlines() if line.startswith(_REQUIREMENT))
    return line.removeprefix(_REQUIREMENT).split()[0]


def _compute_fingerprint(plan: Plan) -> str:
    digest = hashlib.sha256(str(plan.peer_tickets).encode())
    for path in (_LOCK, _HERE / "settings.py", _HERE / "fill.py", Path(rows.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _install(directory: Path) -> Path:
    """Install the locked packages; returns the interpreter."""
    python = directory / "bin" / "python"
    stamp = directory / "installed.lock"
    if stamp.exists() and stamp.read_bytes() == _LOCK.read_bytes():
        return python
    _run(sys.executable, "-m", "venv", "--clear", directory)
    options = ("--quiet", "--disable-pip-version-check", "--require-hashes")
    _run(python, "-m", "pip", "install", *options, "--requirement", _LOCK)
    shutil.copy(_LOCK, stamp)
    return python


def _run(*command: str | Path) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_WITHIN_S)
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode(), file=sys.stderr)
        raise HelpdeskUnavailable("its packages cannot be installed") from error
    except subprocess.TimeoutExpired as error:
        raise HelpdeskUnavailable("its packages cannot be installed in time") from error


def _fill(python: Path, database: Path, count: int) -> str:
    """Create the database; returns the token of its user."""
    filling = subprocess.run(
        [python, "-m", "bench.peers.django_helpdesk.fill"],
        cwd=_ROOT,
        env=_environment(database),
        input=b"\n".join(_generate_tickets(count)),
        stdout=subprocess.PIPE,
        check=True,
    )
    return filling.stdout.decode().strip()


def _generate_tickets(count: int) -> Iterator[bytes]:
    """JSON with subjects and descriptions like those of the service's own data."""
    random = Random(_SEED)
    for number in range(count):
        yield make_ticket(random, number)


def make_ticket(random: Random, number: int, **values: object) -> bytes:
    """The JSON of a new ticket. values: more of its values."""
    return msgspec.json.encode(
        {
            "title": rows.make_subject(random),
            "description": rows.make_description(random, number),
            "submitter_email": rows.make_person(random, number).email,
            "priority": 1 + int(random.random() * _PRIORITIES),
            **values,
        }
    )


def _environment(database: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HELPDESK_DATABASE": str(database),
        "DJANGO_SETTINGS_MODULE": "bench.peers.django_helpdesk.settings",
    }
