"""`sealdesk call` and `sealdesk sign`: send and explain signed requests."""

import json as json_text
import re
import sys
import time
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from sealdesk.cli.integration import CREDENTIALS
from sealdesk.cli.integration.desk import open_desk
from sealdesk.cli.output import JsonOption, format_json, print_json
from sealdesk.client import RetryPolicy
from sealdesk.client.credentials import read_credentials, read_url
from sealdesk.client.responses import find_error
from sealdesk.crypto.signing import Signed, body_sha256, message
from sealdesk.crypto.signing import sign as signature_of
from sealdesk.errors import ConfigurationError

_METHOD = re.compile(r"[A-Z]+", re.ASCII)
_TARGET = re.compile(r"/[\x21-\x7e]*")
_NOT_PRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
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
    str | None, typer.Option("--data", "-d", help="JSON body; @FILE reads a file, @- reads stdin.")
]


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
    retries: Annotated[
        int,
        typer.Option(
            min=0, max=20, help="Attempts after a temporary failure; a POST takes effect once."
        ),
    ] = 0,
) -> None:
    """Send a signed request and print the response.

    Prints the status and what was ignored on stderr, and the body on stdout. Exits with 1 if the
    status is 400 or higher. A POST has an Idempotency-Key. Redirects are not followed.
    """
    method = _check(method, path)
    headers = dict(_read_header(line) for line in header or ())
    with open_desk(retry=RetryPolicy(retries=retries)) as desk:
        response = desk.request(method, path, read_body(data), headers)
    print(f"{response.status_code} {response.reason_phrase}", file=sys.stderr)
    if include:
        print("\n".join(f"{n}: {v}" for n, v in response.headers.multi_items()), file=sys.stderr)
    elif "x-warnings" in response.headers:
        print(f"x-warnings: {response.headers['x-warnings']}", file=sys.stderr)
    print(_format_body(response.content), end="", flush=True)
    error = find_error(response)
    if error is not None:
        advice = getattr(error, "hint", str(error))
        if advice:
            print(f"sealdesk: {advice}", file=sys.stderr)
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
    method = _check(method, path)
    api_key, secret = read_credentials()
    target = urlsplit(read_url()).path + path
    at = str(int(time.time()) if timestamp is None else timestamp)
    signed = Signed(at.encode(), method.encode(), target.encode(), read_body(data))
    signature = signature_of(secret, signed)
    headers = {"x-api-key": api_key, "x-api-timestamp": at, "x-api-signature": signature}
    if signed.body:
        headers["content-type"] = "application/json"
    parts = {
        "timestamp": at,
        "body_sha256": body_sha256(signed.body).decode(),
        "message": message(signed).decode(),
        "signature": signature,
    }
    if json:
        print_json({**parts, "headers": headers})
        return
    for name, value in parts.items():
        print(f"{name.replace('_', ' '):<12} {value}")
    print("headers")
    for name, value in headers.items():
        print(f"  {name}: {value}")


def read_body(data: str | None) -> bytes:
    """Return the bytes of --data: a text, a file after @, or stdin after @-."""
    if data is None:
        return b""
    if data == "@-":
        return sys.stdin.buffer.read()
    return Path(data[1:]).read_bytes() if data.startswith("@") else data.encode()


def _check(method: str, path: str) -> str:
    """Return the method in upper case. Raises ConfigurationError."""
    if not _METHOD.fullmatch(method.upper()):
        raise ConfigurationError(f"{method!r} is not an HTTP method such as GET")
    if not _TARGET.fullmatch(path):
        raise ConfigurationError(
            f"{path!r} is not a request path: it must begin with /, with spaces and non-ASCII"
            " characters percent-encoded (a space is %20)"
        )
    return method.upper()


def _read_header(line: str) -> tuple[str, str]:
    name, separator, value = line.partition(":")
    if not separator or not name.strip():
        raise ConfigurationError(f"a header must have the form 'Name: value', not {line!r}")
    return name.strip(), value.strip()


def _format_body(body: bytes) -> str:
    """Return JSON indented, and the lines of any other body without control characters."""
    try:
        return format_json(json_text.loads(body)) + "\n"
    except ValueError:
        return _NOT_PRINTABLE.sub("\N{REPLACEMENT CHARACTER}", body.decode("utf-8", "replace"))
