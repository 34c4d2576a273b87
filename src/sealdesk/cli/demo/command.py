"""`sealdesk demo`: an example to look at, and what a newcomer needs to begin."""

import secrets
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sealdesk.api_keys.rules import CreatedApiKey
from sealdesk.cli import installation
from sealdesk.cli.output import console
from sealdesk.cli.requests import DEFAULT_URL
from sealdesk.cli.serving import HOST, PORT, Host, Port, url_of
from sealdesk.identity.auth.passwords import hash_now

if TYPE_CHECKING:
    from sealdesk.cli.demo.example_tenant import Made, Present

_TARGET = "/api/v1/external/tickets?status=open&per_page=3"
_NEW_TICKET = (
    '{"subject": "Hello", "description": "My first ticket.",'
    ' "customer": {"email": "me@example.test"}}'
)


def demo(host: Host = HOST, port: Port = PORT) -> None:
    """Fill a new installation with an example to look at.

    Makes the tenant Acme Ceramics with an administrator, an agent, an API key and some weeks of
    tickets. Passwords, key and secret are random and shown this once. When the demo is there
    already, it is left as it is. HOST and PORT are where you are going to serve it.
    """
    from sealdesk.cli.demo import example_tenant as content

    passwords = (_new_password(), _new_password())
    with installation.opened() as desk:
        now_us = desk.clock.now_us()
        present = desk.read(lambda tx: content.find(tx, now_us))
        if present is not None:
            _tell_present(present, url_of(host, port), desk.settings.data_dir)
            return
        admin_hash, agent_hash = map(hash_now, passwords)
        made = desk.write(
            lambda tx: content.fill(
                tx,
                admin_hash=admin_hash,
                agent_hash=agent_hash,
                key_ring=desk.key_ring,
                now_us=now_us,
            )
        )
    _tell_made(made, passwords, url_of(host, port))


def _new_password() -> str:
    """80 random bits in four groups that can be typed."""
    digits = secrets.token_hex(10)
    return "-".join(digits[at : at + 5] for at in range(0, 20, 5))


def _tell_made(made: "Made", passwords: tuple[str, str], url: str) -> None:
    from sealdesk.cli.demo.example_tenant import ADMIN, AGENT, TENANT_NAME

    screen = console()
    screen.print(
        f"\n[bold]{TENANT_NAME}[/] is ready: {made.ticket_count} tickets, {made.reply_count}"
        f" replies, {made.customer_count} customers. What follows is shown only now.\n"
    )
    _tell(
        [
            ("Pages", f"{url}/"),
            ("API docs", f"{url}/docs"),
            ("Log in", f"{ADMIN[1]}  {passwords[0]}  (administrator)"),
            ("", f"{AGENT[1]}   {passwords[1]}  (agent)"),
            ("API key", made.key.api_key),
            ("Secret", made.key.api_secret),
        ]
    )
    screen.print("\nOnce it is served, paste this into another terminal for a signed request:\n")
    print(_with_curl(made.key, url))
    screen.print("\nOr this, for the same and for a new ticket:\n")
    print(_with_sealdesk(made.key, url))
    print()


def _tell_present(present: "Present", url: str, data_dir: Path) -> None:
    from sealdesk.cli.demo.example_tenant import ADMIN, TENANT_NAME

    screen = console()
    command = _command(data_dir)
    screen.print(f"\n[bold]{TENANT_NAME}[/] is there already; its data is kept.\n")
    key = (
        f"{command} keys rotate {present.key.id}"
        if present.key
        else f"{command} keys create --tenant {present.tenant_id} --name Shop"
    )
    _tell(
        [
            ("Pages", f"{url}/"),
            ("API docs", f"{url}/docs"),
            ("Log in", ADMIN[1]),
            ("A new password", f"{command} users set-password {ADMIN[1]}"),
            ("A new secret" if present.key else "A new key", key),
        ]
    )
    print()


def _tell(lines: list[tuple[str, str]]) -> None:
    from rich.markup import escape

    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        console().print(f"  [dim]{name:<{width}}[/]  {escape(value)}")


def _with_curl(key: CreatedApiKey, url: str) -> str:
    return f"""\
KEY={key.api_key}
SECRET={key.api_secret}
TARGET='{_TARGET}'
NOW=$(date +%s)
BODY_HASH=$(printf '' | openssl dgst -sha256 -r | cut -d' ' -f1)
SIGNATURE=$(printf '%s' "${{NOW}}GET${{TARGET}}${{BODY_HASH}}" |
  openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
curl -sS -w '\\n' "{url}$TARGET" \\
  -H "x-api-key: $KEY" -H "x-api-timestamp: $NOW" -H "x-api-signature: $SIGNATURE\""""


def _with_sealdesk(key: CreatedApiKey, url: str) -> str:
    address = "" if url == DEFAULT_URL else f"export SEALDESK_API_URL={url}\n"
    program = _program()
    return f"""\
{address}export SEALDESK_API_KEY={key.api_key}
export SEALDESK_API_SECRET={key.api_secret}
{program} call GET '{_TARGET}'
{program} call POST /api/v1/external/tickets --data '{_NEW_TICKET}'"""


def _program() -> str:
    """What a shell starts this very program with."""
    found = shutil.which("sealdesk")
    here = Path(sys.argv[0]).absolute()
    if found is not None and Path(found).samefile(here):
        return "sealdesk"
    return shlex.quote(str(here))


def _command(data_dir: Path) -> str:
    """The program, told where the data lies: it may be pasted into a shell that is elsewhere."""
    return f"SEALDESK_DATA_DIR={shlex.quote(str(data_dir))} {_program()}"
