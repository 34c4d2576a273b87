"""`sealdesk webhooks verify`: verifies a captured webhook and names the mistake."""

import json as json_text
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from sealdesk.cli.output import JsonOption, make_console, print_json
from sealdesk.cli.webhooks import secret as secret_source
from sealdesk.client.webhook_mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import Captured, Mistake, find_mistake
from sealdesk.errors import ConfigurationError

_AGE_MISTAKES = ("timestamp_too_old", "timestamp_in_future")
EXAMPLES = f"""\b
Examples:
  sealdesk webhooks verify --headers-file headers.txt --body body.json
  sealdesk webhooks verify --id 0192f0c1-… --timestamp 1767225600 \\
      --signature 'v1,K5oZ…=' < body.json

\b
The secret is read from --secret-file, from {secret_source.VARIABLE} or from a
prompt. It is never an argument, because other users can see arguments.

\b
headers.txt contains the received headers, one per line or as a JSON object:
  webhook-id: 0192f0c1-…
  webhook-timestamp: 1767225600
  webhook-signature: v1,K5oZ…="""


WebhookId = Annotated[str, typer.Option(metavar="VALUE", help="Value of the header webhook-id.")]
Timestamp = Annotated[
    str, typer.Option(metavar="VALUE", help="Value of the header webhook-timestamp.")
]
Signature = Annotated[
    str, typer.Option(metavar="VALUE", help="Value of the header webhook-signature.")
]
AnyAge = Annotated[bool, typer.Option("--any-age", help="Ignore the age of the webhook.")]


def verify(
    id: WebhookId = "",
    timestamp: Timestamp = "",
    signature: Signature = "",
    headers_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with all headers, instead of the three options."),
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the body, byte for byte. [default: stdin]"),
    ] = None,
    secret_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the endpoint's secret.")
    ] = None,
    any_age: AnyAge = False,
    json: JsonOption = False,
) -> None:
    """Verify a webhook that you captured.

    If the webhook is valid, your program should accept it too. If not, prints the mistake and exits
    with 1. Never prints the expected signature.
    """
    options = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    headers = _read_headers(headers_file) if headers_file else {}
    webhook_id, at, signatures = (_strip(options[n] or headers.get(n, "")) for n in options)
    if not (webhook_id or at or signatures):
        raise ConfigurationError(
            "the headers are missing: give --headers-file, or --id, --timestamp and --signature"
        )
    secret = secret_source.read_secret(secret_file)
    captured = Captured(webhook_id, at, signatures, _read_body(body))
    now_s = int(time.time())
    mistake = find_mistake(secret, captured, now_s)
    if any_age and mistake in _AGE_MISTAKES:
        mistake = None
    _print_result(mistake, captured, now_s, json)
    if mistake:
        raise typer.Exit(1)


def _read_headers(file: Path) -> dict[str, str]:
    text = file.read_bytes().decode("utf-8-sig", "replace").strip()
    if text.startswith("{"):
        try:
            pairs = json_text.loads(text).items()
        except ValueError as error:
            raise ConfigurationError(
                f"{file} starts with {{ but is not valid JSON: {error}"
            ) from error
    else:
        pairs = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    return {name.strip().lower(): str(value).strip() for name, value in pairs}


def _strip(value: str) -> str:
    """Strip whitespace, and replace bytes of the command line that are not UTF-8 by `?`."""
    return value.strip().encode("utf-8", "replace").decode()


def _read_body(file: Path | None) -> bytes:
    if file is not None:
        return file.read_bytes()
    if sys.stdin.isatty():
        raise ConfigurationError(
            "the body is missing: name a file with --body, or redirect stdin with < body.json"
        )
    return sys.stdin.buffer.read()


def _print_result(mistake: Mistake | None, captured: Captured, now_s: int, json: bool) -> None:
    if json:
        meaning = MEANINGS[mistake] if mistake else None
        print_json({"valid": mistake is None, "mistake": mistake, "meaning": meaning})
        return
    screen = make_console()
    line = _result_line(mistake, captured, now_s)
    screen.print(line, soft_wrap=not screen.is_terminal)


def _result_line(mistake: Mistake | None, captured: Captured, now_s: int) -> str:
    if mistake:
        return f"[red]✗[/] not valid ({mistake}): {MEANINGS[mistake]}"
    age_s = now_s - int(captured.timestamp)
    when = f"{age_s} s ago" if age_s >= 0 else f"{-age_s} s from now"
    return f"[green]✓[/] valid: signed with this secret, {when}"
