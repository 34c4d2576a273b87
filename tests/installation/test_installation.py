"""The check of the whole installation: each fault is named, and gone when it is repaired."""

import asyncio
import datetime
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sealdesk import __version__, build
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS
from sealdesk.installation import checks, marking, processes, watch
from sealdesk.installation.store import notes
from sealdesk.installation.types import BackupNote, ProcessNote
from sealdesk.installation.watch import Watch
from sealdesk.telemetry.issues import NOT_LOOKING, Findings, Issue
from tests.cli.backups import terminal_of
from tests.mail.support import Desk, message, receiving
from tests.servers import free_port
from tests.support.client import Person
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_FIRST, SQLITE_ONLY, Begin
from tests.support.service import Service, wait_until

PATH = "/healthz/installation"
DAY_S = 24 * 3600


class Installation:
    """A service whose processes look when they are told."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.data_dir = service.settings.data_dir
        self.serve = Watch(service.state, "serve")
        self._worker = Watch(service._background, "worker")

    def look(self) -> dict[str, Any]:
        """What the page for monitoring shows after another look of each process."""
        service = self.service
        if service.settings.has_worker_process:
            service.in_background(lambda _: self._worker.look())
        service.in_serving(lambda _: self.serve.look())
        return dict(Person(service, "").get(PATH).json()["data"])

    def issues(self) -> dict[str, str]:
        """The issues: code → what."""
        return {issue["code"]: issue["what"] for issue in self.look()["issues"]}

    def note(self, name: str, note: msgspec.Struct, age_s: float = 0) -> None:
        """Note something as another process does."""
        text = msgspec.json.encode(note).decode()
        at = self.service.clock.now_us() - round(age_s * 1_000_000)
        self.service.write(
            lambda tx: notes.put(tx, name, text, now_us=at, expires_at=at + processes.KEPT_US)
        )


@pytest.fixture
def installation(begin: Begin, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "data").mkdir(mode=0o700)
    with begin(tmp_path / "data") as service:
        yield Installation(service)


def process(
    kind: Any = "serve", version: str = __version__, commit: str = build.commit()
) -> ProcessNote:
    return ProcessNote(kind, "other-host", 7, version, 0, Findings(), commit)


def test_an_installation_without_a_fault_is_healthy(installation: Installation) -> None:
    # The worker looks at the tickets soon after the start. Each look is a request itself.
    wait_until(
        lambda: [each["code"] for each in installation.look()["unknown"]] == ["backup_lacks"]
    )
    seen = installation.look()
    assert (seen["healthy"], seen["issues"]) == (True, [])
    assert "GET /healthz/installation" in {each["route"] for each in seen["dearest_routes"]}
    metrics = Person(installation.service, "").get("/metrics").text
    assert 'sealdesk_issue{code="attachments_missing"} 0.0' in metrics
    assert 'code="backup_lacks"' not in metrics  # not looked at is not well


def test_nothing_is_well_once_nobody_looks(installation: Installation) -> None:
    installation.look()
    installation.service.clock.advance(60)
    seen = Person(installation.service, "").get(PATH).json()["data"]
    assert (seen["healthy"], [each["code"] for each in seen["issues"]]) == (False, [NOT_LOOKING])
    assert "disk_almost_full" in {each["code"] for each in seen["unknown"]}
    metrics = Person(installation.service, "").get("/metrics").text
    assert f'sealdesk_issue{{code="{NOT_LOOKING}"}} 1.0' in metrics
    assert 'code="disk_almost_full"' not in metrics
    assert NOT_LOOKING not in installation.issues()


@SQLITE_ONLY
def test_a_look_that_fails_is_not_the_last(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = iter([RuntimeError(), asyncio.CancelledError()])

    async def fail() -> None:
        raise next(ends)

    monkeypatch.setattr(installation.serve, "look", fail)
    monkeypatch.setattr(watch, "FIRST_LOOK_AFTER_S", 0)
    monkeypatch.setattr(processes, "LOOK_EVERY_S", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(installation.serve.run())


@SQLITE_ONLY
def test_only_this_machine_may_ask(installation: Installation) -> None:
    anybody = Person(installation.service, "")
    assert anybody.get(PATH, x_forwarded_for="192.0.2.1").status_code == 404


def test_a_missing_attachment_is_named_with_its_ticket(installation: Installation) -> None:
    key = installation.service.tenant().key()
    shown = key.attachment(content=b"text")
    ticket = key.ticket(attachment_ids=[shown["id"]])
    (file,) = installation.data_dir.glob(f"attachments/*/{shown['sha256']}.*")
    kept = file.rename(file.with_suffix(".kept"))
    what = installation.issues()["attachments_missing"]
    assert shown["sha256"] in what
    assert f"ticket {ticket['number']} of tenant" in what
    metrics = Person(installation.service, "").get("/metrics").text
    assert 'sealdesk_issue{code="attachments_missing"} 1.0' in metrics
    kept.rename(file)
    assert installation.issues() == {}


@SQLITE_ONLY
def test_the_doctor_compares_all_attachments(installation: Installation) -> None:
    key = installation.service.tenant().key()
    shown = [key.attachment(content=bytes([number])) for number in range(60)]
    last = max(shown, key=lambda each: str(each["sha256"]))
    (file,) = installation.data_dir.glob(f"attachments/*/{last['sha256']}.*")
    written = file.read_bytes()
    file.unlink()
    terminal = terminal_of(installation.service)
    found = {each["about"]: each["state"] for each in terminal.json("doctor")}
    assert (found["checks"], "attachments_missing" in found) == ("good", False)
    deep = terminal.run("doctor", "--deep")
    assert deep.returncode == 1
    assert last["sha256"] in deep.stdout
    file.write_bytes(bytes([written[0] ^ 1, *written[1:]]))
    assert last["sha256"] in terminal.run("doctor", "--deep").stdout
    file.write_bytes(written)
    assert "of all attachments" in terminal.out("doctor", "--deep")


@SQLITE_ONLY
def test_a_journal_of_keys_that_cannot_be_written_is_named(installation: Installation) -> None:
    journal = installation.data_dir / "keys.journal"
    journal.unlink(missing_ok=True)
    journal.mkdir()
    assert "Is a directory" in installation.issues()["keys_journal_unwritable"]
    journal.rmdir()
    assert installation.issues() == {}


@SQLITE_ONLY
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_named(installation: Installation) -> None:
    file = installation.data_dir / "left-by-root"
    file.touch()
    os.chown(file, 12345, 12345)
    assert "left-by-root" in installation.issues()["data_directory_foreign"]
    terminal_of(installation.service).run("doctor", "--fix")
    assert installation.issues() == {}


@SQLITE_ONLY
def test_a_data_directory_that_is_gone_is_not_well(installation: Installation) -> None:
    away = installation.data_dir.rename(installation.data_dir.with_name("away"))
    unknown = {each["code"] for each in installation.look()["unknown"]}
    assert {"data_directory_unwritable", "disk_almost_full", "keys_journal_unwritable"} <= unknown
    away.rename(installation.data_dir)


@SQLITE_ONLY
@pytest.mark.parametrize(
    ("limit", "value", "code"),
    [
        ("MIN_FREE_BYTES", 1 << 60, "disk_almost_full"),
        ("_MAX_USED_DESCRIPTORS", 0.0, "descriptors_almost_used"),
    ],
)
def test_what_is_almost_used_up_is_named(
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: float,
    code: str,
) -> None:
    monkeypatch.setattr(checks, limit, value)
    assert list(installation.issues()) == [code]


@SQLITE_ONLY
def test_a_database_file_that_was_replaced_is_named(installation: Installation) -> None:
    file = installation.service.settings.database_path
    away = file.rename(file.with_name("away"))
    wait_until(lambda: "storage_faulty" in installation.issues())
    assert "replaced or truncated" in installation.issues()["storage_faulty"]
    away.rename(file)


@SQLITE_FIRST
def test_a_sender_of_codes_that_no_desk_has_is_named(begin: Begin, tmp_path: Path) -> None:
    with begin(tmp_path, SEALDESK_MAIL_SENDER="codes@example.com") as service:
        installation = Installation(service)
        assert "codes@example.com" in installation.issues()["mail_sender_missing"]
        with receiving(service) as receiver:
            Desk(receiver, address="codes@example.com")
        assert "mail_sender_missing" not in installation.issues()


@SQLITE_ONLY
def test_redis_that_cannot_be_reached_is_named(begin: Begin, tmp_path: Path) -> None:
    with begin(tmp_path, SEALDESK_REDIS_URL=f"redis://127.0.0.1:{free_port()}") as service:
        assert "redis_unreachable" in Installation(service).issues()


def test_a_schema_of_another_version_is_named(installation: Installation) -> None:
    with changed_schema(installation.service, "0070"):
        assert "schema 0070" in installation.issues()["schema_differs"]
    assert installation.issues() == {}


def test_a_dropped_index_is_named(installation: Installation) -> None:
    installation.service.run("DROP INDEX views_name")
    assert "views_name" in installation.issues()["indexes_missing"]
    installation.service.run(
        "CREATE UNIQUE INDEX views_name ON views (tenant_id, owner_id, name_identity)"
    )
    assert installation.issues() == {}


@contextmanager
def changed_schema(service: Service, version: str) -> Iterator[None]:
    sql = "UPDATE alembic_version SET version_num = :version"
    service.write(lambda tx: tx.execute(sql, {"version": version}))
    yield
    service.write(lambda tx: tx.execute(sql, {"version": KNOWN_VERSIONS[-1]}))


def test_endpoints_and_mailboxes_that_fail_are_named(installation: Installation) -> None:
    service = installation.service
    with receiving(service) as receiver:
        desk = Desk(receiver)
    since = service.clock.now_us() - 60_000_000
    service.run(
        "INSERT INTO endpoints (tenant_id, id, url, events, is_active, secret_version,"
        f" failing_since, wakes, created_at) VALUES ('{desk.tenant.id}', 'failing',"
        f" 'https://example.test/hook', '[]', true, 1, {since}, 0, {since})"
    )
    service.run("UPDATE mailboxes SET problem = '{}'")
    issues = installation.issues()
    assert f"failing of tenant {desk.tenant.id}" in issues["endpoints_failing"]
    assert desk.address in issues["mailboxes_failing"]


@SQLITE_FIRST
def test_a_folder_that_is_not_read_is_named(installation: Installation) -> None:
    server = {"imap_host": "mail.example.test", "imap_username": "x", "imap_password": "x"}
    with receiving(installation.service) as receiver:
        desk = Desk(receiver, receives="imap", **server)
    installation.service.clock.advance(3600)
    assert desk.address in installation.issues()["mailboxes_failing"]


@SQLITE_FIRST
def test_a_paused_mailbox_is_named_once_messages_wait(installation: Installation) -> None:
    service = installation.service
    with receiving(service) as receiver:
        server = {"smtp_host": "mail.example.test", "smtp_username": "x", "smtp_password": "x"}
        desk = Desk(receiver, acknowledgement="Thank you.", **server)
        desk.get_mail(message())
    wait_until(lambda: bool(service.rows("SELECT 1 FROM outgoing_messages LIMIT 1")))
    service.run("UPDATE mailboxes SET is_paused = true")
    assert "mailboxes_failing" not in installation.issues()
    service.clock.advance(3600)
    assert desk.address in installation.issues()["mailboxes_failing"]


def test_the_last_backup_is_known(installation: Installation, tmp_path: Path) -> None:
    with changed_schema(installation.service, KNOWN_VERSIONS[-2]):  # as before an upgrade
        terminal_of(installation.service).out("backup", str(tmp_path / "backup"))
    seen = installation.look()
    assert (seen["issues"], seen["unknown"]) == ([], [])
    installation.note("backup", BackupNote("/backups/old.tar", 0), age_s=4 * DAY_S)
    assert "4 days old: /backups/old.tar" in installation.issues()["backup_lacks"]
    installation.note("backup", BackupNote("/backups/new.tar", 3))
    assert "lacks 3 attachments" in installation.issues()["backup_lacks"]


@SQLITE_ONLY
@pytest.mark.parametrize(
    ("days", "words"), [(5, "ends in 4 days"), (-1, "has ended"), (90, ""), (None, "No such file")]
)
def test_a_certificate_that_ends_is_named(
    begin: Begin, tmp_path: Path, days: int | None, words: str
) -> None:
    files = {"CERT": tmp_path / "cert.pem", "KEY": tmp_path / "key.pem"}
    write_certificate(files["CERT"], files["KEY"], days or 1)
    env = {f"SEALDESK_MAIL_TLS_{name}": str(file) for name, file in files.items()}
    with begin(tmp_path / "data", **env) as service:
        installation = Installation(service)
        if days is None:
            files["CERT"].unlink()
        assert words in installation.issues().get("mail_certificate_expires", "")
        assert ("mail_certificate_expires" in installation.issues()) == bool(words)


def write_certificate(certificate: Path, key_file: Path, days: int) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(ends - datetime.timedelta(days=100))
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


@POSTGRESQL_ONLY
def test_a_clock_that_differs_from_the_database_is_named(installation: Installation) -> None:
    installation.service.clock.correct(-3600)
    assert "differs by 3600 s" in installation.issues()["clock_differs"]
    installation.service.clock.correct(3600)
    assert "clock_differs" not in installation.issues()


@POSTGRESQL_ONLY
def test_a_data_directory_that_hosts_do_not_share_is_named(installation: Installation) -> None:
    installation.look()
    mark = installation.data_dir / marking.FILE
    first = mark.read_text()
    mark.unlink()  # as on a host with a directory of its own
    assert "is not the directory" in installation.issues()["data_directory_other"]
    terminal_of(installation.service).run("doctor", "--fix")
    assert mark.read_text() != first
    assert installation.issues() == {}


@POSTGRESQL_ONLY
@pytest.mark.parametrize(
    ("plant", "code", "words"),
    [
        (lambda each: each.note("process a", process(), 60), "process_silent", "serve on other-ho"),
        (lambda each: each.note("process a", process(version="9.9")), "versions_differ", "9.9"),
        (lambda each: each.note("process a", process(commit="f" * 40)), "versions_differ", "ffff"),
    ],
)
def test_other_processes_are_seen(
    installation: Installation, plant: Callable[[Installation], None], code: str, words: str
) -> None:
    plant(installation)
    assert words in installation.issues()[code]
    assert words in terminal_of(installation.service).run("doctor").stdout


@POSTGRESQL_ONLY
def test_an_issue_of_another_host_is_shown(installation: Installation) -> None:
    full = msgspec.structs.replace(
        process(),
        findings=Findings(issues=(Issue("disk_almost_full", "Full.", "Free."),)),
    )
    installation.note("process a", full)
    assert installation.issues() == {"disk_almost_full": "On other-host: Full."}


@POSTGRESQL_ONLY
def test_mail_that_nobody_receives_is_named(installation: Installation) -> None:
    with receiving(installation.service) as receiver:
        Desk(receiver)
    assert "mailboxes are not read" in installation.issues()["mail_missing"]
    installation.note("process a", process("mail"))
    assert installation.issues() == {}


def test_a_worker_that_does_not_run_is_named() -> None:
    alive = [process("serve")]
    issue = processes.find_missing(alive, "worker", "webhooks wait for it", since=5)
    assert issue is not None
    assert (issue.code, issue.since) == ("worker_missing", 5)
    assert "systemctl start sealdesk-worker" in issue.do
    assert processes.find_missing([process("worker")], "worker", "", None) is None


@SQLITE_ONLY
def test_a_check_that_fails_is_unknown(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(shutil, "disk_usage", fail)
    unknown = {each["code"]: each["why"] for each in installation.look()["unknown"]}
    assert "the check itself failed" in unknown["disk_almost_full"]
