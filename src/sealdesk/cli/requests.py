"""`sealdesk call` and `sealdesk sign`: send and explain signed requests."""

import json as json_text
import os
import re
import sys
import time
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import typer

from sealdesk.cli.output import JsonOption, print_json
from sealdesk.crypto.signing import Signed, body_sha256, message
from sealdesk.crypto.signing import sign as signature_of
from sealdesk.errors import ConfigurationError

DEFAULT_URL = "http://127.0.0.1:8000"
_TIMEOUT_S = 30
_METHOD = re.compile(r"[A-Z]+", re.ASCII)
_TARGET = re.compile(r"/[\x21-\x7e]*")
_FORMATS = {
    "SEALDESK_API_KEY": (re.compile(r"tk_live_[0-9a-f]{40}"), "tk_live_ and 40 hex characters"),
    "SEALDESK_API_SECRET": (re.compile(r"[0-9a-f]{64}"), "64 hex characters"),
}
CREDENTIALS = """\b
The API key is read from SEALDESK_API_KEY and SEALDESK_API_SECRET, and the URL of
the service from SEALDESK_API_URL (default: http://127.0.0.1:8000)."""
EXAMPLES = f"""\b
Examples:
  sealdesk call GET '/api/v1/external/tickets?status=open&per_page=5'
  sealdesk call POST /api/v1/external/tickets --data '{{"subject": "Hello",
      "description": "Is it there?", "customer": {{"email": "bo@example.test"}}}}'
  sealdesk call PATCH /api/v1/external/tickets/ID --data @change.json

{CREDENTIALS}"""
SIGN_EXAMPLES = f"""\b
Example:
  sealdesk sign GET '/api/v1/external/tickets?status=open'

{CREDENTIALS}"""

Method = Annotated[str, typer.Argument(metavar="METHOD", help="GET, POST, PATCH or DELETE.")]
Target = Annotated[
    str, typer.Argument(metavar="PATH", help="Path and query, percent-encoded; sent byte for byte.")
]
Data = Annotated[
    str | None,
    typer.Option("--data", "-d", help="JSON body; @FILE reads a file, @- reads stdin."),
]


class ServiceUnreachable(ConfigurationError):
    """The service could not be reached, or closed the connection without a response."""


class SignedRequest(NamedTuple):
    """A request with the headers of its signature."""

    parts: Signed
    signature: str
    headers: dict[str, str]


def api_url() -> str:
    """Return the URL of the service, without a trailing slash."""
    return (os.environ.get("SEALDESK_API_URL") or DEFAULT_URL).rstrip("/")


def call(
    method: Method,
    path: Target,
    data: Data = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header", "-H", help="An additional header: 'Name: value'; repeat for several."
        ),
    ] = None,
    include: Annotated[
        bool, typer.Option("--include", "-i", help="Print the response headers too.")
    ] = False,
) -> None:
    """Send a signed request and print the response.

    Prints status and headers on stderr and the body on stdout. Exits with 1 if the status is 400
    or higher.
    """
    request = sign_request(method, path, data)
    for line in header or ():
        name, _, value = line.partition(":")
        request.headers[name.strip()] = value.strip()
    response, body = send(request, _TIMEOUT_S)
    print(f"{response.status} {response.reason}", file=sys.stderr)
    if include:
        print("\n".join(f"{n}: {v}" for n, v in response.getheaders()), file=sys.stderr)
    print(_format_body(body), end="", flush=True)
    if response.status >= 400:
        raise typer.Exit(1)


def sign(
    method: Method,
    path: Target,
    data: Data = None,
    timestamp: Annotated[
        int | None, typer.Option(help="Unix time in seconds to sign. [default: now]")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print the parts of a request's signature.

    Does not send the request.
    """
    request = sign_request(method, path, data, timestamp)
    parts = {
        "timestamp": request.parts.timestamp.decode(),
        "body_sha256": body_sha256(request.parts.body).decode(),
        "message": message(request.parts).decode(),
        "signature": request.signature,
        "headers": request.headers,
    }
    if json:
        print_json(parts)
        return
    for name in ("timestamp", "body_sha256", "message", "signature"):
        print(f"{name.replace('_', ' '):<12} {parts[name]}")
    print("headers")
    for name, value in request.headers.items():
        print(f"  {name}: {value}")


def sign_request(
    method: str, path: str, data: str | None = None, timestamp: int | None = None
) -> SignedRequest:
    """Sign a request with the API key of the environment. Raises ConfigurationError."""
    api_key, secret = get_credential("SEALDESK_API_KEY"), get_credential("SEALDESK_API_SECRET")
    target = urlsplit(api_url()).path + path
    if not _METHOD.fullmatch(method.upper()):
        raise ConfigurationError(f"{method!r} is not an HTTP method such as GET")
    if not _TARGET.fullmatch(path):
        raise ConfigurationError(
            f"{path!r} is not a request path: it must begin with /, with spaces and non-ASCII"
            " characters percent-encoded (a space is %20)"
        )
    now = str(int(time.time()) if timestamp is None else timestamp)
    parts = Signed(now.encode(), method.upper().encode(), target.encode(), _read_body(data))
    signature = signature_of(secret, parts)
    headers = {"x-api-key": api_key, "x-api-timestamp": now, "x-api-signature": signature}
    if parts.body:
        headers["content-type"] = "application/json"
    return SignedRequest(parts, signature, headers)


def get_credential(name: str) -> str:
    """Read SEALDESK_API_KEY or SEALDESK_API_SECRET. Raises ConfigurationError if malformed."""
    value = os.environ.get(name, "")
    pattern, expected = _FORMATS[name]
    if not pattern.fullmatch(value):
        state = "is not set" if not value else "is malformed"
        raise ConfigurationError(
            f"{name} {state}: it must be {expected}; sealdesk keys create prints both"
        )
    return value


def _read_body(data: str | None) -> bytes:
    if data is None:
        return b""
    if data == "@-":
        return sys.stdin.buffer.read()
    return Path(data[1:]).read_bytes() if data.startswith("@") else data.encode()


def send(request: SignedRequest, timeout_s: float) -> tuple[HTTPResponse, bytes]:
    """Send a request; return the response and its body.

    Raises ServiceUnreachable, ConfigurationError.
    """
    parts = request.parts
    with closing(connect(timeout_s)) as http_connection:
        try:
            http_connection.request(
                parts.method.decode(), parts.target.decode(), parts.body, request.headers
            )
            response = http_connection.getresponse()
            return response, response.read()
        except (OSError, HTTPException) as error:
            raise ServiceUnreachable(
                f"no response from {api_url()} (SEALDESK_API_URL): {describe_failure(error)};"
                " is `sealdesk serve` running there?"
            ) from error
        except ValueError as error:
            raise ConfigurationError(f"a header cannot be sent: {error}") from error


def describe_failure(error: Exception) -> str:
    """Return the shortest description of an error that the system gives."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def connect(timeout_s: float) -> HTTPConnection:
    """Return an unopened connection to the service. Raises ConfigurationError."""
    http_connection = find_connection(api_url(), timeout_s)
    if http_connection is None:
        raise ConfigurationError(
            f"SEALDESK_API_URL must be a URL such as {DEFAULT_URL}, not {api_url()!r}"
        )
    return http_connection


def find_connection(address: str, timeout_s: float) -> HTTPConnection | None:
    """Return an unopened connection, or None if the address is not an http:// or https:// URL."""
    with suppress(ValueError):  # an invalid port or host name
        url = urlsplit(address)
        if url.hostname and url.scheme == "http":
            return HTTPConnection(url.hostname, url.port, timeout=timeout_s)
        if url.hostname and url.scheme == "https":
            return HTTPSConnection(url.hostname, url.port, timeout=timeout_s)
    return None


def _format_body(body: bytes) -> str:
    """Return JSON indented and any other body unchanged."""
    try:
        return json_text.dumps(json_text.loads(body), indent=2, ensure_ascii=False) + "\n"
    except ValueError:
        return body.decode("utf-8", "replace")
