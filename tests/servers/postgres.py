"""A PostgreSQL cluster for tests: started, killed, promoted, stopped."""

import pwd
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from tests.servers.binaries import find_postgres
from tests.servers.ports import HOST, free_port
from tests.servers.process import (
    START_S,
    Process,
    ServerFailed,
    environment,
    give_away,
    server_owned,
    server_user,
)

Settings = Mapping[str, str | int | bool]
_STOP = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
_SETTINGS: Settings = {
    "listen_addresses": HOST,
    "max_connections": 800,  # of the services that the workers of a run keep, 20 each
    "shared_buffers": "64MB",
    "synchronous_commit": True,
    "jit": False,
    # Log the failing statements, not only their messages.
    "log_line_prefix": "%m [%p] %u@%d ",
    "log_min_error_statement": "error",
}
# The data need not survive a power failure.
_CARELESS: Settings = {
    "fsync": False,
    "full_page_writes": False,
    "checkpoint_timeout": "1h",
    "max_wal_size": "256MB",
    # Its processes would visit each of the many databases of a run every minute.
    "autovacuum_naptime": "1h",
}


class Access(NamedTuple):
    """The address and passwords of a cluster, for this and other processes."""

    port: int
    password: str
    owner_password: str
    sockets: str

    def url(self, user: str, password: str, database: str) -> str:
        """postgresql://USER:PASSWORD@HOST:PORT/DATABASE"""
        return f"postgresql://{quote(user)}:{quote(password)}@{HOST}:{self.port}/{database}"

    def owner_url(self, database: str) -> str:
        """As "owner": no superuser, may create databases and roles."""
        return self.url("owner", self.owner_password, database)

    def superuser_url(self, database: str = "postgres") -> str:
        return self.url("postgres", self.password, database)

    def sql(self, statement: str, database: str = "postgres") -> list[str]:
        """Run statements as the superuser, by psql; gives lines of fields separated by "|".

        Raises ServerFailed with what psql said.
        """
        return _tool(
            "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement,
            self.superuser_url(database),
        ).splitlines()  # fmt: skip

    def create_database(self, name: str, template: str | None = None) -> str:
        """A database of owner's, copied from another that nobody is connected to; its owner URL."""
        # As files: through the log it takes twice the processor time.
        source = f" TEMPLATE {_quoted(template)} STRATEGY FILE_COPY" if template else ""
        self.sql(f"CREATE DATABASE {_quoted(name)} OWNER owner{source}")
        return self.owner_url(name)

    def drop_database(self, name: str) -> None:
        """Drop it, whoever is connected, if it is there."""
        self.sql(f"DROP DATABASE IF EXISTS {_quoted(name)} WITH (FORCE)")


class Postgres:
    """A running cluster, its files in a directory of server_directory(), its log in `log`.

    access: address and passwords, for this and other processes; its methods are the cluster's too.
    """

    def __init__(self, directory: Path, access: Access) -> None:
        self.directory = directory
        self.access = access
        self.port = access.port
        self.log = directory / "log"
        self.url = access.url
        self.owner_url = access.owner_url
        self.superuser_url = access.superuser_url
        self.sql = access.sql
        self.create_database = access.create_database
        self.drop_database = access.drop_database
        self._process: Process | None = None

    @classmethod
    def start(
        cls,
        directory: Path,
        *,
        port: int | None = None,
        fsync: bool = True,
        settings: Settings | None = None,
    ) -> "Postgres":
        """Make a cluster in a directory that is empty or not there yet, and start it.

        It orders text as people do (ICU), not by bytes, so that reliance on an order shows.
        """
        server_owned(directory)
        password, owner_password = secrets.token_hex(16), secrets.token_hex(16)
        _initdb(directory, password)
        chosen = {**_SETTINGS, **({} if fsync else _CARELESS), **(settings or {})}
        with (directory / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {_written(value)}\n" for name, value in chosen.items())
        access = Access(port or free_port(), password, owner_password, str(directory))
        cluster = cls(directory, access)
        cluster.start_again()
        cluster.sql(f"CREATE ROLE owner LOGIN CREATEDB CREATEROLE PASSWORD '{owner_password}'")
        return cluster

    def start_again(self, *, until: Literal["ready", "running"] = "ready") -> None:
        """Start the stopped or killed cluster on its port; waits until it accepts connections.

        until="running" returns at once, to watch it heal.
        """
        command: list[str | Path] = [
            find_postgres() / "postgres", "-D", self.directory / "data",
            "-p", str(self.port), "-k", str(self.directory),
        ]  # fmt: skip
        self._process = Process(
            "PostgreSQL", command, self.log, end=signal.SIGQUIT, as_server_user=True
        )
        if until == "ready":
            self.wait_ready()

    def wait_ready(self, within_s: float = START_S) -> None:
        """Wait until it accepts connections."""
        self._running().wait_until(self._is_ready, within_s)

    def stop(self, how: Literal["fast", "immediate"] = "fast") -> None:
        """fast ends the sessions and closes in order; immediate leaves it to recovery."""
        if self._process is not None:
            self._process.stop(_STOP[how])

    def restart(self, how: Literal["fast", "immediate"] = "fast") -> None:
        self.stop(how)
        self.start_again()

    def kill(self) -> None:
        """SIGKILL for the postmaster and every backend."""
        self._running().kill()

    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running()

    def standby(self, directory: Path, *, is_synchronous: bool = True) -> "Postgres":
        """A streaming standby in an empty directory; a synchronous one holds up every commit."""
        name = directory.name
        server_owned(directory)
        _tool(
            "pg_basebackup", "-D", directory / "data", "-R", "-X", "stream", "-c", "fast",
            "-C", "-S", _slot(name), "--no-sync",
            "-d", f"{self.superuser_url()}?application_name={name}",
            as_server_user=True,
        )  # fmt: skip
        access = self.access._replace(port=free_port(), sockets=str(directory))
        copy = Postgres(directory, access)
        copy.start_again()
        if is_synchronous:
            self.sql(f"ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (\"{name}\")'")
            self.sql("SELECT pg_reload_conf()")
        self._wait_for(name, "sync" if is_synchronous else "async")
        return copy

    def promote(self, within_s: float = START_S) -> None:
        """Make the standby the primary; returns once it accepts writes."""
        self.sql(f"SELECT pg_promote(true, {int(within_s)})")

    def _running(self) -> Process:
        assert self._process is not None, "this cluster was never started"
        return self._process

    def _is_ready(self) -> bool:
        # What pg_ctl looks at too: the first line is the process, the eighth its state.
        try:
            lines = (self.directory / "data" / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        is_own = len(lines) > 7 and lines[0] == str(self._running().pid)
        return is_own and lines[7].strip() == "ready"

    def _wait_for(self, name: str, state: str) -> None:
        until = time.monotonic() + START_S
        question = f"SELECT sync_state FROM pg_stat_replication WHERE application_name = '{name}'"
        while self.sql(f"{question} AND state = 'streaming'") != [state]:
            if time.monotonic() > until:
                raise ServerFailed(f"the standby {name} does not stream:\n{self._running().tail()}")
            time.sleep(0.02)


def _initdb(directory: Path, password: str) -> None:
    file = directory / "password"
    file.touch(mode=0o600)
    file.write_text(password)
    give_away(file)
    _tool(
        "initdb", "-D", directory / "data", "-U", "postgres", "-A", "scram-sha-256",
        "--pwfile", file, "-E", "UTF8", "--locale", "C.UTF-8",
        "--locale-provider", "icu", "--icu-locale", "en-US", "--no-sync", "--no-instructions",
        as_server_user=True,
    )  # fmt: skip
    file.unlink()


def _tool(name: str, *arguments: str | Path, as_server_user: bool = False) -> str:
    user = server_user() if as_server_user else None
    done = subprocess.run(
        [find_postgres() / name, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=environment(),
        user=user,
        group=None if user is None else pwd.getpwnam(user).pw_gid,
        extra_groups=None if user is None else (),
    )
    if done.returncode != 0:
        raise ServerFailed(f"{name} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _written(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _slot(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name.lower())
