"""`sealdesk webhooks listen`: forwards a tenant's events to a program on this machine."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import httpx
import msgspec
import typer

from sealdesk import __version__
from sealdesk.cli.integration import CREDENTIALS
from sealdesk.cli.integration.desk import open_desk
from sealdesk.cli.output import make_console
from sealdesk.cli.webhooks import secret as secret_source
from sealdesk.client import ApiError, Desk, RetryPolicy, SealdeskError, operations
from sealdesk.client.credentials import is_http_url
from sealdesk.client.operation import Operation
from sealdesk.client.results import Page
from sealdesk.client.sync.iterators import Feed
from sealdesk.client.webhook_mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import find_mistake_of_secret, key_of, mint_secret, sign
from sealdesk.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
_TIMEOUT_S = 15  # the timeout of webhook deliveries
_WAIT_S = 30  # the longest wait that the service accepts
_ADVICE = {
    "api_key_revoked": "Create another one: sealdesk keys create.",
    "insufficient_permissions": "Use a key with tickets:read, replies:read or customers:read.",
    "cursor_expired": "Omit --cursor to start at the next event, or use --since-beginning.",
    "invalid_cursor": "Use a cursor that this command printed, with the same --events.",
    "not_found": "Is SEALDESK_API_URL the URL of a Sealdesk service with an events feed?",
}
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
    types = [name for name in events.replace(" ", "").split(",") if name]
    with open_desk(retry=RetryPolicy(retries=0)) as desk:
        feed = _open_feed(desk, screen, types, cursor, since_beginning)
        _print(screen, f"Forwarding events of {desk.base_url} to {forward_to}. Ctrl-C stops it.")
        source = f"of {secret_source.VARIABLE}" if configured else secret
        _print(screen, f"Signing secret: {source}\n", "bold")
        _forward_all(screen, feed, forward_to, key)


def _open_feed(
    desk: Desk, screen: "Console", types: list[str], cursor: str, since_beginning: bool
) -> Feed[msgspec.Raw]:
    """Return the feed, whose start is fixed now and not when the first event arrives."""
    start = "oldest" if since_beginning else "latest"

    def read_page(at: str | None, wait_s: int) -> Operation[Page[msgspec.Raw]]:
        return operations.list_event_rows(types, start, at, wait_s)

    def report(error: SealdeskError | None, pause_s: float) -> None:
        text = f"Retrying in {pause_s:g} s: {error}" if error else None
        _print(screen, text or f"{desk.base_url} responds again; no event was missed", "yellow")

    first = _read_with_advice(lambda: desk.run(read_page(cursor or None, 0)))
    begin = cursor or (None if since_beginning else first.resume_cursor)
    return Feed(desk.run, read_page, cursor=begin, wait_s=_WAIT_S, on_failure=report)


def _read_with_advice(read: Callable[[], T]) -> T:
    """Raises ConfigurationError, which says what to do about the errors of the API."""
    try:
        return read()
    except ApiError as error:
        advice = _ADVICE.get(error.code, "")
        raise ConfigurationError(f"{error} {advice}".strip()) from error


def _check_options(forward_to: str, since_beginning: bool, cursor: str) -> None:
    if not is_http_url(forward_to):
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


def _forward_all(screen: "Console", feed: Feed[msgspec.Raw], url: str, key: bytes) -> None:
    count, pages, cursor = 0, feed.pages(), feed.cursor
    try:
        while True:
            page = _read_with_advice(lambda: next(pages))
            for number, payload in enumerate(page.data, 1):
                event = msgspec.json.decode(payload, type=_Event)
                result = _post_event(url, event, key, bytes(payload))
                # Before the line is shown: Ctrl-C behind it must not repeat its event.
                count += 1
                cursor = page.resume_cursor if number == len(page.data) else cursor
                _show(screen, event, result)
            cursor = page.resume_cursor
    except KeyboardInterrupt:
        _print(screen, f"\nStopped after {count} {'event' if count == 1 else 'events'}.")
        if cursor:
            _print(screen, f"To continue from here, add: --cursor {cursor}")


def _show(screen: "Console", event: _Event, result: "_ForwardResult") -> None:
    at = time.strftime("%H:%M:%S")
    source = "-" if result.status is None else result.status
    line = f"{at}  {event.type:<21}  {event.id}  {source!s:>3}  {result.duration_ms:>5} ms"
    _print(screen, line, "red" if result.problem else "green")
    if result.problem:
        _print(screen, f"          {result.problem}", "red")


def _post_event(url: str, event: _Event, key: bytes, payload: bytes) -> _ForwardResult:
    started_s = time.monotonic()
    try:
        response = httpx.post(
            url,
            content=payload,
            headers=_headers(event, key, payload),
            timeout=_TIMEOUT_S,
            follow_redirects=False,
            trust_env=False,
        )
    except httpx.RequestError as error:
        status, problem = None, f"no response from {url}: {error}; is your program running?"
    else:
        status = response.status_code
        problem = _explain_status(status, response.headers.get("location", ""))
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
