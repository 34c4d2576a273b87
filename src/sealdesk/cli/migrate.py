"""`sealdesk migrate`: brings a database to the newest schema."""

import os
from typing import Annotated

import typer

from sealdesk.cli.installation import prepare_sqlite
from sealdesk.cli.output import make_console
from sealdesk.db.migrations import schema_version
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env, make_private_dir
from sealdesk_citus.groups import DEFAULT_SHARDS

Distribute = Annotated[
    bool, typer.Option("--distribute", help="Also distribute the tables over the nodes of Citus.")
]
Shards = Annotated[
    int,
    typer.Option(
        help="With --distribute, in a new database: into how many shards. It stays so.",
        min=1,
        max=1024,
    ),
]


def migrate(distribute: Distribute = False, shards: Shards = DEFAULT_SHARDS) -> None:
    """Bring the database to the newest schema.

    Creates the database if there is none. On SQLite, `serve` and every other command migrate by
    themselves. Run this to migrate ahead of time.

    On PostgreSQL, run it as the owner of the tables, with SEALDESK_OWNER_DATABASE_URL set. It also
    creates the roles that SEALDESK_DATABASE_URL and SEALDESK_WORKER_DATABASE_URL name, and grants
    their rights. Concurrent migrations wait for each other. A failed migration changes nothing.

    With --distribute, it also distributes the tables over the nodes of Citus: all rows of a tenant
    are then on one node. Name the coordinator, whose database has the extension. Run it again
    after an upgrade: it distributes what is new, and leaves the rest as it is.
    """
    settings = from_env(os.environ, needs_keys=False)
    if settings.is_on_postgres:
        _migrate_postgres(settings, shards if distribute else 0)
        return
    if distribute:
        raise ConfigurationError(
            "tables can only be distributed on Citus, and this installation is on SQLite: move it"
            " to PostgreSQL with `sealdesk move` first"
        )
    make_private_dir(settings.data_dir)
    # Creates the key files first: every later command refuses a database without its keys.
    from_env(os.environ)
    has_migrated = prepare_sqlite(settings)
    result = "migrated to" if has_migrated else "already has"
    print(f"{settings.database_path} {result} schema {schema_version.KNOWN_VERSIONS[-1]}.")


def _migrate_postgres(settings: Settings, shard_count: int) -> None:
    # asyncpg takes 22 ms to import, which a migration of SQLite does not need.
    from sealdesk.db.postgres import preflight

    owner_url = settings.get_owner_url(
        "the role that serves may not migrate. Set it to the URL of the same database with the role"
        " that owns the tables"
    )
    with make_console().status("Migrating"):
        distributed = schema_version.migrate_postgres(
            owner_url,
            runtime_url=settings.database_url,
            worker_url=settings.worker_database_url,
            shard_count=shard_count,
        )
    where = preflight.redacted(owner_url)
    print(f"{where} has schema {schema_version.KNOWN_VERSIONS[-1]}.")
    if shard_count:
        print(f"Distributed {len(distributed)} tables that were not distributed before.")
    if not settings.database_url:
        print("Next: set SEALDESK_DATABASE_URL and run `sealdesk migrate` again, which creates")
        print("the role that serves.")
