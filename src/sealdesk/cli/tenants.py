"""`sealdesk tenants`: creates and lists tenants."""

from typing import Annotated

import typer

from sealdesk import clock
from sealdesk.caller import SYSTEM
from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.cli.passwords import ask_password_hash
from sealdesk.db.engine import Tx
from sealdesk.identity import actions, rules

cli = command_group("Create and list tenants.")


Name = Annotated[str, typer.Option(help="The tenant's name.")]
AdminEmail = Annotated[str, typer.Option(help="E-mail address of the first administrator.")]
AdminName = Annotated[
    str | None,
    typer.Option(help="The administrator's name; by default the part of the address before the @."),
]
AdminPasswordStdin = Annotated[
    bool,
    typer.Option(help="Read the administrator's password from stdin instead of asking for it."),
]


@cli.command(
    epilog="""\b
Examples:
  sealdesk tenants create --name Acme --admin-email ada@acme.test
  pass show acme | sealdesk tenants create --name Acme --admin-email ada@acme.test \\
      --admin-password-stdin --json"""
)
def create(
    name: Name,
    admin_email: AdminEmail,
    admin_name: AdminName = None,
    admin_password_stdin: AdminPasswordStdin = False,
    json: JsonOption = False,
) -> None:
    """Create a tenant and its first administrator; on any error, neither."""
    forbidden_words = rules.own_words(admin_email, admin_name or "", name)
    password_hash = ask_password_hash(
        admin_password_stdin, forbidden_words, option="--admin-password-stdin"
    )

    async def work(tx: Tx) -> dict[str, str]:
        tenant = await actions.create_tenant(tx, name, now_us=now_us)
        user = await actions.create_user(
            tx,
            tenant.id,
            email=admin_email,
            name=admin_name,
            role="tenant_admin",
            password_hash=password_hash,
            actor=SYSTEM,
            now_us=now_us,
        )
        return {"tenant_id": tenant.id, "user_id": user.id}

    with open_installation() as installation:
        now_us = installation.clock.now_us()
        created = installation.write(work)
    if json:
        print_json(created)
    else:
        print(f"Created tenant {created['tenant_id']} with administrator {admin_email}.")
        print(
            f"Next, log in as {admin_email} and create a key, or run:"
            f" sealdesk keys create --tenant {created['tenant_id']} --name NAME"
        )


@cli.command("list")
def list_tenants(json: JsonOption = False) -> None:
    """List all tenants, oldest first."""
    with open_installation() as installation:
        found = list(installation.iterate_tenants())
    if json:
        print_json(
            [{"id": t.id, "name": t.name, "created_at": clock.iso(t.created_at)} for t in found]
        )
    else:
        print_table(
            ("ID", "NAME", "CREATED"), [(t.id, t.name, clock.iso(t.created_at)) for t in found]
        )
