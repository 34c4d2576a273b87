"""The databases of tests: copies of an empty one on SQLite or PostgreSQL, new ones on Citus."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import pytest

from sealdesk.db import migrate
from tests.servers import Access, run_postgres
from tests.support.citus import distributed_database
from tests.support.service import Service, random_key, running

Kind = Literal["sqlite", "postgresql", "citus"]
# On Citus where its nodes are given: a superuser's URL of the coordinator.
KINDS: tuple[Kind, ...] = (
    "sqlite",
    "postgresql",
    *(("citus",) if os.environ.get("SEALDESK_TEST_CITUS") else ()),
)
SQLITE_ONLY = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
# For what hardly depends on the database, and takes long on PostgreSQL.
SQLITE_FIRST = pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.prove)], indirect=True
)
# Where the events of all tenants are one log.
ONE_LOG = pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
# Whether a session waits for an advisory lock.
WAITS_FOR_ADVISORY_LOCK = """
SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database =
    (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
POSTGRESQL_ONLY = pytest.mark.parametrize("kind", ["postgresql"], indirect=True)


class Begin(Protocol):
    """Starts a service on a new database: begin(data_dir, SEALDESK_MAX_SKEW_S="30")."""

    def __call__(self, data_dir: Path, **env: str) -> AbstractContextManager[Service]: ...


class Template(NamedTuple):
    """An empty PostgreSQL database with the current schema, and the roles that use its copies."""

    access: Access
    name: str
    runtime: tuple[str, str]
    worker: tuple[str, str]

    def env(self, database: str) -> dict[str, str]:
        """The settings for a copy."""
        return {
            "SEALDESK_DATABASE_URL": self.access.url(*self.runtime, database),
            "SEALDESK_OWNER_DATABASE_URL": self.access.owner_url(database),
            "SEALDESK_WORKER_DATABASE_URL": self.access.url(*self.worker, database),
            "SEALDESK_MASTER_KEY": random_key(),
            "SEALDESK_JWT_SECRET": random_key(),
        }

    @contextmanager
    def copied(self) -> Iterator[dict[str, str]]:
        """The settings for a new copy, which is dropped in the end."""
        name = f"{self.name}_{secrets.token_hex(4)}"
        self.access.create_database(name, template=self.name)
        try:
            yield self.env(name)
        finally:
            self.access.drop_database(name)


@contextmanager
def migrated_template() -> Iterator[Template]:
    """A new template with roles of its own, because roles belong to the whole cluster."""
    access = run_postgres()
    name = f"desk_{secrets.token_hex(4)}"
    template = Template(access, name, (f"{name}_runtime", "runtime"), (f"{name}_worker", "worker"))
    access.create_database(name)
    env = template.env(name)
    asyncio.run(
        migrate.migrate_postgres(
            env["SEALDESK_OWNER_DATABASE_URL"],
            runtime_url=env["SEALDESK_DATABASE_URL"],
            worker_url=env["SEALDESK_WORKER_DATABASE_URL"],
        )
    )
    yield template


def on_sqlite(template: Path) -> Begin:
    @contextmanager
    def begin(data_dir: Path, **env: str) -> Iterator[Service]:
        with running(data_dir, template, **env) as service:
            yield service

    return begin


def on_postgresql(template: Template) -> Begin:
    @contextmanager
    def begin(data_dir: Path, **env: str) -> Iterator[Service]:
        with template.copied() as urls, running(data_dir, **{**urls, **env}) as service:
            yield service

    return begin


@contextmanager
def new_on_citus() -> Iterator[dict[str, str]]:
    """The settings for a new database on Citus, which is dropped in the end."""
    with distributed_database() as urls:
        yield {**urls, "SEALDESK_MASTER_KEY": random_key(), "SEALDESK_JWT_SECRET": random_key()}


@contextmanager
def on_citus(data_dir: Path, **env: str) -> Iterator[Service]:
    with new_on_citus() as urls, running(data_dir, **{**urls, **env}) as service:
        yield service
