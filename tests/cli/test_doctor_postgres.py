"""`sealdesk doctor` looks at a PostgreSQL server and at how it is used."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.servers import PgBouncer, server_directory
from tests.support.databases import Template
from tests.support.service import random_key, running

Env = dict[str, str]


@pytest.fixture
def env(postgres_template: Template) -> Iterator[Env]:
    with postgres_template.copied() as env:
        yield env


@pytest.fixture
def shell(env: Env, tmp_path: Path) -> Terminal:
    """A shell with an installation on PostgreSQL."""
    return Terminal(tmp_path / "data", **env)


def _findings(shell: Terminal) -> dict[str, tuple[str, str]]:
    done = shell.run("doctor", "--json")
    assert done.stderr == ""
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == int(any(each["state"] == "bad" for each in found))
    return {each["about"]: (each["state"], each["text"]) for each in found}


def _sql(template: Template, env: Env, sql: str) -> None:
    template.access.sql(sql, env["SEALDESK_DATABASE_URL"].rpartition("/")[2])


def test_an_installation_is_examined(shell: Terminal, env: Env) -> None:
    key = shell.json("keys", "create", "--tenant", shell.tenant("ada@acme.test"), "--name", "Shop")
    found = _findings(shell)
    assert found["database"][0] == "good"
    assert found["secrets"] == ("good", "the master key opens them (1 tried)")
    assert found["connected"][0] == "good"
    # That of the tests has no fsync, as nothing in it is worth keeping.
    assert found["durable"][0] == "bad"
    assert found["durable"][1].startswith("fsync and full_page_writes off")
    told = str(found)
    secrets = (key["api_secret"], ":runtime@", ":worker@", env["SEALDESK_MASTER_KEY"])
    assert not any(secret in told for secret in secrets)
    assert not shell.data_dir.exists()


def test_another_master_key_is_noticed(shell: Terminal) -> None:
    shell.json("keys", "create", "--tenant", shell.tenant("ada@acme.test"), "--name", "Shop")
    other = shell.with_env(SEALDESK_MASTER_KEY=random_key())
    assert _findings(other)["secrets"][0] == "bad"


def test_an_unsafe_role_is_bad_and_nothing_more_is_asked(shell: Terminal, env: Env) -> None:
    found = _findings(shell.with_env(SEALDESK_DATABASE_URL=env["SEALDESK_OWNER_DATABASE_URL"]))
    assert found["database"][0] == "bad"
    assert "owns the tables" in found["database"][1]
    assert "secrets" not in found


def test_more_connections_than_the_server_gives_are_bad(shell: Terminal) -> None:
    many = shell.with_env(SEALDESK_EXPECTED_PROCESSES="60")
    state, text = _findings(many)["connected"]
    assert (state, "raise max_connections" in text) == ("bad", True)


def test_it_works_through_a_pooler(shell: Terminal, env: Env, postgres_template: Template) -> None:
    url = env["SEALDESK_DATABASE_URL"]
    port = str(postgres_template.access.port)
    with server_directory() as directory:
        pooler = PgBouncer.start(directory / "pooler", postgres_template.access)
        through = url.replace(f":{port}/", f":{pooler.port}/")
        pooled = shell.with_env(
            SEALDESK_DATABASE_URL=through, SEALDESK_DATABASE_POOLER="transaction"
        )
        assert _findings(pooled)["database"][0] == "good"


@pytest.mark.parametrize(
    "command", [("serve", "--port", "0"), ("tenants", "list"), ("worker",)], ids=" ".join
)
@pytest.mark.parametrize("fault", ["newer", "away", "no rights"])
def test_commands_refuse_what_cannot_be_used_in_one_line(
    shell: Terminal, env: Env, postgres_template: Template, command: tuple[str, ...], fault: str
) -> None:
    words = {"newer": "run the newer", "away": "is it running?", "no rights": "sealdesk migrate"}
    if fault == "newer":
        _sql(postgres_template, env, "UPDATE alembic_version SET version_num = '9999'")
    elif fault == "no rights":
        who = f"{postgres_template.runtime[0]}, {postgres_template.worker[0]}"
        _sql(postgres_template, env, f"REVOKE ALL ON alembic_version FROM {who}")
    else:
        port = f":{postgres_template.access.port}/"
        away = {name: url.replace(port, ":1/") for name, url in env.items() if "URL" in name}
        shell = shell.with_env(**away)
    line = shell.refused(*command)
    assert words[fault] in line
    assert not any(secret in line for secret in (":runtime@", ":worker@"))


def test_a_missing_worker_is_noticed(shell: Terminal, env: Env) -> None:
    shell.tenant("ada@acme.test")
    with running(shell.data_dir, **env):
        assert _findings(shell)["worker"] == ("good", "`sealdesk worker` runs")
    with running(shell.data_dir, **{**env, "SEALDESK_WORKER_DATABASE_URL": ""}):
        state, text = _findings(shell)["worker"]
    assert (state, "webhooks are not sent" in text) == ("bad", True)
