"""Sends HTTP/1.1 requests byte for byte, without normalising them as an HTTP client would."""

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
_MAX_BODY_BYTES = 4 * 1024 * 1024
_PATH = re.compile(r"(/[\x21-\x7e]*)?")


class NoResponse(Exception):
    """The connection failed or ended without a response; the message says why."""


class UntrustedCertificate(NoResponse):
    """The certificate of the site has ended, is for another name, or its issuer is unknown."""


class Site(NamedTuple):
    """The parts of a public URL. path: a prefix of every request path, such as /support, or ""."""

    scheme: str
    host: str
    port: int
    authority: str
    path: str


class Response(NamedTuple):
    """headers: names in lower case. problem: the JSON object of the body, {} for other bodies."""

    status: int
    headers: dict[str, str]
    problem: dict[str, Any]


def parse_site(url: str) -> Site:
    """Parse a public URL. Raises ConfigurationError."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), 0
    path = parts.path.rstrip("/")
    has_more = parts.query or parts.fragment or parts.username or not _PATH.fullmatch(path)
    if not (port and parts.hostname) or has_more:
        raise ConfigurationError(
            f"--public-url must be a URL such as https://desk.example.com, not {url}"
        )
    return Site(parts.scheme, parts.hostname, port, parts.netloc, path)


def send(site: Site, method: str, request: bytes) -> Response:
    """Send these bytes over a new connection and read the response. Raises NoResponse."""
    try:
        with closing(_connect(site)) as connection:
            _send(connection, request)
            response = HTTPResponse(connection, method=method)
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Response(
                response.status, headers, _parse_problem(response.read(_MAX_BODY_BYTES))
            )
    except ssl.SSLCertVerificationError as error:
        raise UntrustedCertificate(error.verify_message) from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NoResponse(reason) from error


def _connect(site: Site) -> socket.socket:
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
        # A server that refuses a body may respond before it has read it all; the response can
        # still be read.
        return


def _parse_problem(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
