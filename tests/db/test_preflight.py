"""A database that is unusable or unsafe is refused in one line with the remedy."""

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.db.postgres import database, preflight
from tests.support.databases import Template
from tests.support.tenant_rows import run

Env = dict[str, str]
RUNTIME = "SEALDESK_DATABASE_URL"
PASSWORD = "runtime"  # of the role that serves, in every template


@pytest.fixture
def env(postgres_template: Template) -> Iterator[Env]:
    with postgres_template.copied() as env:
        yield env


def _refusal(url: str, **options: Any) -> str:
    with pytest.raises(Unusable) as refused:
        run(preflight.check(url, **options))
    line = str(refused.value)
    assert "\n" not in line
    assert f":{PASSWORD}@" not in line
    return line


def _sql(template: Template, env: Env, *statements: str) -> None:
    for statement in statements:
        template.access.sql(statement, env[RUNTIME].rpartition("/")[2])


def test_migrated_database_passes(env: Env) -> None:
    run(preflight.check(env[RUNTIME]))
    run(preflight.check(env[RUNTIME], is_pooled=True))
    run(preflight.check(env["SEALDESK_WORKER_DATABASE_URL"], is_worker=True))


@pytest.mark.parametrize("power", ["SUPERUSER", "BYPASSRLS"])
def test_role_that_bypasses_policies_is_refused(
    postgres_template: Template, env: Env, power: str
) -> None:
    access, name = postgres_template.access, f"{postgres_template.name}_{power.lower()}"
    access.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}' {power}")
    _grant_all(postgres_template, env, name)
    line = _refusal(access.url(name, PASSWORD, _database(env)))
    what = "is a superuser" if power == "SUPERUSER" else "bypasses row level security"
    assert f"{name}, which {what}" in line
    assert "sealdesk migrate makes the one" in line


@pytest.mark.parametrize(
    ("group", "words"),
    [("owner", "owns the tables"), ("worker", "policies"), ("super", "is a superuser")],
)
@pytest.mark.parametrize("inherits", ["INHERIT", "NOINHERIT"])
def test_role_that_can_assume_a_privileged_role_is_refused(
    postgres_template: Template, env: Env, group: str, words: str, inherits: str
) -> None:
    access, name = postgres_template.access, f"{postgres_template.name}_{group}_{inherits.lower()}"
    of = {"owner": "owner", "worker": postgres_template.worker[0], "super": f"{name}_top"}[group]
    access.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}' {inherits}")
    if group == "super":
        access.sql(f"CREATE ROLE {of} SUPERUSER")
    access.sql(f"GRANT {of} TO {name}")
    _grant_all(postgres_template, env, name)
    assert words in _refusal(access.url(name, PASSWORD, _database(env)))


def _grant_all(template: Template, env: Env, name: str) -> None:
    _sql(template, env, f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}")


def _database(env: Env) -> str:
    return env[RUNTIME].rpartition("/")[2]


def test_owner_and_worker_roles_cannot_serve(env: Env) -> None:
    assert "owns the tables" in _refusal(env["SEALDESK_OWNER_DATABASE_URL"])
    assert "policies" in _refusal(env["SEALDESK_WORKER_DATABASE_URL"])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("CREATE TABLE added (tenant_id text)", "no row level security on added;"),
        ("ALTER TABLE tickets NO FORCE ROW LEVEL SECURITY", "no row level security on tickets;"),
        ("ALTER TABLE tickets DISABLE ROW LEVEL SECURITY", "no row level security on tickets;"),
        ("CREATE POLICY more ON tickets USING (true)", "show tickets of all tenants"),
        ("ALTER POLICY tenant ON users USING (true)", "show users of all tenants"),
        ("UPDATE alembic_version SET version_num = '9999'", "schema 9999, which is newer"),
        ("DELETE FROM alembic_version", "run `sealdesk migrate`"),
        ("DROP TABLE alembic_version", "has no tables yet; run `sealdesk migrate`"),
        ("REVOKE ALL ON alembic_version FROM {role}", "read the tables; run `sealdesk migrate`"),
        ("ALTER DATABASE {database} SET synchronous_commit = off", "synchronous_commit = off"),
    ],
)
def test_database_fault_is_reported(
    postgres_template: Template, env: Env, fault: str, words: str
) -> None:
    role = postgres_template.runtime[0]
    _sql(postgres_template, env, fault.format(role=role, database=_database(env)))
    assert words in _refusal(env[RUNTIME])


def test_older_schema_is_refused_with_the_command_to_migrate(
    monkeypatch: pytest.MonkeyPatch, env: Env
) -> None:
    monkeypatch.setattr(preflight, "KNOWN_VERSIONS", (*KNOWN_VERSIONS, "9999"))
    assert f"has schema {KNOWN_VERSIONS[-1]}, and this Sealdesk needs 9999" in _refusal(
        env[RUNTIME]
    )


def test_old_server_version_is_reported() -> None:
    server: Any = {"version": 14, "version_text": "14.9", "encoding": "UTF8"}
    assert preflight._server_faults(server) == ["is PostgreSQL 14.9; Sealdesk needs 15 or newer"]


def test_encoding_other_than_utf8_is_reported(postgres_template: Template) -> None:
    access, name = postgres_template.access, f"{postgres_template.name}_latin"
    sql = f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    access.sql(f"{sql} LOCALE_PROVIDER libc")
    line = _refusal(access.url(*postgres_template.runtime, name))
    assert "encoded in LATIN1; create one with ENCODING 'UTF8'" in line


def test_wrong_password_missing_role_and_missing_database_are_reported(
    postgres_template: Template, env: Env
) -> None:
    access, (role, _) = postgres_template.access, postgres_template.runtime
    assert "does not let the role in" in _refusal(access.url(role, "wrong", _database(env)))
    assert "does not let the role in" in _refusal(access.url("nobody", "wrong", _database(env)))
    line = _refusal(access.url(role, PASSWORD, "nowhere"))
    assert "create it with createdb" in line


def test_unreachable_or_silent_server_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "CONNECT_S", 0.5)
    with closing(socket.socket()) as mute:
        mute.bind(("127.0.0.1", 0))
        port = mute.getsockname()[1]
        url = f"postgresql://desk:{PASSWORD}@127.0.0.1:{port}/desk"
        assert "cannot be reached" in _refusal(url)
        mute.listen()
        assert "cannot be reached (no answer in time)" in _refusal(url)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://desk:{PASSWORD}@127.0.0.1:notaport/desk",
        f"postgresql://desk:{PASSWORD}@127.0.0.1:99999/desk",
        f"postgresql://desk:{PASSWORD}@[::1/desk",
        f"postgresql://desk:{PASSWORD}@127.0.0.1/desk?sslmode=sometimes",
        f"postgresql://desk:{PASSWORD}@no-such-host.invalid/desk",
    ],
)
def test_invalid_url_is_reported_without_its_password(url: str) -> None:
    line = _refusal(url)
    assert line.startswith(("postgresql://desk@", "the database's URL is not"))
