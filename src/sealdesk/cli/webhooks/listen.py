"""`sealdesk webhooks listen`: events of a tenant, sent to a program on the developer's machine."""

import time
from contextlib import closing
from http.client import HTTPException
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

import msgspec
import typer

from sealdesk import __version__
from sealdesk.cli.output import console
from sealdesk.cli.requests import CREDENTIALS, api_url, connection_to, reason
from sealdesk.cli.webhooks import secret as secret_source
from sealdesk.cli.webhooks.feed import Feed, Start
from sealdesk.cli.webhooks.mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import find_mistake_of_secret, key_of, mint_secret, sign
from sealdesk.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

_TIMEOUT_S = 15  # as Sealdesk waits for an endpoint
_EXAMPLE = "http://localhost:3000/hooks"
EXAMPLES = f"""\b
Examples:
  sealdesk webhooks listen --forward-to {_EXAMPLE}
  sealdesk webhooks listen --forward-to {_EXAMPLE} \\
      --events ticket.created,reply.created

\b
Your program needs no public address and no endpoint at Sealdesk: events are
fetched with an API key and posted to it as the service would, signed with the
secret that is printed, or that of {secret_source.VARIABLE}. What fails is
told and not sent again; Ctrl-C prints how to go on later.

{CREDENTIALS}"""


class _Event(msgspec.Struct):
    id: str
    type: str


class _Taken(NamedTuple):
    """What became of an event. status: None without an answer. trouble: "" when all is well."""

    status: int | None
    duration_ms: int
    trouble: str


def listen(
    forward_to: Annotated[
        str, typer.Option(metavar="URL", help="Your program's address; localhost is welcome.")
    ],
    events: Annotated[
        str, typer.Option(metavar="TYPES", help="Only these, comma-separated. [default: all]")
    ] = "",
    since_beginning: Annotated[
        bool, typer.Option("--since-beginning", help="Begin with the oldest event kept.")
    ] = False,
    cursor: Annotated[
        str, typer.Option(metavar="CURSOR", help="Go on from where an earlier run stopped.")
    ] = "",
) -> None:
    """Send events to a program on your machine.

    Begins with the tenant's next event unless told otherwise. Each line is one event: when, its
    type, its id, what your program answered, and after how long.
    """
    _check(forward_to, since_beginning, cursor)
    given = secret_source.from_environment()
    secret = given or mint_secret()
    key = _key(secret)
    screen = console()
    start = Start(events.replace(" ", ""), cursor, since_beginning)
    feed = Feed(start, lambda text: _say(screen, text, "yellow"))
    _say(screen, f"Listening to {api_url()}; events go to {forward_to}. Ctrl-C stops.")
    shown = f"of {secret_source.VARIABLE}" if given else secret
    _say(screen, f"Signing secret: {shown}\n", "bold")
    _follow(screen, feed, forward_to, key)


def _check(forward_to: str, since_beginning: bool, cursor: str) -> None:
    if connection_to(forward_to, _TIMEOUT_S) is None or not forward_to.isascii():
        raise ConfigurationError(
            f"--forward-to must be an address such as {_EXAMPLE}, not {forward_to!r}"
        )
    if since_beginning and cursor:
        raise ConfigurationError(
            "--since-beginning and --cursor say two places to begin at; give one"
        )


def _key(secret: str) -> bytes:
    mistake = find_mistake_of_secret(secret)
    if mistake:
        raise ConfigurationError(f"{secret_source.VARIABLE}: {MEANINGS[mistake]}")
    return key_of(secret)


def _follow(screen: "Console", feed: Feed, url: str, key: bytes) -> None:
    count = 0
    try:
        for page in feed.pages():
            for payload in page:
                _forward(screen, url, key, payload)
                count += 1
    except KeyboardInterrupt:
        _say(screen, f"\nStopped after {count} {'event' if count == 1 else 'events'}.")
        if feed.cursor:
            _say(screen, f"To go on from here, add: --cursor {feed.cursor}")


def _forward(screen: "Console", url: str, key: bytes, payload: bytes) -> None:
    event = msgspec.json.decode(payload, type=_Event)
    taken = _post(url, event, key, payload)
    at = time.strftime("%H:%M:%S")
    shown = "-" if taken.status is None else taken.status
    line = f"{at}  {event.type:<21}  {event.id}  {shown!s:>3}  {taken.duration_ms:>5} ms"
    _say(screen, line, "red" if taken.trouble else "green")
    if taken.trouble:
        _say(screen, f"          {taken.trouble}", "red")


def _post(url: str, event: _Event, key: bytes, payload: bytes) -> _Taken:
    began_s = time.monotonic()
    try:
        status, location = _answer(url, _headers(event, key, payload), payload)
        trouble = _trouble(status, location)
    except (OSError, HTTPException) as error:
        status, trouble = None, f"no answer from {url}: {reason(error)}; is your program running?"
    return _Taken(status, round((time.monotonic() - began_s) * 1000), trouble)


def _headers(event: _Event, key: bytes, payload: bytes) -> dict[str, str]:
    now_s = int(time.time())
    return {
        "content-type": "application/json",
        "user-agent": f"Sealdesk/{__version__}",
        "webhook-id": event.id,
        "webhook-timestamp": str(now_s),
        "webhook-signature": sign(key, event.id, now_s, payload),
    }


def _answer(url: str, headers: dict[str, str], payload: bytes) -> tuple[int, str]:
    connection = connection_to(url, _TIMEOUT_S)
    if connection is None:
        raise OSError("no address")
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with closing(connection):
        connection.request("POST", target, payload, headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("location", "")


def _trouble(status: int, location: str) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return f"redirects are not followed: forward to {location or 'the final address'} at once"
    if status == 410:
        return "Sealdesk would disable the endpoint at once: 410 says that it is gone for good"
    return "only 2xx counts as received: Sealdesk would send it again, for up to three days"


def _say(screen: "Console", text: str, style: str = "") -> None:
    screen.print(text, style=style, markup=False)
