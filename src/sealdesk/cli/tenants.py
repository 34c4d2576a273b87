"""`sealdesk tenants`: make tenants, see which there are."""

from collections.abc import Sequence
from typing import Annotated

import typer

from sealdesk import clock
from sealdesk.caller import SYSTEM
from sealdesk.cli import installation
from sealdesk.cli.output import AsJson, as_json, table
from sealdesk.cli.passwords import new_password_hash
from sealdesk.db.engine import Tx, Work
from sealdesk.identity import actions, rules, store
from sealdesk.identity.store import Tenant

_PAGE_ROWS = 500

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make tenants, see which there are.",
)


@cli.command(
    epilog="""\b
Examples:
  sealdesk tenants create --name Acme --admin-email ada@acme.test
  pass show acme | sealdesk tenants create --name Acme --admin-email ada@acme.test \\
      --admin-password-stdin --json"""
)
def create(
    name: Annotated[str, typer.Option(help="What the tenant is called.")],
    admin_email: Annotated[str, typer.Option(help="E-mail address of its first administrator.")],
    admin_name: Annotated[
        str | None, typer.Option(help="Their name; by default what stands before the @.")
    ] = None,
    admin_password_stdin: Annotated[
        bool, typer.Option(help="Read their password from stdin instead of asking for it.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Make a tenant with its first administrator: both, or on any error neither."""
    words = rules.own_words(admin_email, admin_name or "", name)
    password_hash = new_password_hash(admin_password_stdin, words, option="--admin-password-stdin")

    async def work(tx: Tx) -> dict[str, str]:
        tenant = await actions.create_tenant(tx, name, actor=SYSTEM, now_us=now_us)
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

    with installation.opened() as desk:
        now_us = desk.clock.now_us()
        made = desk.write(work)
    if json:
        as_json(made)
    else:
        print(f"Made tenant {made['tenant_id']} with administrator {admin_email}.")
        print(f"Next, a key: sealdesk keys create --tenant {made['tenant_id']} --name NAME")


@cli.command("list")
def list_tenants(json: AsJson = False) -> None:
    """List all tenants, oldest first."""
    with installation.opened() as desk:
        found = list(desk.walk(_page_after))
    if json:
        as_json(
            [{"id": t.id, "name": t.name, "created_at": clock.iso(t.created_at)} for t in found]
        )
    else:
        table(("ID", "NAME", "CREATED"), [(t.id, t.name, clock.iso(t.created_at)) for t in found])


def _page_after(last: Tenant | None) -> Work[Sequence[Tenant]]:
    return lambda tx: store.list_tenants(tx, last.id if last else "", _PAGE_ROWS)
