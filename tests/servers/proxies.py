"""HAProxy, nginx and Varnish for tests, with the configuration that a test gives."""

import re
import signal
import subprocess
from pathlib import Path

from tests.servers.binaries import find
from tests.servers.ports import HOST, free_port
from tests.servers.process import Process, ServerFailed, accepts, environment, server_owned

_BOUND = re.compile(rf"\b(?:bind|listen)\s+(?:{re.escape(HOST)}|\*)?:?(\d+)\b")
# nginx: paths whose defaults are directories of the system.
_NGINX = """
daemon off;
pid {directory}/pid;
error_log {directory}/log notice;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
{sites}
}}
"""


class Haproxy:
    """A running HAProxy in the foreground; its log is `log` in the directory."""

    def __init__(self, directory: Path, process: Process) -> None:
        self.directory = directory
        self._process = process

    @classmethod
    def start(cls, directory: Path, config: str) -> "Haproxy":
        """Start one with this whole configuration; waits until its bind lines accept.

        Raises ServerFailed with HAProxy's own words when it cannot read it.
        """
        file = server_owned(directory) / "haproxy.cfg"
        file.write_text(config)
        program = find("haproxy")
        _check("HAProxy", [program, "-c", "-f", file])
        process = Process("HAProxy", [program, "-db", "-f", file], directory / "log")
        process.wait_until(lambda: _all_accept(config))
        return cls(directory, process)

    def stop(self) -> None:
        """End it at once, whatever is under way."""
        self._process.stop()

    def kill(self) -> None:
        self._process.kill()


class Nginx:
    """A running nginx in the foreground; its log is `log` in the directory."""

    def __init__(self, directory: Path, process: Process) -> None:
        self.directory = directory
        self._process = process

    @classmethod
    def start(cls, directory: Path, sites: str) -> "Nginx":
        """Start one with these blocks (server, upstream, map), which stand inside http {}.

        Waits until their listen lines accept. Raises ServerFailed with nginx's own words when it
        cannot read them.
        """
        file = server_owned(directory) / "nginx.conf"
        file.write_text(_NGINX.format(directory=directory, sites=sites))
        command: list[str | Path] = [
            find("nginx"),
            "-p",
            directory,
            "-e",
            directory / "log",
            "-c",
            file,
        ]
        _check("nginx", [*command, "-t", "-q"])
        process = Process("nginx", command, directory / "log")
        process.wait_until(lambda: _all_accept(sites))
        return cls(directory, process)

    def stop(self) -> None:
        """End it once requests under way are answered."""
        self._process.stop(signal.SIGQUIT)

    def kill(self) -> None:
        self._process.kill()


class Varnish:
    """A running Varnish with its built-in configuration, in front of a port of loopback."""

    def __init__(self, port: int, process: Process) -> None:
        self.port = port
        self._process = process

    @classmethod
    def start(cls, directory: Path, backend: int) -> "Varnish":
        """Start one; waits until it accepts, which takes a second: it compiles its rules as C."""
        # Varnish makes its own directory in it, for users of its own that it changes to as root.
        directory.mkdir(mode=0o711)
        port = free_port()
        command: list[str | Path] = [
            find("varnish"),
            "-F",
            *("-a", f"{HOST}:{port}"),
            *("-b", f"{HOST}:{backend}"),
            *("-n", directory / "work"),
            *("-s", "malloc,16m"),
            *("-T", "none"),
        ]
        process = Process("Varnish", command, directory / "log")
        process.wait_until(lambda: accepts(port))
        return cls(port, process)

    def kill(self) -> None:
        self._process.kill()


def _check(name: str, command: list[str | Path]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env=environment()
    )
    if done.returncode != 0:
        raise ServerFailed(f"{name} refuses its configuration:\n{done.stdout}{done.stderr}")


def _all_accept(config: str) -> bool:
    ports = [int(port) for port in _BOUND.findall(config)]
    assert ports, "no bind or listen line names a port of loopback"
    return all(accepts(port) for port in ports)
