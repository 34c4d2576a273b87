"""HTTP/1.1 whose request is written byte by byte: nothing is put in order on the way out."""

import json
import re
import socket
import ssl
from contextlib import closing
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from sealdesk.errors import ConfigurationError

_TIMEOUT_S = 20.0
_MOST_BYTES = 4 * 1024 * 1024
_PATH = re.compile(r"(/[\x21-\x7e]*)?")


class NoAnswer(Exception):
    """The connection could not be had, or it ended without an answer; the text says why."""


class Site(NamedTuple):
    """Where a service is reached. path: what stands before every path, such as /support, or ""."""

    scheme: str
    host: str
    port: int
    authority: str
    path: str


class Answer(NamedTuple):
    """An answer. headers: names in lower case. problem: its JSON object, {} for other bodies."""

    status: int
    headers: dict[str, str]
    problem: dict[str, Any]


def site_of(url: str) -> Site:
    """The parts of a public URL. Raises Unfit."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), 0
    path = parts.path.rstrip("/")
    rest = parts.query or parts.fragment or parts.username or not _PATH.fullmatch(path)
    if not (port and parts.hostname) or rest:
        raise ConfigurationError(
            f"--public-url must be an address such as https://desk.example.com, not {url}"
        )
    return Site(parts.scheme, parts.hostname, port, parts.netloc, path)


def exchange(site: Site, method: str, request: bytes) -> Answer:
    """Send these bytes over a connection of their own. Raises NoAnswer."""
    try:
        with closing(_connected(site)) as connection:
            _send(connection, request)
            response = HTTPResponse(connection, method=method)
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, _problem(response.read(_MOST_BYTES)))
    except (OSError, HTTPException) as error:
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NoAnswer(words) from error


def _connected(site: Site) -> socket.socket:
    connection = socket.create_connection((site.host, site.port), timeout=_TIMEOUT_S)
    if site.scheme == "http":
        return connection
    context = ssl.create_default_context()
    try:
        return context.wrap_socket(connection, server_hostname=site.host)
    except BaseException:
        connection.close()
        raise


def _send(connection: socket.socket, request: bytes) -> None:
    try:
        connection.sendall(request)
    except (BrokenPipeError, ConnectionResetError):
        # Whoever refuses a body may answer before it has come; the answer can still be read.
        return


def _problem(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
