"""Finds and runs PostgreSQL's pg_dump and pg_restore."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from sealdesk.db.migrations.schema_version import Unusable

_VERSION = re.compile(r"\) ([0-9]{1,3})")
# Where the packages of Debian and Red Hat put the versions that are not in PATH.
_DIRECTORIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")


def find(name: str, server_version: int) -> Path:
    """The oldest installed program that is not older than the server. Raises Unusable.

    server_version: the major version, as pg_dump refuses servers that are newer than itself.
    """
    candidates = [Path(found)] if (found := shutil.which(name)) else []
    for pattern in _DIRECTORIES:
        candidates += sorted(Path("/").glob(f"{pattern[1:]}/{name}"))
    versions = {path: _major_version(path) for path in candidates}
    usable = [path for path in candidates if versions[path] >= server_version]
    if usable:
        return min(usable, key=lambda path: versions[path])
    old = f"; {name} {max(versions.values())} is too old" if versions else ""
    raise Unusable(
        f"{name} of PostgreSQL {server_version} or newer is not installed{old}: install the package"
        f" postgresql-client-{server_version} (Debian, Ubuntu) or postgresql{server_version}"
        " (Red Hat), or put it in PATH"
    )


def _major_version(path: Path) -> int:
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=True, timeout=30
        ).stdout
        if found := _VERSION.search(told):
            return int(found[1])
    return 0


def environment(url: str, name: str) -> Mapping[str, str]:
    """The variables for a program that connects: the password is not an argument, which other
    users of the machine can see."""
    password = unquote(urlsplit(url).password or "")
    given = {"PGPASSWORD": password} if password else {}
    return {**os.environ, **given, "PGAPPNAME": name, "LC_ALL": "C"}


def without_password(url: str) -> str:
    """The URL as an argument of a program."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{hosts}"))


def run(
    command: list[str | Path],
    env: Mapping[str, str],
    on_line: Callable[[str], None] = lambda _: None,
) -> str:
    """Run a program; its output. on_line gets the lines of its stderr, of which the last becomes
    the text of Unusable when it fails."""
    last = ""
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as child:
            try:
                for line in child.stderr or ():
                    if line.strip():
                        last = line.strip()
                        on_line(last)
            except BaseException:
                child.kill()
                raise
        if child.returncode != 0:
            raise Unusable(last or f"{command[0]} failed without a message")
        output.seek(0)
        return output.read()
