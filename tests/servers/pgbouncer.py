"""A pgbouncer for a test, in front of a PostgreSQL."""

from pathlib import Path
from typing import Literal

from tests.servers.binaries import find
from tests.servers.ports import HOST, free_port
from tests.servers.postgres import Access, Postgres, Settings
from tests.servers.process import Process, accepts, give_away, server_owned

# Any role may log in by its own password: the server is asked for what proves it, and the proof
# serves towards the server as well.
_SETTINGS: Settings = {
    "auth_type": "scram-sha-256",
    "auth_query": "SELECT usename, passwd FROM pg_shadow WHERE usename = $1",
    "admin_users": "postgres",
    "max_client_conn": 1000,
}


class PgBouncer:
    """A running pgbouncer; access: its address and passwords, with the methods of the cluster's.

    access.sql(command, "pgbouncer") speaks to its console.
    """

    def __init__(self, directory: Path, access: Access) -> None:
        self.directory = directory
        self.access = access
        self.port = access.port
        self.log = directory / "log"
        self.url = access.url
        self.owner_url = access.owner_url
        self.sql = access.sql
        self._process: Process | None = None

    @classmethod
    def start(
        cls,
        directory: Path,
        postgres: Postgres | Access,
        *,
        pool_mode: Literal["session", "transaction", "statement"] = "transaction",
        pool_size: int = 20,
        settings: Settings | None = None,
    ) -> "PgBouncer":
        """Start one before all databases of a cluster.

        pool_size: connections to the server for each pair of database and role.
        """
        server_owned(directory)
        behind = postgres.access if isinstance(postgres, Postgres) else postgres
        access = behind._replace(port=free_port())
        chosen: Settings = {
            **_SETTINGS,
            "auth_file": str(directory / "users"),
            "auth_user": "postgres",
            "listen_addr": HOST,
            "listen_port": access.port,
            "unix_socket_dir": "",
            "pool_mode": pool_mode,
            "default_pool_size": pool_size,
            **(settings or {}),
        }
        lines = [f"{name} = {value}" for name, value in chosen.items()]
        databases = f"[databases]\n* = host={HOST} port={behind.port}\n"
        _write(directory / "users", f'"postgres" "{behind.password}"\n')
        _write(directory / "ini", "\n".join([databases, "[pgbouncer]", *lines, ""]))
        pooler = cls(directory, access)
        pooler.start_again()
        return pooler

    def start_again(self) -> None:
        """Start the stopped or killed one on its port; waits until it accepts connections."""
        command = [find("pgbouncer"), self.directory / "ini"]
        self._process = Process("pgbouncer", command, self.log, as_server_user=True)
        self._process.wait_until(self._is_ready)

    def stop(self) -> None:
        """End it at once, whoever is connected."""
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        """SIGKILL: connections break on both sides."""
        if self._process is not None:
            self._process.kill()

    def _is_ready(self) -> bool:
        return accepts(self.port)


def _write(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)
    give_away(file)
