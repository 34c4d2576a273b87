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
from sealdesk.mail.mailboxes.store.directory import EVERYBODY, Domain

_PAGE_ROWS = 500
_MAX_CONTESTED = 100

cli = command_group("Assign the domains of mailboxes to tenants.")
Name = Annotated[str, typer.Argument(metavar="DOMAIN", help="As in acme.test.")]


@cli.command(epilog="Example: sealdesk domains assign acme.test --tenant ID")
def assign(
    domain: Name, tenant: Annotated[str, typer.Option(metavar="ID", help="The tenant.")]
) -> None:
    """Let only one tenant have mailboxes in a domain. Those of others stay, and are shown."""
    wanted = Domain(_read_name(domain), tenant)
    with open_installation() as installation:
        installation.get_tenant(tenant)
        _check_free(installation, wanted)
        now_us = installation.clock.now_us()
        installation.act(tenant, actions.assign_domain, wanted, now_us=now_us)
        contested = list_contested(installation, wanted)
    print(f"{domain} is assigned to {tenant}.")
    for address, owner in contested.items():
        print(f"{address} stays a mailbox of {owner}.")


@cli.command(epilog="Example: sealdesk domains share acme.test")
def share(domain: Name) -> None:
    """Let every tenant have mailboxes in a domain, as departments of a company."""
    shared = Domain(_read_name(domain), EVERYBODY)
    with open_installation() as installation:
        _check_free(installation, shared)
        installation.write(lambda tx: directory.assign_domain(tx, shared))
        for tenant in installation.iterate_tenants():  # whose mailboxes may wait for it
            now_us = installation.clock.now_us()
            installation.act(tenant.id, actions.assign_domain, shared, now_us=now_us)
    print(f"Every tenant can have mailboxes in {domain}.")


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
                {"domain": name, "tenant_id": tenant_id or None, "contested": list(contested)}
                for name, tenant_id, contested in rows
            ]
        )
    shown = [
        (name, tenant_id or "every tenant", ", ".join(contested))
        for name, tenant_id, contested in rows
    ]
    print_table(("DOMAIN", "TENANT", "MAILBOXES OF OTHERS"), shown)


@cli.command(epilog="Example: sealdesk domains release acme.test")
def release(domain: Name) -> None:
    """Assign a domain to nobody: each tenant must verify its addresses in it."""
    with open_installation() as installation:
        known = _find(installation, _read_name(domain))
        if known is None:
            raise ConfigurationError(f"{domain} is not assigned; see sealdesk domains list")
        if known.tenant_id == EVERYBODY:
            installation.write(lambda tx: directory.release_domain(tx, known.name))
        else:
            now_us = installation.clock.now_us()
            installation.act(known.tenant_id, actions.release_domain, known, now_us=now_us)
    print(f"{domain} is released.")


def _check_free(installation: Installation, wanted: Domain) -> None:
    """Raises ConfigurationError for a domain that is assigned otherwise."""
    known = _find(installation, wanted.name)
    if known is not None and known != wanted:
        domain = wanted.name.removeprefix("@")
        raise ConfigurationError(
            f"{domain} is assigned to {known.tenant_id or 'every tenant'}; to change that, run"
            f" first: sealdesk domains release {domain}"
        )


def list_assigned(installation: Installation) -> list[Domain]:
    """All assigned domains."""

    def page_after(last: Domain | None) -> Work[list[Domain]]:
        after = last.name if last else ""
        return lambda tx: directory.list_domains(tx, after, _PAGE_ROWS)

    return list(installation.iterate(page_after))


def list_contested(installation: Installation, domain: Domain) -> dict[str, str]:
    """The addresses of mailboxes of other tenants in a domain, with the tenants."""
    if domain.tenant_id == EVERYBODY:
        return {}
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
