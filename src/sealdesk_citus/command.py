"""The commands of `sealdesk nodes`."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.doctor.finding import report
from sealdesk.cli.output import JsonOption, make_console, print_json, print_table
from sealdesk.settings import Settings, from_env

T = TypeVar("T")
_LOAD_INTERVAL_S = 1.0
_LARGEST = 10

cli = command_group("List the nodes of a database on Citus, and move tenants between them.")
TenantOrShard = Annotated[
    str, typer.Argument(metavar="TENANT|SHARD", help="ID of a tenant, or number of a shard.")
]
Tenant = Annotated[str, typer.Argument(metavar="TENANT", help="ID of the tenant.")]
NodeName = Annotated[str, typer.Argument(metavar="NODE", help="HOST:PORT, as in the list.")]


@cli.command("list")
def list_all(json: JsonOption = False) -> None:
    """List nodes with their load, shards with their size, and the tenants with most tickets.

    The load is measured for a second. A shard holds the rows of several tenants, in all tables.
    """

    async def read(url: str) -> tuple[list[dict[str, object]], ...]:
        from sealdesk_citus import nodes

        async with nodes.opened(url) as connection:
            found = await nodes.list_nodes(connection, _LOAD_INTERVAL_S)
            shards = await nodes.list_shards(connection)
            largest = await nodes.list_largest_tenants(connection, _LARGEST)
        return [node._asdict() for node in found], [*map(dict, shards)], [*map(dict, largest)]

    found, shards, largest = _run(read)
    if json:
        print_json({"nodes": found, "shards": shards, "largest_tenants": largest})
        return
    _print(found, "node", "is_coordinator", "bytes", "connections", "transactions_per_s")
    print()
    _print(shards, "shard", "node", "bytes")
    print()
    _print(largest, "tenant_id", "tickets", "shard")


def _print(rows: list[dict[str, object]], *columns: str) -> None:
    names = [name.removeprefix("is_").replace("_per_s", "/s").upper() for name in columns]
    print_table(names, [[_text(row[name]) for name in columns] for row in rows])


def _text(value: object) -> object:
    if isinstance(value, float):
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and value > 10**6 else value


@cli.command()
def isolate(tenant: Tenant) -> None:
    """Give a tenant a shard of its own, which can then be moved alone.

    Do it while the tenant is small: its rows, and those that shared its shard, are copied.
    """

    async def work(url: str) -> int:
        from sealdesk_citus import nodes

        async with nodes.opened(url) as connection:
            return await nodes.isolate(connection, tenant)

    with make_console(to_stderr=True).status("Splitting the shard"):
        shard = _run(work)
    print(f"Tenant {tenant} is alone in shard {shard}.")


@cli.command()
def move(what: TenantOrShard, node: NodeName) -> None:
    """Move a shard to another node while it is written.

    A tenant's shard is moved with all tenants in it; `isolate` gives a tenant its own. Writes wait
    at the end, for about a second. If the move fails or is interrupted, nothing has changed.
    """
    from sealdesk.cli.progress import show_progress

    with show_progress("bytes") as progress:

        async def work(url: str) -> tuple[int, bool]:
            from sealdesk_citus import nodes

            async with nodes.opened(url) as connection:
                shard = await nodes.find_shard(connection, what)
                return shard, await nodes.move(
                    connection, url, shard, node, progress.follow("copying")
                )

        shard, has_moved = _run(work)
    print(f"Shard {shard} {'is now' if has_moved else 'was already'} on {node}.")


@cli.command()
def rebalance() -> None:
    """Move shards until all nodes hold about as many bytes, while they are written.

    Run it after a node was added.
    """
    from sealdesk.cli.progress import show_progress

    with show_progress("bytes") as progress:

        async def work(url: str) -> None:
            from sealdesk_citus import nodes

            async with nodes.opened(url) as connection:
                await nodes.rebalance(connection, url, progress.follow("copying"))

        _run(work)
    print("The nodes are balanced.")


@cli.command()
def doctor(json: JsonOption = False) -> None:
    """Check all nodes: settings, versions, rights of the roles, and connections between nodes.

    Prints one line for each check and exits with 1 if one failed. Changes nothing.
    """
    from sealdesk_citus.checks import check

    settings = _settings()
    report(_run(lambda url: check(url, settings)), json=json, width=16)


def _run(work: Callable[[str], Coroutine[Any, Any, T]]) -> T:
    url = _settings().get_owner_url(
        "set it to the URL of the coordinator of Citus with the role that owns the tables. SQLite"
        " has no nodes"
    )
    return asyncio.run(work(url))


def _settings() -> Settings:
    return from_env(os.environ, needs_keys=False)
