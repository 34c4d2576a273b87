"""`sealdesk webhooks listen`: forwards a tenant's events to a program on this machine."""

import time
from contextlib import closing
from http.client import HTTPException
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

import msgspec
import typer

from sealdesk import __version__
from sealdesk.cli.output import make_console
from sealdesk.cli.requests import CREDENTIALS, api_url, describe_failure, find_connection
from sealdesk.cli.webhooks import secret as secret_source
from sealdesk.cli.webhooks.feed import Feed, Start
from sealdesk.cli.webhooks.mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import find_mistake_of_secret, key_of, mint_secret, sign
from sealdesk.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

_TIMEOUT_S = 15  # the timeout of webhook deliveries
_EXAMPLE = "http://localhost:3000/hooks"
EXAMPLES = f"""\b
Examples:
  sealdesk webhooks listen --forward-to {_EXAMPLE}
  sealdesk webhooks listen --forward-to {_EXAMPLE} \\
      --events ticket.created,reply.created

\b
Your program needs no public address and no endpoint in Sealdesk. The command
reads events with an API key and posts them as the service does, signed with a
new secret that it prints, or with {secret_source.VARIABLE}. It reports failed
requests and does not retry them. Ctrl-C prints the cursor to continue from.

{CREDENTIALS}"""


class _Event(msgspec.Struct):
    id: str
    type: str


class _ForwardResult(NamedTuple):
    """The result of one POST. status: None without a response. problem: "" on success."""

    status: int | None
    duration_ms: int
    problem: str


def listen(
    forward_to: Annotated[
        str, typer.Option(metavar="URL", help="URL of your program; localhost is allowed.")
    ],
    events: Annotated[
        str,
        typer.Option(
            metavar="TYPES", help="Only these event types, comma-separated. [default: all]"
        ),
    ] = "",
    since_beginning: Annotated[
        bool, typer.Option("--since-beginning", help="Start with the oldest stored event.")
    ] = False,
    cursor: Annotated[
        str,
        typer.Option(
            metavar="CURSOR", help="Continue after the cursor that an earlier run printed."
        ),
    ] = "",
) -> None:
    """Forward events to a program on your machine.

    Starts with the tenant's next event by default. Prints one line for each event: time, type, ID,
    status of your program's response and duration.
    """
    _check_options(forward_to, since_beginning, cursor)
    configured = secret_source.from_environment()
    secret = configured or mint_secret()
    key = _decode_secret(secret)
    screen = make_console()
    start = Start(events.replace(" ", ""), cursor, since_beginning)
    feed = Feed(start, lambda text: _print(screen, text, "yellow"))
    _print(screen, f"Forwarding events of {api_url()} to {forward_to}. Ctrl-C stops it.")
    source = f"of {secret_source.VARIABLE}" if configured else secret
    _print(screen, f"Signing secret: {source}\n", "bold")
    _forward_all(screen, feed, forward_to, key)


def _check_options(forward_to: str, since_beginning: bool, cursor: str) -> None:
    if find_connection(forward_to, _TIMEOUT_S) is None or not forward_to.isascii():
        raise ConfigurationError(
            f"--forward-to must be a URL such as {_EXAMPLE}, not {forward_to!r}"
        )
    if since_beginning and cursor:
        raise ConfigurationError("--since-beginning and --cursor exclude each other; give one")


def _decode_secret(secret: str) -> bytes:
    mistake = find_mistake_of_secret(secret)
    if mistake:
        raise ConfigurationError(f"{secret_source.VARIABLE}: {MEANINGS[mistake]}")
    return key_of(secret)


def _forward_all(screen: "Console", feed: Feed, url: str, key: bytes) -> None:
    count = 0
    try:
        for page in feed.pages():
            for payload in page:
                _forward(screen, url, key, payload)
                count += 1
    except KeyboardInterrupt:
        _print(screen, f"\nStopped after {count} {'event' if count == 1 else 'events'}.")
        if feed.cursor:
            _print(screen, f"To continue from here, add: --cursor {feed.cursor}")


def _forward(screen: "Console", url: str, key: bytes, payload: bytes) -> None:
    event = msgspec.json.decode(payload, type=_Event)
    result = _post_event(url, event, key, payload)
    at = time.strftime("%H:%M:%S")
    source = "-" if result.status is None else result.status
    line = f"{at}  {event.type:<21}  {event.id}  {source!s:>3}  {result.duration_ms:>5} ms"
    _print(screen, line, "red" if result.problem else "green")
    if result.problem:
        _print(screen, f"          {result.problem}", "red")


def _post_event(url: str, event: _Event, key: bytes, payload: bytes) -> _ForwardResult:
    started_s = time.monotonic()
    try:
        status, location = _send(url, _headers(event, key, payload), payload)
        problem = _explain_status(status, location)
    except (OSError, HTTPException) as error:
        status, problem = (
            None,
            f"no response from {url}: {describe_failure(error)}; is your program running?",
        )
    return _ForwardResult(status, round((time.monotonic() - started_s) * 1000), problem)


def _headers(event: _Event, key: bytes, payload: bytes) -> dict[str, str]:
    now_s = int(time.time())
    return {
        "content-type": "application/json",
        "user-agent": f"Sealdesk/{__version__}",
        "webhook-id": event.id,
        "webhook-timestamp": str(now_s),
        "webhook-signature": sign(key, event.id, now_s, payload),
    }


def _send(url: str, headers: dict[str, str], payload: bytes) -> tuple[int, str]:
    connection = find_connection(url, _TIMEOUT_S)
    if connection is None:
        raise OSError("no address")
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with closing(connection):
        connection.request("POST", target, payload, headers)
        response = connection.getresponse()
        return response.status, response.getheader("location", "")


def _explain_status(status: int, location: str) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return (
            f"Sealdesk does not follow redirects: set --forward-to to {location or 'the final URL'}"
        )
    if status == 410:
        return "Sealdesk would disable the endpoint at once: 410 means that it is gone for good"
    return "only 2xx counts as received: Sealdesk would retry for up to three days"


def _print(screen: "Console", text: str, style: str = "") -> None:
    screen.print(text, style=style, markup=False)
