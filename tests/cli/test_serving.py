import os
import resource
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from sealdesk.db.migrations.schema_version import DEVELOPMENT_COMMIT
from tests.cli.fixtures import Home, on_a_file
from tests.cli.terminal import PASSWORD, Terminal, log_in, serving


@on_a_file
def test_only_the_owner_may_read_the_data_directory(home: Home) -> None:
    directory = home.terminal.data_dir
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert {"master.key", "jwt.key", "sealdesk.db", "sealdesk.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_serve_sets_up_a_new_installation_and_ends_on_sigterm(empty: Terminal) -> None:
    with serving(empty) as served:
        assert httpx.get(f"{served.url}/readyz", timeout=60).status_code == 200
    assert served.process.returncode == 0


def test_the_log_reports_unavailable_storage_and_contains_no_secrets(installed: Terminal) -> None:
    tenant_id = installed.tenant("ada@acme.test")
    key = installed.json("keys", "create", "--tenant", tenant_id, "--name", "Shop")
    with serving(installed) as served:
        holder = installed.with_env(
            SEALDESK_API_URL=served.url,
            SEALDESK_API_KEY=key["api_key"],
            SEALDESK_API_SECRET=key["api_secret"],
        )
        assert log_in(served.url, "ada@acme.test") == 200
        with sqlite3.connect(installed.data_dir / "sealdesk.db") as connection:
            connection.execute("DROP TABLE customers")
        assert "503" in holder.run("call", "GET", "/api/v1/external/customers").stderr
        line = served.next_log("unavailable")
    assert line["level"] == "warning"
    log = str(served.log)
    assert not any(secret in log for secret in (key["api_key"], key["api_secret"], PASSWORD))


def test_writes_after_a_command_survive_a_restart(installed: Terminal) -> None:
    with serving(installed) as served:
        installed.tenant("ada@acme.test")
        assert log_in(served.url, "ada@acme.test", "the wrong passphrase") == 401
        served.process.kill()
    with sqlite3.connect(installed.data_dir / "sealdesk.db") as connection:
        found = connection.execute("SELECT count(*) > 0 FROM login_failures").fetchone()
    assert found == (1,)


def test_a_port_in_use_is_named(installed: Terminal, home: Home) -> None:
    port = home.served.url.rpartition(":")[2]
    refusal = installed.refused("serve", "--port", port)
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in refusal


@on_a_file
def test_a_database_is_served_once_even_through_a_symlink(
    terminal: Terminal, installed: Terminal
) -> None:
    shutil.copy(terminal.data_dir / "master.key", installed.data_dir)
    (installed.data_dir / "sealdesk.db").unlink()
    (installed.data_dir / "sealdesk.db").symlink_to(terminal.data_dir / "sealdesk.db")
    assert "another `sealdesk serve` uses" in installed.refused("serve", "--port", "0")


def test_a_file_that_is_not_a_database_is_not_changed(installed: Terminal) -> None:
    file = installed.data_dir / "sealdesk.db"
    content = os.urandom(8192)
    file.write_bytes(content)
    assert "cannot be read as a Sealdesk database" in installed.refused("serve", "--port", "0")
    assert file.read_bytes() == content


def test_a_database_of_a_newer_sealdesk_is_refused(installed: Terminal) -> None:
    with sqlite3.connect(installed.data_dir / "sealdesk.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert "schema 9999, which is newer" in installed.refused("serve", "--port", "0")


@pytest.mark.parametrize("command", ["demo", "serve"])  # the two of `make run`
def test_a_database_of_a_development_version_is_refused(installed: Terminal, command: str) -> None:
    file = installed.data_dir / "sealdesk.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0070'")
    before = file.read_bytes()
    assert f"check out commit {DEVELOPMENT_COMMIT}" in installed.refused(command, "--port", "0")
    assert file.read_bytes() == before


@pytest.mark.parametrize("room_bytes", [0, 8192], ids=["no key", "no database"])
def test_a_full_disk_is_reported(empty: Terminal, room_bytes: int) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, room_bytes))

    refusal = empty.refused("serve", "--port", "0", preexec_fn=fill)
    assert str(empty.data_dir) in refusal


def test_an_impossible_data_directory_is_reported() -> None:
    refusal = Terminal(Path("/dev/null/data")).refused("serve", "--port", "0")
    assert "SEALDESK_DATA_DIR: /dev/null/data/" in refusal


def test_worker_is_refused_on_sqlite(empty: Terminal) -> None:
    assert "on SQLite `sealdesk serve` does the background work itself" in empty.refused("worker")
    assert not empty.data_dir.exists()


def test_an_invalid_option_prints_one_line(empty: Terminal) -> None:
    assert "see sealdesk serve --help" in empty.refused("serve", "--port", "99999", code=2)
