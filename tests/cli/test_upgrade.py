"""`sealdesk upgrade`: one command brings an installation to a newer version while it serves."""

import os
import pty
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sealdesk.cli.upgrade import target as targets
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS
from sealdesk.installation.watch import Watch
from tests.cli.backups import empty_target, terminal_of
from tests.cli.commands import PIPE, PROGRAM, start_command
from tests.cli.terminal import Terminal, serving
from tests.cli.upgrades import (
    CHANGES,
    NEW,
    TICKETS,
    WAITS_FOR_TABLE,
    Load,
    background,
    in_use,
    kill_at_random,
    refusal_as,
)
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_FIRST, SQLITE_ONLY, Begin
from tests.support.examples import examples
from tests.support.newer_version import newer_sealdesk
from tests.support.service import Service, wait_until

NOW = KNOWN_VERSIONS[-1]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def service(begin: Begin, tmp_path: Path) -> Iterator[Service]:
    """A service of this version with one key."""
    with begin(tmp_path / "data") as service:
        service.settings.data_dir.mkdir(mode=0o700, exist_ok=True)
        service.settings.data_dir.chmod(0o700)
        yield service


@pytest.fixture(scope="session")
def newer_version(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One for all tests of a process, which imports it once."""
    return newer_sealdesk(tmp_path_factory.mktemp("newer"), *CHANGES)


@pytest.fixture
def newer(service: Service, newer_version: dict[str, str]) -> Terminal:
    """The commands of a newer version with the settings of the service."""
    return terminal_of(service).with_env(**newer_version)


def schema_of(service: Service) -> str:
    ((schema,),) = service.rows("SELECT version_num FROM alembic_version LIMIT 1")
    return str(schema)


@pytest.mark.prove
def test_the_old_version_serves_on_while_the_database_is_upgraded(
    service: Service, newer: Terminal, tmp_path: Path
) -> None:
    load = Load(service.tenant().key())
    with load.running():
        done = newer.run("upgrade", "--yes")
        assert done.returncode == 0, done.stderr
        count = len(load.ids)
        wait_until(lambda: len(load.ids) >= count + 5)
    assert {*load.statuses} == {200, 201}
    assert schema_of(service) == "9999"
    assert f"schema {NOW}; {len(CHANGES)} migrations lead to 9999" in done.stdout
    assert "The way back is the backup" in done.stdout
    assert "is newer than this Sealdesk knows" in terminal_of(service).refused("tenants", "list")
    assert "Restart" in done.stdout
    stored = {row[0] for row in service.rows("SELECT id FROM tickets LIMIT 100000")}
    assert {*load.ids} <= stored
    (backup,) = (service.settings.data_dir / "backups").iterdir()
    with empty_target(service, tmp_path / "restored") as terminal:
        assert "A new epoch has begun" in terminal.out("restore", str(backup))


@pytest.mark.prove
@POSTGRESQL_ONLY
def test_all_processes_of_the_old_version_run_on_while_upgrades_are_killed(
    service: Service, newer: Terminal
) -> None:
    key = service.tenant().key()
    terminal = terminal_of(service).with_env(SEALDESK_PER_PROCESS_LIMITS="accept")
    with (
        serving(terminal) as second,
        background(terminal, "worker", "mail") as others,
        Load(key).running() as first_load,
        Load(key, second.url).running() as second_load,
    ):
        for _ in range(5):
            kill_at_random(newer)
        assert newer.run("upgrade", "--yes", "--no-backup").returncode == 0
        counts = len(first_load.ids), len(second_load.ids)
        wait_until(lambda: len(first_load.ids) >= counts[0] + 5)
        wait_until(lambda: len(second_load.ids) >= counts[1] + 5)
        service.settle()
        assert [process.poll() for process in others] == [None, None]
    assert {*first_load.statuses, *second_load.statuses} == {200, 201}
    stored = {row[0] for row in service.rows("SELECT id FROM tickets LIMIT 100000")}
    assert {*first_load.ids, *second_load.ids} == stored
    assert schema_of(service) == "9999"


def test_a_killed_upgrade_is_continued_by_running_it_again(
    service: Service, newer: Terminal
) -> None:
    key = service.tenant().key()
    ids = {key.ticket()["id"] for _ in range(3)}
    seen = set()
    for _ in range(examples(2)):
        kill_at_random(newer)
        seen.add(schema_of(service))
        assert key.get(TICKETS).status_code == 200
    assert newer.run("upgrade", "--yes", "--no-backup").returncode == 0
    assert seen <= {NOW, *(str(9_994 + step) for step in range(6))}
    assert schema_of(service) == "9999"
    assert {row[0] for row in service.rows("SELECT id FROM tickets LIMIT 9")} == ids


def test_a_migration_that_fails_names_the_schema_that_is_reached(
    service: Service, newer: Terminal
) -> None:
    service.run("ALTER TABLE api_keys ADD colour text")  # as the second migration does
    done = newer.run("upgrade", "--yes", "--no-backup")
    assert done.returncode == 1
    assert "could not be migrated, it has schema 9994 now: " in done.stderr
    assert schema_of(service) == "9994"
    assert service.tenant().key().ticket()["id"]


def test_an_upgrade_started_twice_is_refused(service: Service, newer: Terminal) -> None:
    with targets.alone(service.settings):
        done = newer.run("upgrade", "--yes", "--no-backup")
    assert (done.returncode, done.stdout) == (1, "")
    assert "another `sealdesk upgrade` of" in done.stderr
    assert schema_of(service) == NOW


def test_a_current_database_needs_no_upgrade(service: Service) -> None:
    out = terminal_of(service).out("upgrade", "--yes")
    assert "Nothing is to be migrated" in out
    assert not (service.settings.data_dir / "backups").exists()


@SQLITE_FIRST
def test_without_a_terminal_nothing_is_asked_and_nothing_changed(
    service: Service, newer: Terminal
) -> None:
    done = newer.run("upgrade")
    assert done.returncode == 1
    assert "give --yes" in done.stderr
    assert schema_of(service) == NOW


@SQLITE_FIRST
def test_who_declines_the_backup_and_the_migration_changes_nothing(
    service: Service, newer: Terminal
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"n\nn\n")
    with start_command("upgrade", env=newer.env, stdin=theirs, stdout=PIPE) as command:
        assert command.stdout is not None
        out = command.stdout.read()
        assert command.wait() == 1
    os.close(theirs)
    os.close(ours)
    assert "Make a backup into" in out
    assert "cannot be taken back" in out
    assert out.endswith("Nothing was changed.\n")
    assert schema_of(service) == NOW
    assert not (service.settings.data_dir / "backups").exists()


@SQLITE_FIRST
def test_what_the_check_finds_is_to_be_repaired_first(service: Service, newer: Terminal) -> None:
    newer.env["SEALDESK_MASTER_KEY"] = "short"
    done = newer.run("upgrade", "--yes", "--no-backup")
    assert done.returncode == 1
    assert "SEALDESK_MASTER_KEY" in done.stdout + done.stderr
    assert schema_of(service) == NOW


@POSTGRESQL_ONLY
@pytest.mark.prove
def test_an_upgrade_needs_the_rights_of_the_owner(service: Service, newer: Terminal) -> None:
    url = newer.env.pop("SEALDESK_OWNER_DATABASE_URL")
    assert "SEALDESK_OWNER_DATABASE_URL is missing" in newer.run("upgrade", "--yes").stderr
    newer.env["SEALDESK_OWNER_DATABASE_URL"] = newer.env["SEALDESK_DATABASE_URL"]
    assert "does not own the tables" in newer.run("upgrade", "--yes").stderr
    assert schema_of(service) == NOW
    newer.env["SEALDESK_OWNER_DATABASE_URL"] = url
    assert newer.run("upgrade", "--yes", "--no-backup").returncode == 0


@needs_root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs mount namespaces")
def test_a_backup_without_room_is_refused_before_anything_changes(
    service: Service, newer: Terminal, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=1m tmpfs '{small}' && exec \"$@\""
    command = [str(PROGRAM), "upgrade", "--yes", "--backup-into", str(small)]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount, "sh", *command],
        env=newer.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "MiB are free beside" in done.stderr
    assert schema_of(service) == NOW


@needs_root
@SQLITE_ONLY
def test_the_data_directory_of_another_user_is_refused(service: Service, tmp_path: Path) -> None:
    for path in (service.settings.data_dir, *service.settings.data_dir.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_mode & 0o777 == 0o700:
            path.chmod(0o711)  # until pytest makes it private again
    before = {path.name for path in service.settings.data_dir.iterdir()}
    assert "run this as root, who owns" in refusal_as(65534, service.settings)
    assert {path.name for path in service.settings.data_dir.iterdir()} == before


@POSTGRESQL_ONLY
@pytest.mark.prove
def test_what_is_to_be_restarted_is_named(service: Service, newer: Terminal) -> None:
    service.in_serving(lambda state: Watch(state, "serve").look())
    done = newer.run("upgrade", "--yes", "--no-backup")
    assert f"sealdesk serve on {socket.gethostname()}, process {os.getpid()}" in done.stdout


@POSTGRESQL_ONLY
@pytest.mark.prove
def test_requests_are_served_while_a_migration_waits_for_a_table_in_use(
    service: Service, newer: Terminal
) -> None:
    key = service.tenant().key()
    with in_use(service, "tickets"):
        process = start_command("upgrade", "--yes", "--no-backup", env=newer.env)
        for _ in range(3):
            wait_until(lambda: service.rows(WAITS_FOR_TABLE) != [])
            assert key.get(TICKETS).status_code == 200
            assert key.post(TICKETS, NEW).status_code == 201
        assert process.poll() is None
        assert schema_of(service) == NOW
    assert process.wait() == 0
    assert schema_of(service) == "9999"


@SQLITE_FIRST
def test_a_version_that_the_new_schema_allows_starts_again(
    service: Service, tmp_path: Path
) -> None:
    version = newer_sealdesk(tmp_path, CHANGES[0], oldest_reader=NOW)
    key = service.tenant().key()
    terminal = terminal_of(service).with_env(SEALDESK_PER_PROCESS_LIMITS="accept")
    done = terminal.with_env(**version).run("upgrade", "--yes", "--no-backup")
    assert f"versions that know schema {NOW} start on the new schema too" in done.stdout
    with serving(terminal) as again:
        assert httpx.get(f"{again.url}/readyz", timeout=60).status_code == 200
        key.ticket()
    assert schema_of(service) == "9999"
