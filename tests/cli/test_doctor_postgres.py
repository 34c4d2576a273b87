"""`sealdesk doctor` on an installation with PostgreSQL."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sealdesk.cli.doctor import postgres
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


def _run_doctor(shell: Terminal) -> dict[str, tuple[str, str]]:
    done = shell.run("doctor", "--json")
    assert done.stderr == ""
    findings: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == int(any(each["state"] == "bad" for each in findings))
    return {each["about"]: (each["state"], each["text"]) for each in findings}


def _sql(template: Template, env: Env, sql: str) -> None:
    template.access.sql(sql, env["SEALDESK_DATABASE_URL"].rpartition("/")[2])


def test_a_postgresql_installation_is_checked(shell: Terminal, env: Env) -> None:
    key = shell.json("keys", "create", "--tenant", shell.tenant("ada@acme.test"), "--name", "Shop")
    findings = _run_doctor(shell)
    assert findings["database"][0] == "good"
    assert findings["secrets"] == (
        "good",
        "the master key opens them (1 of API keys and 0 of mailboxes tried)",
    )
    assert findings["connected"][0] == "good"
    # The test server runs without fsync, because its data is temporary.
    assert findings["durable"][0] == "bad"
    assert findings["durable"][1].startswith("fsync and full_page_writes off")
    assert findings["pages"][0] in ("good", "note")
    assert "data checksums are" in findings["pages"][1]
    text = str(findings)
    secrets = (key["api_secret"], ":runtime@", ":worker@", env["SEALDESK_MASTER_KEY"])
    assert not any(secret in text for secret in secrets)
    assert not shell.data_dir.exists()
    blind = shell.with_env(SEALDESK_WORKER_DATABASE_URL="")
    assert "no attachment was looked at" in blind.run("doctor", "--deep").stdout


def test_wrong_checksums_of_pages_fail() -> None:
    finding = postgres.check_pages({"data_checksums": "on", "checksum_failures": 3})
    assert (finding.state, "restore" in finding.text) == ("bad", True)


def test_another_master_key_is_reported(shell: Terminal) -> None:
    shell.json("keys", "create", "--tenant", shell.tenant("ada@acme.test"), "--name", "Shop")
    other = shell.with_env(SEALDESK_MASTER_KEY=random_key())
    assert _run_doctor(other)["secrets"][0] == "bad"


def test_an_unsafe_role_fails_and_ends_the_checks(shell: Terminal, env: Env) -> None:
    findings = _run_doctor(shell.with_env(SEALDESK_DATABASE_URL=env["SEALDESK_OWNER_DATABASE_URL"]))
    assert findings["database"][0] == "bad"
    assert "owns the tables" in findings["database"][1]
    assert "secrets" not in findings


def test_too_many_connections_fail(shell: Terminal) -> None:
    many = shell.with_env(SEALDESK_EXPECTED_PROCESSES="200")
    state, text = _run_doctor(many)["connected"]
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
        assert _run_doctor(pooled)["database"][0] == "good"


@pytest.mark.parametrize(
    "command", [("serve", "--port", "0"), ("tenants", "list"), ("worker",)], ids=" ".join
)
@pytest.mark.parametrize("fault", ["newer", "away", "no rights"])
def test_commands_refuse_an_unusable_database_in_one_line(
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


def test_a_missing_worker_is_reported(shell: Terminal, env: Env) -> None:
    shell.tenant("ada@acme.test")
    with running(shell.data_dir, **env):
        assert _run_doctor(shell)["worker"] == ("good", "`sealdesk worker` runs")
    with running(shell.data_dir, **{**env, "SEALDESK_WORKER_DATABASE_URL": ""}):
        state, text = _run_doctor(shell)["worker"]
    assert (state, "webhooks are not sent" in text) == ("bad", True)
