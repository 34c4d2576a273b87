"""`sealdesk webhooks verify`: is a captured webhook genuine, and if not, why?"""

import json as json_text
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from sealdesk.cli.output import AsJson, as_json, console
from sealdesk.cli.webhooks import secret as secret_source
from sealdesk.cli.webhooks.mistakes import MEANINGS
from sealdesk.crypto.webhook_signing import Captured, Mistake, find_mistake
from sealdesk.errors import ConfigurationError

_AGELESS = ("timestamp_too_old", "timestamp_in_future")
EXAMPLES = f"""\b
Examples:
  sealdesk webhooks verify --headers-file headers.txt --body body.json
  sealdesk webhooks verify --id 0192f0c1-… --timestamp 1767225600 \\
      --signature 'v1,K5oZ…=' < body.json

\b
The secret is read from {secret_source.VARIABLE} or --secret-file, or asked
for. It is never an argument, which other users of the machine could see.

\b
headers.txt holds the headers as they arrived, one a line or as a JSON object:
  webhook-id: 0192f0c1-…
  webhook-timestamp: 1767225600
  webhook-signature: v1,K5oZ…="""


def verify(
    id: Annotated[str, typer.Option(metavar="VALUE", help="The header webhook-id.")] = "",
    timestamp: Annotated[
        str, typer.Option(metavar="VALUE", help="The header webhook-timestamp.")
    ] = "",
    signature: Annotated[
        str, typer.Option(metavar="VALUE", help="The header webhook-signature.")
    ] = "",
    headers_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with all headers, instead.")
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The body, byte for byte; stdin if left out."),
    ] = None,
    secret_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the endpoint's secret.")
    ] = None,
    any_age: Annotated[bool, typer.Option("--any-age", help="Leave aside how old it is.")] = False,
    json: AsJson = False,
) -> None:
    """Check a webhook that you captured.

    Says that it is valid, and then your own program should accept it, or names the mistake and
    fails (exit code 1). The expected signature is never shown.
    """
    given = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    headers = _headers_in(headers_file) if headers_file else {}
    webhook_id, at, signatures = (_clean(given[n] or headers.get(n, "")) for n in given)
    if not (webhook_id or at or signatures):
        raise ConfigurationError(
            "there are no headers: give --headers-file, or --id, --timestamp, --signature"
        )
    secret = secret_source.ask(secret_file)
    captured = Captured(webhook_id, at, signatures, _body(body))
    now_s = int(time.time())
    mistake = find_mistake(secret, captured, now_s)
    if any_age and mistake in _AGELESS:
        mistake = None
    _tell(mistake, captured, now_s, json)
    if mistake:
        raise typer.Exit(1)


def _headers_in(file: Path) -> dict[str, str]:
    text = file.read_bytes().decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            pairs = json_text.loads(text).items()
        except ValueError as error:
            raise ConfigurationError(f"{file} begins like JSON and is not: {error}") from error
    else:
        pairs = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    return {name.strip().lower(): str(value).strip() for name, value in pairs}


def _clean(value: str) -> str:
    """Without blanks around it; what is not UTF-8 on the command line becomes a question mark."""
    return value.strip().encode("utf-8", "replace").decode()


def _body(file: Path | None) -> bytes:
    if file is not None:
        return file.read_bytes()
    if sys.stdin.isatty():
        raise ConfigurationError(
            "there is no body: name a file with --body, or pipe it in with < body.json"
        )
    return sys.stdin.buffer.read()


def _tell(mistake: Mistake | None, captured: Captured, now_s: int, json: bool) -> None:
    if json:
        meaning = MEANINGS[mistake] if mistake else None
        as_json({"valid": mistake is None, "mistake": mistake, "meaning": meaning})
        return
    screen = console()
    line = _line(mistake, captured, now_s)
    screen.print(line, soft_wrap=not screen.is_terminal)


def _line(mistake: Mistake | None, captured: Captured, now_s: int) -> str:
    if mistake:
        return f"[red]✗[/] not valid ({mistake}): {MEANINGS[mistake]}"
    age_s = now_s - int(captured.timestamp)
    when = f"{age_s} s ago" if age_s >= 0 else f"{-age_s} s from now"
    return f"[green]✓[/] valid: signed with this secret, {when}"
