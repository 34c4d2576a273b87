"""A distributed database on the nodes of SEALDESK_TEST_CITUS, a superuser's URL."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import asyncpg

from sealdesk.db.migrations import schema_version

SHARDS = 4
_OF_SERVICES = ("SEALDESK_DATABASE_URL", "SEALDESK_WORKER_DATABASE_URL")
_OWNER = """
DO $$ BEGIN IF to_regrole('{owner}') IS NULL THEN
    CREATE ROLE {owner} LOGIN CREATEROLE PASSWORD '{owner}';
END IF; END $$
"""
_ONE_SHARD = "ALTER ROLE {name}_runtime SET citus.multi_task_query_log_level = 'error'"


class Cluster(NamedTuple):
    """superuser_url: of the coordinator. nodes: all as host:port, the coordinator first."""

    superuser_url: str
    nodes: list[str]


def given_cluster() -> Cluster:
    """That of SEALDESK_TEST_CITUS."""
    url = os.environ["SEALDESK_TEST_CITUS"]
    return Cluster(url, asyncio.run(_list_nodes(url)))


@contextmanager
def distributed_database(shards: int = SHARDS) -> Iterator[dict[str, str]]:
    """Create a database on each node and distribute it; its settings, until it is dropped."""
    with empty_database() as env:
        migrate(env, shards)
        # A request that asks several shards fails.
        given, nodes = given_cluster()
        name = urlsplit(env["SEALDESK_OWNER_DATABASE_URL"]).path.strip("/")
        asyncio.run(_run(_url(given, nodes[0], name), _ONE_SHARD.format(name=name)))
        yield env


@contextmanager
def empty_database() -> Iterator[dict[str, str]]:
    """Create a database with Citus on each node; its settings, until it is dropped."""
    cluster, name = given_cluster(), f"desk_{secrets.token_hex(4)}"
    try:
        yield create_empty(cluster, name)
    finally:
        asyncio.run(_drop(*cluster, name))


def create_empty(cluster: Cluster, name: str) -> dict[str, str]:
    """Create a database with Citus on each node; its settings."""
    given, nodes = cluster
    asyncio.run(_create(given, nodes, name))
    return {
        f"SEALDESK_{kind}DATABASE_URL": _url(given, nodes[0], name, f"{name}_{role}")
        for kind, role in (("OWNER_", "owner"), ("", "runtime"), ("WORKER_", "worker"))
    }


def on_nodes(env: dict[str, str]) -> list[dict[str, str]]:
    """The settings for a service beside each node that has shards."""
    coordinator = urlsplit(env["SEALDESK_OWNER_DATABASE_URL"]).netloc.rpartition("@")[2]
    nodes = asyncio.run(_list_nodes(env["SEALDESK_OWNER_DATABASE_URL"]))
    return [
        env | {name: env[name].replace(f"@{coordinator}/", f"@{node}/") for name in _OF_SERVICES}
        for node in nodes
        if node != coordinator
    ]


def migrate(env: dict[str, str], shards: int = SHARDS) -> list[str]:
    """Migrate and distribute; the tables that were distributed now."""
    return schema_version.migrate_postgres(
        env["SEALDESK_OWNER_DATABASE_URL"],
        runtime_url=env["SEALDESK_DATABASE_URL"],
        worker_url=env["SEALDESK_WORKER_DATABASE_URL"],
        shard_count=shards,
    )


def _url(given: str, node: str, database: str, role: str = "") -> str:
    parts = urlsplit(given)
    who = f"{role}:{role}" if role else parts.netloc.rpartition("@")[0]
    return f"postgresql://{who}@{node}/{database}"


async def _run(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def _create(given: str, nodes: list[str], name: str) -> None:
    """Create database and owner on all nodes."""
    owner = f"{name}_owner"
    maintenance = urlsplit(given).path.strip("/")
    for node in nodes:
        url = _url(given, node, maintenance)
        # Where the nodes know each other already, the extension creates the role on all.
        await _run(url, _OWNER.format(owner=owner))
        await _run(url, f"CREATE DATABASE {name} OWNER {owner}")
        await _run(_url(given, node, name), "CREATE EXTENSION citus")
    places = ["'{0}', {2}".format(*node.rpartition(":")) for node in nodes]
    added = [f"SELECT citus_add_node({place})" for place in places[1:]]
    coordinator = f"SELECT citus_set_coordinator_host({places[0]})"
    await _run(_url(given, nodes[0], name), coordinator, *added)


async def _list_nodes(url: str) -> list[str]:
    """The addresses of all nodes, the coordinator first."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE noderole = 'primary'"
        " ORDER BY groupid"
    )
    await connection.close()
    return [row[0] for row in rows]


async def _drop(given: str, nodes: list[str], name: str) -> None:
    maintenance = urlsplit(given).path.strip("/")
    for node in reversed(nodes):
        url = _url(given, node, maintenance)
        await _run(url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    for role in ("owner", "runtime", "worker"):
        await _run(_url(given, nodes[0], maintenance), f"DROP ROLE IF EXISTS {name}_{role}")
