"""`sealdesk users`: creates and lists users, sets their passwords and frees their addresses."""

from collections.abc import Sequence
from typing import Annotated

import typer

from sealdesk import clock
from sealdesk.caller import SYSTEM, without_rights
from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.cli.passwords import ask_password_hash
from sealdesk.client.credentials import read_url
from sealdesk.db.engine import Tx, Work
from sealdesk.identity import actions, rules, store
from sealdesk.identity.people import actions as people
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.identity.types import Role, User
from sealdesk.resources.paging import PageRequest

_PAGE_ROWS = 500

cli = command_group("Create and list users, and set their passwords.")
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's e-mail address.")]
RoleOption = Annotated[
    Role,
    typer.Option(
        help="agent works on tickets; tenant_admin also manages keys and users;"
        " super_admin does so in every tenant."
    ),
]
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
    tenant: Annotated[
        str, typer.Option(metavar="ID", help="The tenant to which the user belongs.")
    ],
    email: Annotated[str, typer.Option(help="The user's e-mail address; it must be unique.")],
    role: RoleOption,
    name: Annotated[
        str | None,
        typer.Option(help="The user's name; by default the part of the address before the @."),
    ] = None,
    password_stdin: PasswordStdin = False,
    json: JsonOption = False,
) -> None:
    """Create a user."""

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

    with open_installation() as installation:
        forbidden_words = rules.own_words(email, name or "", installation.get_tenant(tenant).name)
        password_hash = ask_password_hash(
            password_stdin, forbidden_words, option="--password-stdin"
        )
        now_us = installation.clock.now_us()
        user = installation.write(work, tenant)
    if json:
        print_json({"user_id": user.id, "tenant_id": user.tenant_id})
    else:
        print(f"Created {role} {user.email} with the ID {user.id}.")


@cli.command("list")
def list_users(
    tenant: Annotated[str, typer.Option(metavar="ID", help="The tenant whose users to list.")],
    json: JsonOption = False,
) -> None:
    """List a tenant's users, newest first."""
    with open_installation() as installation:
        installation.get_tenant(tenant)
        users = list(installation.iterate(lambda last: _list_page_after(tenant, last), tenant))
    if json:
        print_json([_user_json(user) for user in users])
    else:
        rows = [(u.id, u.email, u.name, u.role, u.is_active) for u in users]
        print_table(("ID", "E-MAIL", "NAME", "ROLE", "ACTIVE"), rows)


def _list_page_after(tenant_id: str, last: User | None) -> Work[Sequence[User]]:
    page = PageRequest(_PAGE_ROWS, [last.id] if last else None)
    return lambda tx: store.list_users(tx, tenant_id, page)


def _user_json(user: User) -> dict[str, object]:
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
    """Set a user's password. Ends every session of the user."""
    with open_installation() as installation:
        user = installation.read(lambda tx: actions.get_user_by_email(tx, email))
        forbidden_words = rules.own_words(
            user.email, user.name, installation.get_tenant(user.tenant_id).name
        )
        password_hash = ask_password_hash(
            password_stdin, forbidden_words, option="--password-stdin"
        )
        now_us = installation.clock.now_us()
        installation.write(
            lambda tx: actions.set_password(
                tx, user, password_hash, actor=SYSTEM, address="", now_us=now_us
            ),
            user.tenant_id,
        )
    print(f"The password of {user.email} is changed.")


@cli.command(epilog="Example: sealdesk users reset-link ada@acme.test")
def reset_link(email: Email, json: JsonOption = False) -> None:
    """Create a link with which a user can set a new password once, within an hour.

    It replaces the previous link. Send it to this user only.
    """
    with open_installation() as installation:
        user = installation.read(lambda tx: actions.get_user_by_email(tx, email))
        now_us = installation.clock.now_us()
        token = installation.write(
            lambda tx: actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us),
            user.tenant_id,
        )
    expires_at = clock.iso(now_us + rules.RESET_LINK_LIFE_US)
    # In the fragment, which browsers do not send, so that no server or proxy logs the token.
    url = f"{read_url()}/reset#{token}"
    if json:
        print_json({"token": token, "url": url, "expires_at": expires_at})
    else:
        print(f"Link for {user.email} to set a new password, valid until {expires_at}:\n\n  {url}")


@cli.command(epilog="Example: sealdesk users two-factor-off ada@acme.test")
def two_factor_off(email: Email) -> None:
    """Turn a user's two-factor authentication off.

    For a user who lost the phone and the recovery codes, when no other administrator can help.
    """
    with open_installation() as installation:
        user = installation.read(lambda tx: actions.get_user_by_email(tx, email))
        caller = without_rights(user.tenant_id, SYSTEM)
        now_us = installation.clock.now_us()
        was_on = installation.write(
            lambda tx: two_factor.turn_off(tx, user, caller=caller, now_us=now_us), user.tenant_id
        )
    print(
        f"{user.email} logs in with the password alone now."
        if was_on
        else f"{user.email} has no second factor: nothing was changed."
    )


@cli.command(epilog="Example: sealdesk users release ada@acme.test")
def release(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Free an e-mail address that a user of the wrong tenant holds.

    The user is logged out and needs a new invitation to log in again; tickets, replies and name
    are kept. Whoever accepts an invitation to the address first, in any tenant, has it then. The
    audit log of the user's tenant records it.
    """
    with open_installation() as installation:
        user = installation.read(lambda tx: actions.get_user_by_email(tx, email))
        tenant = installation.get_tenant(user.tenant_id)
        who = f"{user.email} is {user.name}, {user.role} of {tenant.name} ({tenant.id})."
        if not yes and not typer.confirm(f"{who} End their log-in and free the address?"):
            raise typer.Exit(1)
        now_us = installation.clock.now_us()
        installation.act(user.tenant_id, people.release, user, now_us=now_us)
    print(f"{user.email} is free. The user in {tenant.name} needs a new invitation to log in.")
