"""A Redis (or Valkey) for tests, without persistence."""

import socket
from pathlib import Path

from tests.servers.binaries import find
from tests.servers.ports import HOST, free_port
from tests.servers.process import Process, server_owned


class Redis:
    """A running Redis; its log is `log` in the directory."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.port = port
        self.log = directory / "log"
        self.url = f"redis://{HOST}:{port}/0"
        self._process: Process | None = None

    @classmethod
    def start(cls, directory: Path, *, port: int | None = None) -> "Redis":
        """Start one in a directory that is empty or not there yet."""
        server_owned(directory)
        server = cls(directory, port or free_port())
        server.start_again()
        return server

    def start_again(self) -> None:
        """Start the stopped or killed server, empty, on its port; waits until it answers."""
        self._process = Process(
            "Redis",
            [
                find("redis"), "--bind", HOST, "--port", str(self.port), "--dir", self.directory,
                "--save", "", "--appendonly", "no", "--daemonize", "no", "--databases", "64",
            ],
            self.log,
        )  # fmt: skip
        self._process.wait_until(self._is_ready)

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        """SIGKILL: connections break without notice."""
        if self._process is not None:
            self._process.kill()

    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running()

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
