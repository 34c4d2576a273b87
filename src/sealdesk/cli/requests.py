"""`sealdesk call` and `sealdesk sign`: signed requests from the terminal."""

import json as json_text
import os
import re
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

import typer

from sealdesk.cli.output import AsJson, as_json
from sealdesk.crypto.signing import Signed, body_sha256, message
from sealdesk.crypto.signing import sign as signature_of
from sealdesk.errors import ConfigurationError

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

DEFAULT_URL = "http://127.0.0.1:8000"
_TIMEOUT_S = 30
_METHOD = re.compile(r"[A-Z]+", re.ASCII)
_TARGET = re.compile(r"/[\x21-\x7e]*")
_SHAPES = {
    "SEALDESK_API_KEY": (re.compile(r"tk_live_[0-9a-f]{40}"), "tk_live_ and 40 hex characters"),
    "SEALDESK_API_SECRET": (re.compile(r"[0-9a-f]{64}"), "64 hex characters"),
}
CREDENTIALS = """\b
The key is read from SEALDESK_API_KEY and SEALDESK_API_SECRET, the address of the
service from SEALDESK_API_URL (http://127.0.0.1:8000 if left out)."""
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
    str, typer.Argument(metavar="PATH", help="Path with its query, percent-encoded as it is sent.")
]
Data = Annotated[
    str | None,
    typer.Option("--data", "-d", help="The JSON body; @FILE reads a file, @- reads stdin."),
]


class Away(ConfigurationError):
    """The service could not be reached, or broke off."""


class Request(NamedTuple):
    """A request that is ready to be sent."""

    parts: Signed
    signature: str
    headers: dict[str, str]


def api_url() -> str:
    """The service's address, without a slash at its end."""
    return (os.environ.get("SEALDESK_API_URL") or DEFAULT_URL).rstrip("/")


def call(
    method: Method,
    path: Target,
    data: Data = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="A further header: 'Name: value'.")
    ] = None,
    include: Annotated[
        bool, typer.Option("--include", "-i", help="Print the answer's headers too.")
    ] = False,
) -> None:
    """Send a signed request and print the answer.

    The status and the headers go to stderr, the body to stdout. Fails (exit code 1) from status
    400 on.
    """
    request = signed(method, path, data)
    for line in header or ():
        name, _, value = line.partition(":")
        request.headers[name.strip()] = value.strip()
    answer, body = exchange(request, _TIMEOUT_S)
    print(f"{answer.status} {answer.reason}", file=sys.stderr)
    if include:
        print("\n".join(f"{n}: {v}" for n, v in answer.getheaders()), file=sys.stderr)
    print(_readable(body), end="", flush=True)
    if answer.status >= 400:
        raise typer.Exit(1)


def sign(
    method: Method,
    path: Target,
    data: Data = None,
    timestamp: Annotated[
        int | None, typer.Option(help="Unix seconds to sign for, instead of now.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Show how a request is signed, part by part."""
    request = signed(method, path, data, timestamp)
    parts = {
        "timestamp": request.parts.timestamp.decode(),
        "body_sha256": body_sha256(request.parts.body).decode(),
        "message": message(request.parts).decode(),
        "signature": request.signature,
        "headers": request.headers,
    }
    if json:
        as_json(parts)
        return
    for name in ("timestamp", "body_sha256", "message", "signature"):
        print(f"{name.replace('_', ' '):<12} {parts[name]}")
    print("headers")
    for name, value in request.headers.items():
        print(f"  {name}: {value}")


def signed(
    method: str, path: str, data: str | None = None, timestamp: int | None = None
) -> Request:
    """A request with the key of the environment. Raises Unfit."""
    api_key, secret = credential("SEALDESK_API_KEY"), credential("SEALDESK_API_SECRET")
    target = urlsplit(api_url()).path + path
    if not _METHOD.fullmatch(method.upper()):
        raise ConfigurationError(f"{method!r} is not a method such as GET")
    if not _TARGET.fullmatch(path):
        raise ConfigurationError(
            f"{path!r} is not a path as it is sent: it begins with / and has spaces and all that"
            " is not ASCII percent-encoded (a space is %20)"
        )
    now = str(int(time.time()) if timestamp is None else timestamp)
    parts = Signed(now.encode(), method.upper().encode(), target.encode(), _body(data))
    signature = signature_of(secret, parts)
    headers = {"x-api-key": api_key, "x-api-timestamp": now, "x-api-signature": signature}
    if parts.body:
        headers["content-type"] = "application/json"
    return Request(parts, signature, headers)


def credential(name: str) -> str:
    """SEALDESK_API_KEY or SEALDESK_API_SECRET, in its shape. Raises Unfit."""
    value = os.environ.get(name, "")
    pattern, shape = _SHAPES[name]
    if not pattern.fullmatch(value):
        state = "is not set" if not value else "is not a key of ours"
        raise ConfigurationError(
            f"{name} {state}: it must be {shape}; sealdesk keys create prints both"
        )
    return value


def _body(data: str | None) -> bytes:
    if data is None:
        return b""
    if data == "@-":
        return sys.stdin.buffer.read()
    return Path(data[1:]).read_bytes() if data.startswith("@") else data.encode()


def exchange(request: Request, timeout_s: float) -> tuple["HTTPResponse", bytes]:
    """Send it; the answer and its body. Raises Away, Unfit."""
    from http.client import HTTPException

    parts = request.parts
    with closing(connection(timeout_s)) as open_connection:
        try:
            open_connection.request(
                parts.method.decode(), parts.target.decode(), parts.body, request.headers
            )
            answer = open_connection.getresponse()
            return answer, answer.read()
        except (OSError, HTTPException) as error:
            raise Away(
                f"no answer from {api_url()} (SEALDESK_API_URL): {reason(error)};"
                " is `sealdesk serve` running there?"
            ) from error
        except ValueError as error:
            raise ConfigurationError(f"a header cannot be sent: {error}") from error


def reason(error: Exception) -> str:
    """Why there was no answer, as shortly as the system says it."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def connection(timeout_s: float) -> "HTTPConnection":
    """A connection to the service, not yet open. Raises Unfit."""
    made = connection_to(api_url(), timeout_s)
    if made is None:
        raise ConfigurationError(
            f"SEALDESK_API_URL must be an address such as {DEFAULT_URL}, not {api_url()!r}"
        )
    return made


def connection_to(address: str, timeout_s: float) -> "HTTPConnection | None":
    """A connection, not yet open; None when this is no http:// or https:// address."""
    from http.client import HTTPConnection, HTTPSConnection

    with suppress(ValueError):  # a port that is none, or a name that cannot be one
        url = urlsplit(address)
        if url.hostname and url.scheme == "http":
            return HTTPConnection(url.hostname, url.port, timeout=timeout_s)
        if url.hostname and url.scheme == "https":
            return HTTPSConnection(url.hostname, url.port, timeout=timeout_s)
    return None


def _readable(body: bytes) -> str:
    """JSON set out for reading, anything else as it is."""
    try:
        return json_text.dumps(json_text.loads(body), indent=2, ensure_ascii=False) + "\n"
    except ValueError:
        return body.decode("utf-8", "replace")
