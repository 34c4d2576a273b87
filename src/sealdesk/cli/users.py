"""`sealdesk users`: make users, see which there are, give them new passwords."""

from collections.abc import Sequence
from typing import Annotated

import typer

from sealdesk import clock
from sealdesk.caller import SYSTEM
from sealdesk.cli import installation
from sealdesk.cli.output import AsJson, as_json, table
from sealdesk.cli.passwords import new_password_hash
from sealdesk.cli.requests import api_url
from sealdesk.db.engine import Tx, Work
from sealdesk.identity import actions, rules, store
from sealdesk.identity.rules import Role, User
from sealdesk.paging import PageRequest

_PAGE_ROWS = 500

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make users, see which there are, give them new passwords.",
)
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's e-mail address.")]
PasswordStdin = Annotated[
    bool, typer.Option(help="Read the password from stdin instead of asking for it.")
]


@cli.command(
    epilog="""\b
Examples:
  sealdesk users create --tenant ID --email bo@acme.test --role agent
  pass show bo | sealdesk users create --tenant ID --email bo@acme.test --role agent \\
      --password-stdin --json"""
)
def create(
    tenant: Annotated[str, typer.Option(metavar="ID", help="The tenant that they belong to.")],
    email: Annotated[str, typer.Option(help="Their e-mail address; no other user may have it.")],
    role: Annotated[
        Role,
        typer.Option(
            help="agent works on tickets; tenant_admin manages keys and people too;"
            " super_admin does so in every tenant."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="Their name; by default what stands before the @.")
    ] = None,
    password_stdin: PasswordStdin = False,
    json: AsJson = False,
) -> None:
    """Make a user."""

    async def work(tx: Tx) -> User:
        return await actions.create_user(
            tx,
            tenant,
            email=email,
            name=name,
            role=role,
            password_hash=password_hash,
            actor=SYSTEM,
            now_us=now_us,
        )

    with installation.opened() as desk:
        words = rules.own_words(email, name or "", desk.get_tenant(tenant).name)
        password_hash = new_password_hash(password_stdin, words, option="--password-stdin")
        now_us = desk.clock.now_us()
        user = desk.write(work, tenant)
    if json:
        as_json({"user_id": user.id, "tenant_id": user.tenant_id})
    else:
        print(f"Made {role} {user.email} with the id {user.id}.")


@cli.command("list")
def list_users(
    tenant: Annotated[str, typer.Option(metavar="ID", help="The tenant whose users to list.")],
    json: AsJson = False,
) -> None:
    """List a tenant's users, newest first."""
    with installation.opened() as desk:
        desk.get_tenant(tenant)
        users = list(desk.walk(lambda last: _page_after(tenant, last), tenant))
    if json:
        as_json([_shown(user) for user in users])
    else:
        rows = [(u.id, u.email, u.name, u.role, u.is_active) for u in users]
        table(("ID", "E-MAIL", "NAME", "ROLE", "ACTIVE"), rows)


def _page_after(tenant_id: str, last: User | None) -> Work[Sequence[User]]:
    page = PageRequest(_PAGE_ROWS, [last.id] if last else None)
    return lambda tx: store.list_users(tx, tenant_id, page)


def _shown(user: User) -> dict[str, object]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "is_active": user.is_active,
        "created_at": clock.iso(user.created_at),
    }


@cli.command(epilog="Example: sealdesk users set-password ada@acme.test")
def set_password(email: Email, password_stdin: PasswordStdin = False) -> None:
    """Give a user a new password; wherever they are logged in, it ends."""
    with installation.opened() as desk:
        user = desk.read(lambda tx: actions.get_user_by_email(tx, email))
        words = rules.own_words(user.email, user.name, desk.get_tenant(user.tenant_id).name)
        password_hash = new_password_hash(password_stdin, words, option="--password-stdin")
        now_us = desk.clock.now_us()
        desk.write(
            lambda tx: actions.set_password(
                tx, user, password_hash, actor=SYSTEM, address="", now_us=now_us
            ),
            user.tenant_id,
        )
    print(f"{user.email} has a new password.")


@cli.command(epilog="Example: sealdesk users reset-link ada@acme.test")
def reset_link(email: Email, json: AsJson = False) -> None:
    """Make a one-time link at which a user sets a new password, within an hour.

    It replaces the one made before. Give it to nobody else.
    """
    with installation.opened() as desk:
        user = desk.read(lambda tx: actions.get_user_by_email(tx, email))
        now_us = desk.clock.now_us()
        token = desk.write(
            lambda tx: actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us),
            user.tenant_id,
        )
    expires_at = clock.iso(now_us + rules.RESET_LINK_LIFE_US)
    # Behind the #, so that it stands in no log of a server or proxy.
    url = f"{api_url()}/reset#{token}"
    if json:
        as_json({"token": token, "url": url, "expires_at": expires_at})
    else:
        print(f"Until {expires_at}, {user.email} can set a new password at:\n\n  {url}")
