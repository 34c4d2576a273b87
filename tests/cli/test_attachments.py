"""`sealdesk attachments move`, and backups and checks of attachments that are in a bucket."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk.settings import from_env
from tests.cli.backups import empty_target, serving_restored, terminal_of
from tests.cli.terminal import Terminal
from tests.support.buckets import bucket_env, faulty_proxy, list_bucket, store_of
from tests.support.databases import SQLITE_FIRST, Begin
from tests.support.service import Service, running

CONTENTS = [b"one", b"three", bytes(300_000)]
COUNTS = ("copied", "there already", "bad")


@pytest.fixture
def source(template: Path, tmp_path: Path) -> Iterator[Service]:
    """A service with three attachments in its data directory."""
    with running(tmp_path / "data", template) as service:
        key = service.tenant().key()
        for content in CONTENTS:
            key.attachment(content=content)
        yield service


def attached(service: Service) -> list[Path]:
    return sorted((service.settings.data_dir / "attachments").glob("[0-9a-f][0-9a-f]/*"))


def contents(service: Service) -> list[bytes]:
    return sorted(path.read_bytes() for path in attached(service))


def move(terminal: Terminal, to: str) -> list[int]:
    """The counts that a move prints."""
    lines = terminal.out("attachments", "move", "--to", to).splitlines()
    return [int(line.removeprefix(name)) for name, line in zip(COUNTS, lines[1:], strict=False)]


def test_attachments_move_to_a_bucket_and_back(source: Service) -> None:
    env = bucket_env()
    terminal = terminal_of(source).with_env(**env)
    assert move(terminal, "bucket") == [3, 0, 0]
    assert sorted(list_bucket(env).values()) == sorted(CONTENTS)
    assert contents(source) == sorted(CONTENTS)
    assert sorted(list_bucket(env)) == [
        f"attachments/{path.parent.name}/{path.name}" for path in attached(source)
    ]
    for path in attached(source):
        path.unlink()
    assert move(terminal, "directory") == [3, 0, 0]
    assert contents(source) == sorted(CONTENTS)
    assert {path.stat().st_mode & 0o777 for path in attached(source)} == {0o600}


def test_an_interrupted_move_goes_on(source: Service) -> None:
    env = bucket_env()
    with faulty_proxy() as proxy:
        address = {"SEALDESK_ATTACHMENT_ENDPOINT": f"http://127.0.0.1:{proxy.port}"}
        proxy.fail(refuses=True)
        refused = terminal_of(source).with_env(**env | address).run(
            "attachments", "move", "--to", "bucket"
        )  # fmt: skip
        assert refused.returncode == 1
        assert "attachments cannot be stored or read" in refused.stderr
    terminal = terminal_of(source).with_env(**env)
    move(terminal, "bucket")
    source.tenant().key().attachment(content=b"uploaded meanwhile")
    assert move(terminal, "bucket") == [1, 3, 0]


def test_a_file_that_does_not_fit_its_name_is_not_moved(source: Service) -> None:
    env = bucket_env()
    damaged = attached(source)[0]
    damaged.write_bytes(bytes(damaged.stat().st_size - 1) + b"!")
    refused = terminal_of(source).with_env(**env).run("attachments", "move", "--to", "bucket")
    assert refused.returncode == 1
    assert damaged.name in refused.stderr
    assert len(list_bucket(env)) == 2


def test_a_move_needs_a_bucket_and_a_target(source: Service) -> None:
    terminal = terminal_of(source)
    assert "SEALDESK_ATTACHMENT_BUCKET is missing" in terminal.refused(
        "attachments", "move", "--to", "bucket"
    )
    assert "bucket or directory" in terminal.refused(
        "attachments", "move", "--to", "disk", code=2
    )  # fmt: skip


@SQLITE_FIRST
def test_a_backup_of_a_bucket_is_restored_to_the_storage_of_the_settings(
    begin: Begin, tmp_path: Path
) -> None:
    env, other, file = bucket_env(), bucket_env(), tmp_path / "backup"
    with begin(tmp_path / "data", **env) as service:
        key = service.tenant().key()
        shown = [key.attachment(content=content) for content in CONTENTS]
        terminal = terminal_of(service).with_env(**env)
        written = terminal.json("backup", str(file))
        assert (written["attachments"], written["attachment_bytes"]) == (3, 300_008)
        with empty_target(service, tmp_path / "restored") as target:
            target.with_env(**other).out("restore", str(file))
            assert sorted(list_bucket(other).values()) == sorted(CONTENTS)
            with serving_restored(target.with_env(**other)) as restored:
                rows = restored.rows("SELECT id FROM attachments ORDER BY id LIMIT 9")
                assert [row["id"] for row in rows] == sorted(each["id"] for each in shown)


def test_a_backup_may_leave_attachments_in_the_bucket(template: Path, tmp_path: Path) -> None:
    env, file = bucket_env(), tmp_path / "backup"
    with running(tmp_path / "data", template, **env) as service:
        key = service.tenant().key()
        shown = [key.attachment(content=content) for content in CONTENTS]
        terminal = terminal_of(service).with_env(**env)
        written = terminal.json("backup", str(file), "--leave-in-bucket")
        assert file.stat().st_size < written["dump"]["bytes"] + written["attachment_bytes"]
        assert "3 attached files in the bucket" in terminal.out("backup", "--check", str(file))
        store_of(env).delete(next(path for path in list_bucket(env) if shown[0]["sha256"] in path))
        later = terminal.run("backup", str(tmp_path / "later"), "--leave-in-bucket", "--json")
        assert later.returncode == 1
        (lacking,) = json.loads(later.stdout)["report"]["lacking"]
        assert (lacking["fault"], lacking["ticket_number"]) == ("missing", None)


def test_the_doctor_tries_the_bucket(source: Service) -> None:
    env = bucket_env()
    terminal = terminal_of(source)
    assert "bucket" not in {each["about"] for each in terminal.json("doctor")}
    move(terminal.with_env(**env), "bucket")
    found = {each["about"]: each for each in terminal.with_env(**env).json("doctor")}
    assert found["bucket"]["state"] == "good"
    assert len(list_bucket(env)) == len(CONTENTS)
    wrong = terminal.with_env(**env | {"SEALDESK_ATTACHMENT_SECRET": "another-secret"})
    failed = wrong.run("doctor")
    assert failed.returncode == 1
    assert "SignatureDoesNotMatch" in failed.stdout
    assert "another-secret" not in failed.stdout


def test_the_secret_may_be_in_a_file(tmp_path: Path) -> None:
    env = bucket_env() | {"SEALDESK_DATA_DIR": str(tmp_path), "SEALDESK_ATTACHMENT_SECRET": ""}
    (tmp_path / "bucket.secret").write_text("secret-in-a-file\n")
    bucket = from_env(env, needs_keys=False).attachment_bucket
    assert bucket is not None
    assert bucket.secret == "secret-in-a-file"
    assert "secret-in-a-file" not in repr(bucket)
