"""`sealdesk reports`: counts the tickets of reports anew."""

from collections.abc import Callable
from typing import Annotated

import msgspec
import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import DatabaseAccess, open_database_access, open_installation
from sealdesk.cli.progress import ProgressBars, ProgressLines, show_progress
from sealdesk.errors import ConfigurationError
from sealdesk.identity.store import Tenant

EXAMPLES = """\b
Examples:
  sealdesk reports rebuild
  sealdesk reports rebuild --tenant ID"""

cli = command_group("Count the tickets of reports anew.")


@cli.callback()
def group() -> None:
    """Keeps `rebuild` a command of its own."""


@cli.command(epilog=EXAMPLES)
def rebuild(
    tenant: Annotated[
        str | None, typer.Option(metavar="ID", help="Only of this tenant; by default of all.")
    ] = None,
) -> None:
    """Delete what reports have counted, and count all tickets again.

    The service may run: reports are incomplete until the end, and say so. An interrupted rebuild is
    continued by the service.
    """
    with open_installation() as installation:
        if tenant is None:
            tenants = [*installation.iterate_tenants()]
        else:
            tenants = [installation.get_tenant(tenant)]
        # On PostgreSQL only the role of the worker may change what is counted.
        url, now_us = installation.settings.worker_database_url, installation.clock.now_us
        if installation.settings.database_url and not url:
            raise ConfigurationError(
                "SEALDESK_WORKER_DATABASE_URL is missing: the role that serves may not count"
            )
        settings = msgspec.structs.replace(installation.settings, database_url=url)
        with open_database_access(settings) as access, show_progress("rows") as progress:
            for each in tenants:
                _rebuild(access, each, progress, now_us)
    print(f"Counted the tickets of {len(tenants)} tenant{'' if len(tenants) == 1 else 's'}.")


def _rebuild(
    access: DatabaseAccess,
    tenant: Tenant,
    progress: ProgressBars | ProgressLines,
    now_us: Callable[[], int],
) -> None:
    # The room of tickets takes 60 ms to import, which no other command needs.
    from sealdesk.reports.steps import actions, store

    total = access.read(lambda tx: store.count_rows(tx, tenant.id), tenant.id)
    progress.begin("rebuild", tenant.name, 0, total)
    access.write(lambda tx: store.begin_rebuild(tx, tenant.id), tenant.id)
    while done := access.write(lambda tx: actions.run_step(tx, tenant.id, now_us()), tenant.id):
        progress.advance(done)
