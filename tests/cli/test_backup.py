"""`sealdesk backup` and `sealdesk restore`: whole, checked, and never half."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from sealdesk import clock
from sealdesk.clock import Clock
from sealdesk.db.backup import archive, scratch
from sealdesk.db.migrations.schema_version import DEVELOPMENT_COMMIT, KNOWN_VERSIONS, Unusable
from tests.cli.backups import empty_target, serving_restored, terminal_of
from tests.cli.commands import PIPE, PROGRAM, start_command
from tests.cli.terminal import serving
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_FIRST, SQLITE_ONLY, Begin
from tests.support.newer_version import newer_sealdesk
from tests.support.pages import Visitor
from tests.support.service import Service, random_key, wait_until

TICKETS = "/api/v1/external/tickets"
EVENTS = "/api/v1/external/events"
KEYS = "/api/v1/api-keys"
CONFIRM = "/settings/api-keys/confirm"


class Load:
    """Clients that open tickets. acknowledged: the ids, in the order of the responses."""

    def __init__(self, key: Key) -> None:
        self.acknowledged: list[str] = []
        self._key = key
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._write) for _ in range(2)]

    def _write(self) -> None:
        while not self._is_over.is_set():
            self.acknowledged.append(self._key.ticket()["id"])

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            wait_until(lambda: len(self.acknowledged) >= 20)
            yield
        finally:
            self._is_over.set()
            for thread in self._threads:
                thread.join()


def code_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


class Drill:
    """A service under load that is backed up, goes on, and is restored from the backup."""

    def __init__(self, service: Service, directory: Path) -> None:
        self.tenant = service.tenant()
        self.key, self.revoked, self.rotated = (self.tenant.key() for _ in range(3))
        self.admin = self.tenant.admin()
        self.backup = directory / "backup"
        load = Load(self.key)
        with load.running():
            self.marked = list(load.acknowledged)
            terminal_of(service).out("backup", str(self.backup))
        self._go_on(service)

    def _go_on(self, service: Service) -> None:
        self.last_number = self.key.ticket()["number"]
        service.settle()
        feed = self.key.get(f"{EVENTS}?per_page=100").json()["meta"]
        tickets = self.key.get(f"{TICKETS}?per_page=2").json()["meta"]
        self.cursors = {EVENTS: feed["resume_cursor"], TICKETS: tickets["next_cursor"]}
        assert self.admin.delete(f"{KEYS}/{self.revoked.id}").status_code == 204
        assert self.admin.post(f"{KEYS}/{self.rotated.id}/rotate").status_code == 200

    def check(self, restored: Service) -> None:
        """Look at what each client gets from the restored service."""
        for client in (self.key, self.revoked, self.rotated, self.admin):
            client.service = restored
        for key in (self.key, self.revoked, self.rotated):
            assert code_of(key.get(TICKETS)) == (401, "api_key_unconfirmed")
        assert self.admin.get(KEYS).status_code == 401
        admin = restored.log_in(self.tenant.admin_email)
        assert admin.post(f"{KEYS}/{self.key.id}/confirm").status_code == 200
        for path, cursor in self.cursors.items():
            response = self.key.get(f"{path}?per_page=2&cursor={cursor}")
            assert code_of(response) == (410, "cursor_expired")
        stored = {row[0] for row in restored.rows("SELECT id FROM tickets LIMIT 100000")}
        assert set(self.marked) <= stored
        assert self.key.ticket()["number"] > self.last_number
        assert code_of(self.revoked.get(TICKETS)) == (401, "api_key_unconfirmed")


def run_drill(begin: Begin, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    with begin(directory / "data") as service:
        drill = Drill(service, directory)
        with empty_target(service, directory / "restored") as terminal:
            terminal.out("restore", str(drill.backup))
            with serving_restored(terminal) as restored:
                drill.check(restored)


def test_a_restored_service_has_what_was_acknowledged_and_nothing_revoked_works(
    begin: Begin, tmp_path: Path
) -> None:
    run_drill(begin, tmp_path)


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_twenty_drills_under_load(begin: Begin, tmp_path: Path) -> None:
    for number in range(20):
        run_drill(begin, tmp_path / str(number))


@pytest.fixture
def source(begin: Begin, tmp_path: Path) -> Iterator[Service]:
    """A service with one key."""
    with begin(tmp_path / "data") as service:
        service.tenant().key()
        yield service


def test_a_backup_is_checked_and_says_what_else_is_needed(source: Service, tmp_path: Path) -> None:
    terminal, file = terminal_of(source), tmp_path / "backup"
    written = terminal.json("backup", str(file))
    assert terminal.json("backup", "--check", str(file)) == written
    (fingerprint,) = source.state.key_ring.fingerprints
    assert written["master_keys"] == [fingerprint]
    assert "SEALDESK_MASTER_KEY" in written["settings"]
    assert (written["dump"]["rows"]["api_keys"], written["dump"]["epoch"]) == (1, 0)
    shown = terminal.out("backup", "--check", str(file))
    assert fingerprint in shown
    assert file.stat().st_mode & 0o777 == 0o600


@SQLITE_FIRST
def test_attachments_are_restored(source: Service, tmp_path: Path) -> None:
    key, file = source.tenant().key(), tmp_path / "backup"
    contents = [b"one", bytes(300_000)]
    shown = [key.attachment(content=content) for content in contents]
    (source.settings.data_dir / "attachments/incoming/half").write_bytes(b"half of a file")
    written = terminal_of(source).json("backup", str(file))
    assert (written["attachments"], written["attachment_bytes"]) == (2, 300_003)
    with empty_target(source, tmp_path / "restored") as terminal:
        terminal.out("restore", str(file))
    found = {
        path.name.partition(".")[0]: path
        for path in (tmp_path / "restored/attachments").rglob("*")
        if path.is_file() and path.name != "lock"
    }
    assert [found.pop(each["sha256"]).read_bytes() for each in shown] == contents
    assert found == {}


def test_an_attachment_that_is_gone_or_changed_makes_a_backup_incomplete(
    source: Service, tmp_path: Path
) -> None:
    tenant, file = source.tenant(), tmp_path / "backup"
    key = tenant.key()
    whole, gone, cut, changed, unused = (
        key.attachment(content=name * 9) for name in (b"a", b"b", b"c", b"d", b"e")
    )
    ids = [each["id"] for each in (whole, gone, cut, changed)]
    ticket = key.ticket(attachment_ids=ids)
    paths = {each["sha256"]: path_of(source, each) for each in (whole, gone, cut, changed, unused)}
    paths[gone["sha256"]].unlink()
    paths[unused["sha256"]].unlink()
    paths[cut["sha256"]].write_bytes(b"c" * 8)
    paths[changed["sha256"]].write_bytes(b"x" * 9)

    result = terminal_of(source).run("backup", str(file), "--json")
    assert result.returncode == 1
    written = json.loads(result.stdout)
    assert written["report"]["lacking_count"] == 4
    named = {
        (each["fault"], each["path"], each["ticket_number"])
        for each in written["report"]["lacking"]
    }
    folder = source.settings.data_dir
    assert named == {
        (fault, str(paths[each["sha256"]].relative_to(folder)), number)
        for fault, each, number in (
            ("missing", gone, ticket["number"]),
            ("missing", unused, None),
            ("damaged", cut, ticket["number"]),
            ("damaged", changed, ticket["number"]),
        )
    }
    checked = terminal_of(source).run("backup", "--check", str(file))
    assert checked.returncode == 1
    assert f"{file} is INCOMPLETE" in checked.stdout
    assert f"missing    ticket {ticket['number']} of tenant {tenant.id}" in checked.stdout

    with empty_target(source, tmp_path / "restored") as terminal:
        assert "4 attachments could not be copied" in terminal.out("restore", str(file))
    restored = [path for path in (tmp_path / "restored/attachments").rglob("*.*") if path.is_file()]
    assert [path.read_bytes() for path in restored] == [b"a" * 9]


def test_a_database_of_an_earlier_version_is_backed_up_before_its_upgrade(
    source: Service, tmp_path: Path
) -> None:
    newer = terminal_of(source).with_env(**newer_sealdesk(tmp_path))
    written = newer.run("backup", str(tmp_path / "backup"), "--json")
    assert (written.returncode, written.stderr.count("sealdesk:")) == (0, 0)
    assert json.loads(written.stdout)["dump"]["schema"] == KNOWN_VERSIONS[-1]


@SQLITE_ONLY
def test_a_directory_keeps_the_newest_backups(source: Service, tmp_path: Path) -> None:
    terminal, backups = terminal_of(source), tmp_path / "backups"
    assert "create it" in terminal.refused("backup", "--into", str(backups))
    backups.mkdir()
    others = ["sealdesk-notes.backup", "sealdesk-2026-01-03T023000Z.backup.part"]
    old = [f"sealdesk-2026-01-0{day}T023000Z.backup" for day in (1, 2, 3)]
    for name in others + old:
        (backups / name).touch()
    shown = source.tenant().key().attachment(content=b"text")
    file = path_of(source, shown)
    kept = file.rename(tmp_path / "kept")
    assert terminal.run("backup", "--into", str(backups), "--keep", "2").returncode == 1
    names = {path.name for path in backups.iterdir()}
    assert names >= {*others, *old}, "an incomplete backup deletes none"
    (incomplete,) = names - {*others, *old}
    kept.rename(file)
    wait_until(lambda: f"{clock.iso(Clock().now_us())[:19]}Z".replace(":", "") not in incomplete)
    written = terminal.out("backup", "--into", str(backups), "--keep", "2")
    left = {path.name for path in backups.iterdir()} - {*others}
    assert len(left) == 2
    assert incomplete in left
    assert any(name in written for name in left)


@SQLITE_FIRST
def test_a_drill_restores_beside_the_running_service_and_leaves_nothing(
    source: Service, tmp_path: Path
) -> None:
    key, file, scratch = source.tenant().key(), tmp_path / "backup", tmp_path / "scratch"
    scratch.mkdir()
    shown = key.attachment(content=b"text")
    key.ticket(attachment_ids=[shown["id"]])
    terminal = terminal_of(source).with_env(TMPDIR=str(scratch))
    terminal.out("backup", str(file))
    key.ticket()  # later than the backup
    before = databases(source)
    done = terminal.out("restore", "--drill", str(file))
    rows = [line.split() for line in done.splitlines()]
    assert ["tickets", "1", "1"] in rows
    assert ["attached", "files", "1", "1"] in rows
    assert "The backup was restored in" in done
    assert list(scratch.iterdir()) == []
    assert databases(source) == before
    assert len(key.get(TICKETS).json()["data"]) == 2, "the service goes on"


def databases(service: Service) -> list[str]:
    """The databases of the server; on SQLite there is none."""
    if not service.settings.database_url:
        return []
    rows = service.rows("SELECT datname FROM pg_database WHERE datname LIKE '%drill%' LIMIT 99")
    return [row["datname"] for row in rows]


@SQLITE_ONLY
def test_a_drill_begins_no_epoch(source: Service) -> None:
    refused = terminal_of(source).refused("restore", "--drill", "--epoch-only", code=2)
    assert "give --epoch-only alone" in refused
    assert source.rows("SELECT started_at FROM epochs LIMIT 1") == []


@SQLITE_FIRST
def test_a_drill_of_an_incomplete_backup_says_so(source: Service, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    path_of(source, source.tenant().key().attachment(content=b"text")).unlink()
    assert terminal_of(source).run("backup", str(file)).returncode == 1
    done = terminal_of(source).run("restore", "--drill", str(file))
    assert done.returncode == 1
    assert "The backup was NOT wholly restored" in done.stdout
    assert "1 attachments could not be copied" in done.stdout


def path_of(service: Service, attachment: dict[str, str]) -> Path:
    """The file with the bytes of an attachment."""
    sha256 = attachment["sha256"]
    (found,) = service.settings.data_dir.glob(f"attachments/{sha256[:2]}/{sha256}.*")
    return found


@SQLITE_FIRST
def test_only_what_a_row_needs_is_copied(source: Service, tmp_path: Path) -> None:
    shown = source.tenant().key().attachment(content=b"one")
    kept = path_of(source, shown)
    kept.with_name(f"{shown['sha256'][:2]}{'0' * 62}.{source.tenant().id}").write_bytes(b"of none")
    written = terminal_of(source).json("backup", str(tmp_path / "backup"))
    assert (written["attachments"], written["attachment_bytes"]) == (1, 3)


@SQLITE_FIRST
def test_attachments_are_left_only_in_a_bucket(source: Service, tmp_path: Path) -> None:
    result = terminal_of(source).run("backup", str(tmp_path / "backup"), "--leave-in-bucket")
    assert result.returncode == 1
    assert "--leave-in-bucket needs SEALDESK_ATTACHMENT_BUCKET" in result.stderr
    assert not (tmp_path / "backup").exists()


@SQLITE_FIRST
def test_a_backup_holds_no_master_key(source: Service, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    (master_key,) = source.settings.master_keys
    assert master_key not in file.read_bytes()
    assert terminal_of(source).env["SEALDESK_MASTER_KEY"].encode() not in file.read_bytes()


@SQLITE_FIRST
def test_an_encrypted_backup_needs_its_passphrase(source: Service, tmp_path: Path) -> None:
    file, right, wrong = (tmp_path / name for name in ("backup", "right", "wrong"))
    right.write_text("correct horse battery\n")
    wrong.write_text("incorrect horse battery\n")
    terminal = terminal_of(source)
    terminal.out("backup", str(file), "--passphrase-file", str(right))
    assert b"sealed_secret" not in file.read_bytes()
    assert "is encrypted" in terminal.refused("backup", "--check", str(file))
    refused = terminal.run("backup", "--check", str(file), "--passphrase-file", str(wrong))
    assert "passphrase is wrong" in refused.stderr
    with empty_target(source, tmp_path / "restored") as target:
        right.write_text("\ufeffcorrect horse battery\r\n")  # as Windows writes it
        target.out("restore", str(file), "--passphrase-file", str(right))


@SQLITE_FIRST
def test_a_short_passphrase_is_refused(source: Service, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("secret\n")
    refused = terminal_of(source).refused(
        "backup", str(tmp_path / "backup"), "--passphrase-file", str(short)
    )
    assert "at least 12 characters" in refused


def test_nothing_is_replaced(source: Service, tmp_path: Path) -> None:
    terminal, file = terminal_of(source), tmp_path / "backup"
    terminal.out("backup", str(file))
    assert "exists" in terminal.refused("backup", str(file))
    refused = terminal.run("restore", str(file))
    assert refused.returncode == 1
    assert "a restore replaces nothing" in refused.stderr


@SQLITE_FIRST
def test_another_master_key_is_refused_before_anything_is_restored(
    source: Service, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    with empty_target(source, tmp_path / "restored") as target:
        other = target.with_env(SEALDESK_MASTER_KEY=random_key())
        if not source.settings.database_url:
            del other.env["SEALDESK_JWT_SECRET"]  # which a start of the service would create
        assert "sealed with the master key" in other.run("restore", str(file)).stderr
        assert not (tmp_path / "restored" / "jwt.key").exists()
        target.out("restore", str(file))


@SQLITE_FIRST
def test_a_backup_of_a_development_version_is_not_restored(source: Service, tmp_path: Path) -> None:
    file, dump, old = tmp_path / "backup", tmp_path / "dump", tmp_path / "old"
    terminal_of(source).out("backup", str(file))
    with archive.opened(file, None) as backup:
        dump.write_bytes(b"".join(backup.blocks()))
    described = replace(backup.manifest, dump=replace(backup.manifest.dump, schema="0070"))
    with old.open("wb") as target:
        archive.write(target, described, archive.Payload(dump), None, lambda _: None)
    with empty_target(source, tmp_path / "restored") as terminal:
        refused = terminal.run("restore", str(old))
        assert f"commit {DEVELOPMENT_COMMIT}, run `sealdesk restore` there" in refused.stderr
        assert not [*terminal.data_dir.glob("sealdesk.db*")]


@SQLITE_FIRST
def test_a_damaged_backup_is_not_restored(source: Service, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    with empty_target(source, tmp_path / "restored") as target:
        assert "its checksum is wrong" in target.run("restore", str(file)).stderr
        assert not (target.data_dir / "sealdesk.db").exists()


def test_a_killed_backup_leaves_no_file_and_the_next_cleans_up(
    source: Service, tmp_path: Path
) -> None:
    directory = tmp_path / "backups"
    directory.mkdir()
    with start_command("backup", str(directory / "one"), env=terminal_of(source).env) as child:
        wait_until(lambda: any(directory.iterdir()) or child.poll() is not None)
        child.send_signal(signal.SIGKILL)
    terminal_of(source).out("backup", str(directory / "two"))
    assert {path.name for path in directory.iterdir()} <= {"one", "two"}
    for path in directory.iterdir():
        terminal_of(source).out("backup", "--check", str(path))


def test_a_full_disk_leaves_nothing(source: Service, tmp_path: Path) -> None:
    directory = tmp_path / "backups"
    directory.mkdir()
    command = 'ulimit -f 64; exec "$0" backup "$1"'
    done = subprocess.run(
        ["bash", "-c", command, PROGRAM, str(directory / "one")],
        env=terminal_of(source).env, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert list(directory.iterdir()) == []


def test_the_full_disk_is_named_and_not_the_database(tmp_path: Path) -> None:
    def fill_file(_: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill_copy(directory: Path) -> None:
        with closing(sqlite3.connect(directory / "dump")) as connection:
            connection.execute("PRAGMA max_page_count = 1")
            connection.execute("CREATE TABLE t (a)")

    for fill in (fill_file, fill_copy):
        with pytest.raises(Unusable) as refused, scratch.directory(tmp_path) as directory:
            fill(directory)
        assert str(refused.value) == f"{tmp_path} is on a full file system; make room there"
    assert list(tmp_path.iterdir()) == []


@SQLITE_FIRST
def test_an_interrupted_restore_can_be_repeated(source: Service, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    with empty_target(source, tmp_path / "restored") as target:
        for _ in range(3):
            with start_command("restore", str(file), env=target.env, stderr=PIPE) as child:
                assert child.stderr is not None
                child.stderr.readline()
                child.send_signal(signal.SIGKILL)
        done = target.run("restore", str(file))
        is_whole = done.returncode == 0 or "replaces nothing" in done.stderr
        assert is_whole or "unfinished restore" in done.stderr, done.stderr


@SQLITE_ONLY
def test_the_server_of_a_restored_database_ends_log_ins_and_cursors(
    source: Service, tmp_path: Path
) -> None:
    drill = Drill(source, tmp_path)
    with empty_target(source, tmp_path / "restored") as target:
        target.out("restore", str(drill.backup))
        with serving(target) as served:
            at = {"authorization": f"Bearer {drill.admin.token}"}
            assert httpx.get(f"{served.url}{KEYS}", headers=at, timeout=60).status_code == 401
            assert "uses" in target.refused("restore", "--epoch-only")
            target.out("keys", "confirm", drill.key.id)
            path = f"{TICKETS}?per_page=2&cursor={drill.cursors[TICKETS]}"
            headers = drill.key.signature_headers("GET", path)
            response = httpx.get(f"{served.url}{path}", headers=headers, timeout=60)
            assert code_of(response) == (410, "cursor_expired")


def test_an_epoch_begins_without_a_backup(begin: Begin, tmp_path: Path) -> None:
    with begin(tmp_path / "data") as service:
        key = service.tenant().key()
        number = key.ticket()["number"]
        service.stop()
        terminal = terminal_of(service)
        assert "A new epoch has begun" in terminal.out("restore", "--epoch-only")
        with serving_restored(terminal) as restored:
            key.service = restored
            assert code_of(key.get(TICKETS)) == (401, "api_key_unconfirmed")
            assert terminal.out("keys", "confirm", "--all") == "Confirmed 1 key.\n"
            assert key.ticket()["number"] > number


@POSTGRESQL_ONLY
def test_an_epoch_does_not_begin_under_a_running_service(source: Service) -> None:
    assert "is in use" in terminal_of(source).refused("restore", "--epoch-only")


@SQLITE_FIRST
def test_a_surviving_journal_tells_which_keys_changed_after_the_backup(
    source: Service, tmp_path: Path
) -> None:
    source.settings.data_dir.mkdir(exist_ok=True)  # on PostgreSQL nothing else needs it
    tenant = source.tenant()
    kept, rotated, revoked = (tenant.key(name=name) for name in ("Kept", "Rotated", "Revoked"))
    admin, file = tenant.admin(), tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    admin.delete(f"{KEYS}/{revoked.id}")
    admin.post(f"{KEYS}/{rotated.id}/rotate")
    admin.post(KEYS, {"name": "Created later"})
    with empty_target(source, tmp_path / "restored") as target:
        target.data_dir.mkdir(exist_ok=True)
        shutil.copy(source.settings.data_dir / "keys.journal", target.data_dir)
        told = target.out("restore", str(file))
        assert all(each in told for each in (revoked.id, rotated.id, "Created later"))
        assert kept.id not in told
        with serving_restored(target) as restored:
            visitor = Visitor(restored)
            visitor.log_in(tenant.admin_email)
            page = visitor.get(CONFIRM).text
            assert "Revoked after the backup" in page
            assert "Rotated after the backup" in page
            assert "Created later" in page
            of_tenant = visitor.submit(visitor.get(CONFIRM).form(CONFIRM), key="all").text
            assert "Revoked" in of_tenant
            target.out("keys", "confirm", "--all")
            of_restored = [key_of(restored, key) for key in (kept, rotated, revoked)]
            assert [key.get(TICKETS).status_code for key in of_restored] == [200, 200, 401]


def key_of(service: Service, key: Key) -> Key:
    """The same key as a client of another service."""
    return Key(service, key.id, key.api_key, key.api_secret)


@SQLITE_FIRST
def test_without_a_journal_nothing_is_known_and_that_is_said(
    source: Service, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    terminal_of(source).out("backup", str(file))
    with empty_target(source, tmp_path / "restored") as target:
        assert "Nothing tells which keys changed" in target.out("restore", str(file))
