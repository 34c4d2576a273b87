"""`sealdesk domains`: assigns the domains of mailboxes to tenants."""

from typing import Annotated

import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import Installation, open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.db.engine import Work
from sealdesk.errors import ConfigurationError
from sealdesk.mail.blocks.types import normalise
from sealdesk.mail.mailboxes import actions
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.mailboxes.store.directory import Domain

_PAGE_ROWS = 500
_MAX_CONTESTED = 100

cli = command_group("Assign the domains of mailboxes to tenants.")
Name = Annotated[str, typer.Argument(metavar="DOMAIN", help="As in acme.test.")]


@cli.command(epilog="Example: sealdesk domains assign acme.test --tenant ID")
def assign(
    domain: Name, tenant: Annotated[str, typer.Option(metavar="ID", help="The tenant.")]
) -> None:
    """Let only one tenant have mailboxes in a domain. Mailboxes of others stay, and are shown."""
    wanted = Domain(_read_name(domain), tenant)
    with open_installation() as installation:
        installation.get_tenant(tenant)
        known = _find(installation, wanted.name)
        if known is not None and known.tenant_id != tenant:
            raise ConfigurationError(
                f"{domain} is assigned to {known.tenant_id}; to change that, run first:"
                f" sealdesk domains release {domain}"
            )
        now_us = installation.clock.now_us()
        installation.act(tenant, actions.assign_domain, wanted, now_us=now_us)
        contested = list_contested(installation, wanted)
    print(f"{domain} is assigned to {tenant}.")
    for address, owner in contested.items():
        print(f"{address} stays a mailbox of {owner}.")


@cli.command("list")
def list_domains(json: JsonOption = False) -> None:
    """List the assigned domains, with the addresses in them that other tenants have."""
    with open_installation() as installation:
        rows = [
            (found.name.removeprefix("@"), found.tenant_id, list_contested(installation, found))
            for found in list_assigned(installation)
        ]
    if json:
        return print_json(
            [
                {"domain": name, "tenant_id": tenant_id, "contested": list(contested)}
                for name, tenant_id, contested in rows
            ]
        )
    shown = [(name, tenant_id, ", ".join(contested)) for name, tenant_id, contested in rows]
    print_table(("DOMAIN", "TENANT", "MAILBOXES OF OTHERS"), shown)


@cli.command(epilog="Example: sealdesk domains release acme.test")
def release(domain: Name) -> None:
    """Let every tenant have mailboxes in a domain."""
    with open_installation() as installation:
        known = _find(installation, _read_name(domain))
        if known is None:
            raise ConfigurationError(f"{domain} is not assigned; see sealdesk domains list")
        now_us = installation.clock.now_us()
        installation.act(known.tenant_id, actions.release_domain, known, now_us=now_us)
    print(f"{domain} is released.")


def list_assigned(installation: Installation) -> list[Domain]:
    """All assigned domains."""

    def page_after(last: Domain | None) -> Work[list[Domain]]:
        after = last.name if last else ""
        return lambda tx: directory.list_domains(tx, after, _PAGE_ROWS)

    return list(installation.iterate(page_after))


def list_contested(installation: Installation, domain: Domain) -> dict[str, str]:
    """The addresses of mailboxes of other tenants in a domain, with the tenants."""
    return installation.read(lambda tx: directory.list_contested(tx, domain, _MAX_CONTESTED))


def _find(installation: Installation, name: str) -> Domain | None:
    return installation.read(lambda tx: directory.find_assigned(tx, name))


def _read_name(domain: str) -> str:
    try:
        name = normalise(f"@{domain}")
    except ValueError:
        name = ""
    if not name.startswith("@"):
        raise ConfigurationError(f"{domain} is no domain, as in acme.test")
    return name
