"""The command `sealdesk demo`: creates the example tenant and prints how to use it."""

import secrets
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sealdesk.api_keys.types import CreatedApiKey
from sealdesk.cli.installation import open_installation
from sealdesk.cli.output import make_console
from sealdesk.cli.serving import HOST, PORT, Host, Port, local_url
from sealdesk.client.credentials import DEFAULT_URL
from sealdesk.identity.auth.passwords import hash_now

if TYPE_CHECKING:
    from sealdesk_demo.example_tenant import ExistingDemo, NewDemo

_TARGET = "/api/v1/external/tickets?status=open&per_page=3"
_NEW_TICKET = (
    '{"subject": "Hello", "description": "My first ticket.",'
    ' "customer": {"email": "me@example.test"}}'
)


def demo(host: Host = HOST, port: Port = PORT) -> None:
    """Create an example tenant with four weeks of tickets.

    Creates the tenant Acme Ceramics with an administrator, an agent, an API key and tickets of the
    last four weeks. Passwords, key and secret are random and printed only once. An existing demo is
    not changed. Give the --host and --port at which you will serve it, for the printed URLs.
    """
    # 23 ms to import, with the ticket actions, which no other command needs.
    from sealdesk_demo import example_tenant as content

    passwords = (_new_password(), _new_password())
    with open_installation() as installation:
        now_us = installation.clock.now_us()
        existing = installation.read(lambda tx: content.find(tx, now_us))
        if existing is not None:
            _print_existing(existing, local_url(host, port), installation.settings.data_dir)
            return
        admin_hash, agent_hash = map(hash_now, passwords)
        demo = installation.write(
            lambda tx: content.create(
                tx,
                admin_hash=admin_hash,
                agent_hash=agent_hash,
                key_ring=installation.key_ring,
                now_us=now_us,
            )
        )
    _print_created(demo, passwords, local_url(host, port))


def _new_password() -> str:
    """Return 80 random bits as four groups of hex digits."""
    digits = secrets.token_hex(10)
    return "-".join(digits[at : at + 5] for at in range(0, 20, 5))


def _print_created(demo: "NewDemo", passwords: tuple[str, str], url: str) -> None:
    from sealdesk_demo.example_tenant import ADMIN, AGENT, TENANT_NAME  # late: 23 ms

    screen = make_console()
    screen.print(
        f"\n[bold]{TENANT_NAME}[/] is ready: {demo.ticket_count} tickets, {demo.reply_count}"
        f" replies, {demo.customer_count} customers."
        " The passwords and the secret are shown only now.\n"
    )
    _print_fields(
        [
            ("Pages", f"{url}/"),
            ("API docs", f"{url}/docs"),
            ("Log in", f"{ADMIN[1]}  {passwords[0]}  (administrator)"),
            ("", f"{AGENT[1]}   {passwords[1]}  (agent)"),
            ("API key", demo.key.api_key),
            ("Secret", demo.key.api_secret),
        ]
    )
    screen.print(
        "\nWhen the server runs, paste this into another terminal to send a signed request:\n"
    )
    print(_curl_commands(demo.key, url))
    screen.print("\nOr this, to send the same request and create a ticket:\n")
    print(_sealdesk_commands(demo.key, url))
    print()


def _print_existing(existing: "ExistingDemo", url: str, data_dir: Path) -> None:
    from sealdesk_demo.example_tenant import ADMIN, TENANT_NAME  # late: 23 ms

    screen = make_console()
    command = _command_with_data_dir(data_dir)
    screen.print(f"\n[bold]{TENANT_NAME}[/] already exists; its data is kept.\n")
    key = (
        f"{command} keys rotate {existing.key.id}"
        if existing.key
        else f"{command} keys create --tenant {existing.tenant_id} --name Shop"
    )
    _print_fields(
        [
            ("Pages", f"{url}/"),
            ("API docs", f"{url}/docs"),
            ("Log in", ADMIN[1]),
            ("Set password", f"{command} users set-password {ADMIN[1]}"),
            ("New secret" if existing.key else "New key", key),
        ]
    )
    print()


def _print_fields(lines: list[tuple[str, str]]) -> None:
    # 11 ms to import, which no other command needs.
    from rich.markup import escape

    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        make_console().print(f"  [dim]{name:<{width}}[/]  {escape(value)}")


def _curl_commands(key: CreatedApiKey, url: str) -> str:
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


def _sealdesk_commands(key: CreatedApiKey, url: str) -> str:
    address = "" if url == DEFAULT_URL else f"export SEALDESK_API_URL={url}\n"
    program = _program_path()
    return f"""\
{address}export SEALDESK_API_KEY={key.api_key}
export SEALDESK_API_SECRET={key.api_secret}
{program} call GET '{_TARGET}'
{program} call POST /api/v1/external/tickets --data '{_NEW_TICKET}'"""


def _program_path() -> str:
    """Return the shell word that starts this program."""
    found = shutil.which("sealdesk")
    here = Path(sys.argv[0]).absolute()
    if found is not None and Path(found).samefile(here):
        return "sealdesk"
    return shlex.quote(str(here))


def _command_with_data_dir(data_dir: Path) -> str:
    """Return the program with SEALDESK_DATA_DIR, to paste into a shell in any directory."""
    return f"SEALDESK_DATA_DIR={shlex.quote(str(data_dir))} {_program_path()}"
