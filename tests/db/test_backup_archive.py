"""The file of a backup: every changed byte and every cut is noticed."""

import hashlib
import io
import subprocess
from pathlib import Path

import pytest

from sealdesk.crypto import encrypted_file
from sealdesk.crypto.encrypted_file import DamagedFile, DecryptingReader
from sealdesk.db.backup import archive
from sealdesk.db.backup.archive import Dump, Manifest
from sealdesk.db.migrations.schema_version import Unusable

PASSPHRASE = b"correct horse battery"
CONTENT = bytes(range(256)) * 20


def ignore(_: int) -> None:
    """No progress is shown."""


def write_backup(
    directory: Path, content: bytes = CONTENT, passphrase: bytes | None = None
) -> Path:
    """A backup of this content."""
    dump, file = directory / "dump", directory / "backup"
    dump.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    described = Dump("sqlite", "0001", 0, {"tickets": 1}, len(content), digest)
    manifest = Manifest(1, "0.1.0", "2027-01-31T00:00:00Z", described, (), None, (), ())
    with file.open("wb") as target:
        archive.write(target, manifest, archive.Payload(dump), passphrase, ignore)
    return file


def unpack(file: Path, passphrase: bytes | None = None) -> bytes:
    archive.check(file, passphrase, ignore)
    with archive.opened(file, passphrase) as opened:
        return b"".join(opened.blocks())


def assert_every_change_is_noticed(file: Path, step: int, passphrase: bytes | None = None) -> None:
    whole = file.read_bytes()
    for place in range(0, len(whole), step):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        with pytest.raises(Unusable):
            archive.check(file, passphrase, ignore)
    for length in range(0, len(whole), step * 3):
        file.write_bytes(whole[:length])
        with pytest.raises(Unusable):
            archive.check(file, passphrase, ignore)


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE])
@pytest.mark.parametrize("length", [0, 1, 5000, 3 * 1024 * 1024])
def test_a_backup_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, passphrase: bytes | None
) -> None:
    monkeypatch.setattr(encrypted_file, "_SCRYPT_N", 16)
    content = CONTENT * (length // len(CONTENT) + 1)
    file = write_backup(tmp_path, content[:length], passphrase)
    assert unpack(file, passphrase) == content[:length]


def test_tar_unpacks_a_backup(tmp_path: Path) -> None:
    file = write_backup(tmp_path)
    subprocess.run(["tar", "-xf", file, "-C", tmp_path], check=True, capture_output=True)
    assert (tmp_path / "sealdesk.db").read_bytes() == CONTENT


def test_a_changed_byte_or_a_cut_is_noticed(tmp_path: Path) -> None:
    assert_every_change_is_noticed(write_backup(tmp_path), step=97)


def test_a_change_of_an_encrypted_backup_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encrypted_file, "_SCRYPT_N", 16)
    file = write_backup(tmp_path, passphrase=PASSPHRASE)
    assert_every_change_is_noticed(file, step=97, passphrase=PASSPHRASE)


@pytest.mark.prove
@pytest.mark.parametrize("passphrase", [None, PASSPHRASE])
def test_every_single_changed_byte_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passphrase: bytes | None
) -> None:
    monkeypatch.setattr(encrypted_file, "_SCRYPT_N", 16)
    assert_every_change_is_noticed(write_backup(tmp_path, b"x", passphrase), 1, passphrase)


def test_chunks_of_an_encrypted_file_cannot_be_exchanged_or_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encrypted_file, "_SCRYPT_N", 16)
    monkeypatch.setattr(encrypted_file, "CHUNK_BYTES", 1024)
    monkeypatch.setattr(encrypted_file, "_SEALED_BYTES", 1040)
    file = io.BytesIO()
    writer = encrypted_file.EncryptingWriter(file, PASSPHRASE)
    writer.write(CONTENT[:2048])
    writer.finish()
    whole = file.getvalue()
    start = len(whole) - 2 * 1040
    first, second = whole[start : start + 1040], whole[start + 1040 :]
    for chunks in (second + first, first + first, second, first, first + second + second):
        with pytest.raises(DamagedFile):
            decrypt(whole[:start] + chunks)
    assert decrypt(whole) == CONTENT[:2048]


def decrypt(encrypted: bytes) -> bytes:
    """The content of an encrypted file of two chunks."""
    return DecryptingReader(io.BytesIO(encrypted), PASSPHRASE).read(4096)


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other"
    content = b"x" * 1000
    file.write_bytes(content + f"{hashlib.sha256(content).hexdigest()}\n".encode())
    with pytest.raises(Unusable, match="cannot be restored"):
        archive.check(file, None, ignore)
