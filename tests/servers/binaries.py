"""Finds the programs of the servers, the browser and the languages on this machine."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

# Places to look in instead of the usual ones, separated as in PATH.
PATH_ENV = "DESK_TEST_PATH"
POSTGRES_VERSION = 15  # the oldest that the product supports
_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not on every user's PATH
# Debian and Ubuntu; Fedora and similar.
_POSTGRES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
_PROGRAMS = ("initdb", "postgres", "psql", "pg_basebackup")
_COMMANDS = {
    "redis": ("redis-server", "valkey-server"),
    "pgbouncer": ("pgbouncer",),
    "haproxy": ("haproxy",),
    "nginx": ("nginx",),
    "varnish": ("varnishd",),
    "dovecot": ("dovecot",),
    "postfix": ("postfix",),
    # Without windows to draw, pages take a third less processor time (decision 0059).
    "chromium": ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
    # The languages of docs/snippets.
    "php": ("php",),
    "ruby": ("ruby",),
    "go": ("go",),
    "java": ("javac",),
}
SERVERS = ("postgres", *_COMMANDS)


class NotHere(Exception):
    """This machine has no such server; the text says what is missing."""

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(reason)
        self.server = server


def find(server: str) -> Path:
    """The program of a server other than PostgreSQL, a browser or a language. Raises NotHere."""
    for command in _COMMANDS[server]:
        found = shutil.which(command, path=os.pathsep.join(_places()))
        if found is not None:
            return Path(found)
    names = " nor ".join(_COMMANDS[server])
    raise NotHere(server, f"no {names} on this machine")


def find_postgres() -> Path:
    """The directory that holds initdb, postgres and the rest, of the newest version.

    Raises NotHere when there is none that is new enough.
    """
    versions = {place: _version(place) for place in _postgres_places()}
    if not versions:
        raise NotHere("postgres", "no PostgreSQL server (initdb, postgres) on this machine")
    place, version = max(versions.items(), key=lambda found: found[1])
    if version < POSTGRES_VERSION:
        raise NotHere(
            "postgres",
            f"PostgreSQL {version} in {place} is too old: it takes {POSTGRES_VERSION} or newer",
        )
    return place


def missing() -> dict[str, str]:
    """The servers that this machine lacks: name and reason."""
    reasons = {}
    for server in SERVERS:
        try:
            find_postgres() if server == "postgres" else find(server)
        except NotHere as absence:
            reasons[server] = str(absence)
    return reasons


def _places() -> list[str]:
    given = os.environ.get(PATH_ENV)
    if given is not None:
        return given.split(os.pathsep)
    return [*os.environ.get("PATH", os.defpath).split(os.pathsep), *_SBIN]


def _postgres_places() -> list[Path]:
    places = [Path(place) for place in _places()]
    if PATH_ENV not in os.environ:
        places += [place for pattern in _POSTGRES for place in Path("/").glob(pattern[1:])]
    # Resolved, because a link has no other programs beside it.
    found = {(place / "initdb").resolve().parent for place in places}
    return [place for place in found if all((place / name).exists() for name in _PROGRAMS)]


@cache
def _version(place: Path) -> int:
    """The major version, 0 when the program does not say."""
    done = subprocess.run(
        [place / "postgres", "--version"], capture_output=True, text=True, check=False
    )
    number = re.search(r"\d+", done.stdout)
    return int(number[0]) if number else 0
