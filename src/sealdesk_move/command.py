"""The command `sealdesk move`: its options, and the next steps that it prints."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from sealdesk.cli.output import print_table
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

EXAMPLES = """\b
Examples:
  sealdesk move --to postgresql://owner@db.example.com/sealdesk
  sealdesk move --to sqlite:///var/back.db --from postgresql://owner@db.example.com/sealdesk
  sealdesk move --to postgresql://owner@coordinator/sealdesk --from postgresql://owner@db/sealdesk
  sealdesk move --tenant 0198f3d0-… --to postgresql://owner@cell2/sealdesk --switch ./to-cell2.sh

\b
Leave the password out of the URLs: other users of the machine can see arguments. The password
is read from PGPASSWORD or ~/.pgpass."""
_FROM_HELP = (
    "The source, in the form of --to. [default: the SQLite file of the data directory, or"
    " SEALDESK_OWNER_DATABASE_URL]"
)
_SWITCH_HELP = (
    "With --tenant: the command that lets its requests reach the target. [default: wait for Enter]"
)
To = Annotated[
    str, typer.Option(help="The target: postgresql://owner@host/database or sqlite:///new/file.")
]
From = Annotated[str, typer.Option("--from", help=_FROM_HELP)]
Restart = Annotated[
    bool, typer.Option("--restart", help="Discard the target of an unfinished move and start over.")
]
TenantId = Annotated[
    str,
    typer.Option("--tenant", metavar="ID", help="Move one tenant, while both installations serve."),
]
SwitchCommand = Annotated[str, typer.Option("--switch", metavar="COMMAND", help=_SWITCH_HELP)]
Abandon = Annotated[
    bool, typer.Option("--abandon", help="With --tenant: undo a move that has not ended.")
]
DeleteSource = Annotated[
    bool,
    typer.Option(
        "--delete-source", help="With --tenant, after its move: delete its rows at --from."
    ),
]


def move(
    to: To = "",
    source: From = "",
    restart: Restart = False,
    tenant_id: TenantId = "",
    switch: SwitchCommand = "",
    abandon: Abandon = False,
    delete_source: DeleteSource = False,
) -> None:
    """Move an installation between SQLite, PostgreSQL and Citus, or one tenant between two.

    Migrates an empty target database, copies every row into it, reads all rows back and compares
    them. API keys, secrets, sessions and cursors stay valid with the same SEALDESK_MASTER_KEY and
    SEALDESK_JWT_SECRET. No server may run during the move. The source is not changed. A database
    that `sealdesk migrate --distribute` has distributed can be the source, or an empty one the
    target.

    Name PostgreSQL with the role that owns the tables. If SEALDESK_DATABASE_URL and
    SEALDESK_WORKER_DATABASE_URL are set, the move creates their roles too. If the move is
    interrupted, run the same command again: it continues where it stopped.

    With --tenant, both are PostgreSQL and serve meanwhile, and both have the same
    SEALDESK_MASTER_KEY. The tenant's writes get a 503 with Retry-After at the end, until its
    requests reach the target. Its users log in again.
    """
    if tenant_id and restart:
        raise typer.BadParameter("a move of a tenant has no --restart: use --abandon")
    if tenant_id:
        _change_tenant(
            tenant_id, to, source, switch, is_abandoned=abandon, is_deleted=delete_source
        )
    elif switch or abandon or delete_source:
        raise typer.BadParameter("--switch, --abandon and --delete-source need --tenant")
    else:
        _move_installation(to, source, is_restart=restart)


def _move_installation(to: str, source: str, *, is_restart: bool) -> None:
    if not to:
        raise typer.BadParameter("--to is missing: it names the target")
    settings = from_env(os.environ, needs_keys=False)
    is_to_postgres = _is_postgres_url("--to", to)
    source = source or (
        f"{_SQLITE}{settings.database_path}" if is_to_postgres else _owner_url(settings)
    )
    if not _is_postgres_url("--from", source) and not is_to_postgres:
        raise typer.BadParameter("a move from SQLite is to PostgreSQL; copy the file instead")
    # The transfer takes 200 ms to import, which no other command needs.
    from sealdesk_move import transfer

    try:
        summaries = transfer.move(source, to, settings, is_restart=is_restart)
    except KeyboardInterrupt:
        print("sealdesk: to continue the move, run the same command again", file=sys.stderr)
        raise
    rows = [(name, f"{summaries[name].rows:,}", "same") for name in sorted(summaries)]
    print_table(("TABLE", "ROWS", "CHECKSUM"), rows)
    if is_to_postgres:
        _print_steps_after_postgres(settings, transfer.display(source))
    else:
        _print_steps_after_sqlite(transfer.path_of(to))


def _change_tenant(
    tenant_id: str, to: str, source: str, switch: str, *, is_abandoned: bool, is_deleted: bool
) -> None:
    settings = from_env(os.environ)
    source = source or _owner_url(settings)
    for option, url in (("--from", source), *([] if is_deleted else [("--to", to)])):
        if not url.startswith(_POSTGRESQL):
            raise typer.BadParameter(
                f"{option} must be postgresql://owner@host/database: a tenant is moved between two"
                " installations on PostgreSQL"
            )
    from sealdesk_move.tenant import command as tenant

    if is_deleted:
        tenant.delete_source(source, tenant_id)
    elif is_abandoned:
        tenant.abandon(source, to, tenant_id)
    else:
        tenant.move(source, to, tenant_id, switch, settings)


def _is_postgres_url(option: str, url: str) -> bool:
    """Raises typer.BadParameter, without the URL in its text: it may contain a password."""
    is_postgres = url.startswith(_POSTGRESQL)
    if not is_postgres and (not url.startswith(_SQLITE) or url == _SQLITE):
        raise typer.BadParameter(
            f"{option} must be postgresql://owner@host/database or sqlite:///path"
        )
    return is_postgres


def _owner_url(settings: Settings) -> str:
    if not settings.owner_database_url:
        raise ConfigurationError(
            "the source is missing: name it with --from, or set SEALDESK_OWNER_DATABASE_URL"
        )
    return settings.owner_database_url


def _print_steps_after_postgres(settings: Settings, source: str) -> None:
    print("\nAll rows are moved. To serve them, set on every host:\n")
    if not settings.database_url:
        print("  SEALDESK_DATABASE_URL         the URL with the role that serves; it owns no table")
        print("  SEALDESK_WORKER_DATABASE_URL  the URL with the role of `sealdesk worker`")
    for name, file in (("SEALDESK_MASTER_KEY", "master.key"), ("SEALDESK_JWT_SECRET", "jwt.key")):
        path = settings.data_dir / file
        is_in_file = path.exists() and not os.environ.get(name)
        print(
            f'  {name}="$(cat {shlex.quote(str(path))})"' if is_in_file else f"  {name} as before"
        )
    if not settings.database_url:
        print("\nThen run `sealdesk migrate` with SEALDESK_OWNER_DATABASE_URL to create the roles.")
    print("\nCheck with `sealdesk doctor`, then run `sealdesk serve` and `sealdesk worker`.")
    print(f"Keep {source} as a backup; the move did not change it.")


def _print_steps_after_sqlite(path: Path) -> None:
    print("\nAll rows are moved. To serve them, set:\n")
    print(f"  SEALDESK_DATABASE_URL={_SQLITE}{shlex.quote(str(path))}")
    print("  SEALDESK_MASTER_KEY and SEALDESK_JWT_SECRET as before")
    print("\nCheck with `sealdesk doctor`, then run `sealdesk serve`: one process on SQLite.")
