"""The file of a backup: a tar archive of manifest, dump, files and report, then its SHA-256.

Without encryption, `tar` unpacks it. The file is written and read in order, in little memory.
"""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Literal, NamedTuple, Protocol, cast

import msgspec

from sealdesk.crypto import encrypted_file
from sealdesk.crypto.encrypted_file import DamagedFile, DecryptingReader, EncryptingWriter, Source
from sealdesk.db.migrations.schema_version import Unusable

MANIFEST_NAME = "manifest.json"
REPORT_NAME = "report.json"
DUMP_NAMES = {"sqlite": "sealdesk.db", "postgresql": "sealdesk.dump"}
_BLOCK_BYTES = 256 * 1024
_TRAILER_BYTES = 65  # the SHA-256 in hex and a line feed
_MAX_MANIFEST_BYTES = 1024 * 1024
_MAX_NAMED = 1000  # files that a report names

Advance = Callable[[int], None]


class Dump(msgspec.Struct, frozen=True):
    """The copy of the database inside a backup. rows: how many each table has."""

    database: str
    schema: str
    epoch: int
    rows: dict[str, int]
    bytes: int
    sha256: str


class SealedSample(msgspec.Struct, frozen=True):
    """A sealed secret of the database: the right master key opens it. about: its context."""

    sealed: bytes
    about: str


class Manifest(msgspec.Struct, frozen=True):
    """What a backup contains, and what restoring it needs beside it.

    master_keys: fingerprints of the master keys that sealed the secrets in the dump.
    settings: names of the variables that were set. files: other files of the data directory.
    attachments, attachment_bytes: how many files the rows need, and their size.
    are_attachments_copied: False when they are only known to be in the bucket.
    """

    format: int
    sealdesk: str
    created_at: str
    dump: Dump
    master_keys: tuple[str, ...]
    sample: SealedSample | None
    settings: tuple[str, ...]
    files: tuple[str, ...]
    attachments: int = 0
    attachment_bytes: int = 0
    are_attachments_copied: bool = True
    commit: str = "unknown"


class LackingFile(msgspec.Struct, frozen=True):
    """A file that a row needs and that could not be copied. path: where its storage has it.

    ticket_number: of a ticket that shows it, None for an upload that no ticket refers to.
    """

    fault: Literal["missing", "damaged", "unreadable"]
    path: str
    tenant_id: str
    ticket_number: int | None


class Report(msgspec.Struct, frozen=True):
    """What a backup lacks, known when all files were copied. lacking: the first of them."""

    lacking_count: int = 0
    lacking: tuple[LackingFile, ...] = ()

    @classmethod
    def of(cls, lacking: Sequence[LackingFile]) -> "Report":
        return cls(len(lacking), tuple(lacking[:_MAX_NAMED]))


class _Sink(Protocol):
    def write(self, data: bytes, /) -> int: ...


class PackedFile(NamedTuple):
    """A file in an archive, to be used before the next."""

    name: str
    size_bytes: int
    content: IO[bytes]


class Payload(NamedTuple):
    """What a backup copies: the dump of the database, and files.

    lacking: files that cannot be copied, whole when `files` is exhausted.
    """

    dump: Path
    files: Iterable[PackedFile] = ()
    lacking: Sequence[LackingFile] = ()


class Checked(NamedTuple):
    """A backup all of whose bytes were read. report: None if the files were not compared."""

    manifest: Manifest
    report: Report | None


def write(
    file: BinaryIO, manifest: Manifest, payload: Payload, passphrase: bytes | None, advance: Advance
) -> None:
    """Write a backup. advance: is told how many bytes of the payload were written."""
    sealer = EncryptingWriter(file, passphrase) if passphrase else None
    hashing = _HashingWriter(sealer or file)
    with tarfile.open(fileobj=cast(BinaryIO, hashing), mode="w|") as tar:
        _add_json(tar, MANIFEST_NAME, manifest)
        with payload.dump.open("rb") as source:
            member = _member(DUMP_NAMES[manifest.dump.database], manifest.dump.bytes)
            tar.addfile(member, cast(BinaryIO, _Reported(source, advance)))
        for packed in payload.files:
            member = _member(packed.name, packed.size_bytes)
            tar.addfile(member, cast(BinaryIO, _Reported(packed.content, advance)))
        _add_json(tar, REPORT_NAME, Report.of(payload.lacking))
    hashing.finish()
    if sealer is not None:
        sealer.finish()


def _add_json(tar: tarfile.TarFile, name: str, value: msgspec.Struct) -> None:
    encoded = msgspec.json.format(msgspec.json.encode(value))
    tar.addfile(_member(name, len(encoded)), io.BytesIO(encoded))


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


class Archive:
    """A backup whose bytes have been checked, open for reading.

    report: what it lacks, known when all files were read; None if it does not say so.
    """

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.report: Report | None = None
        manifest = self._next_member().read(_MAX_MANIFEST_BYTES)
        self.manifest = msgspec.json.decode(manifest, type=Manifest)

    def blocks(self) -> Iterator[bytes]:
        """The dump, once. Raises DamagedFile at its end when it does not fit the manifest."""
        digest, count = hashlib.sha256(), 0
        source = self._next_member()
        while block := source.read(_BLOCK_BYTES):
            digest.update(block)
            count += len(block)
            yield block
        if (digest.hexdigest(), count) != (self.manifest.dump.sha256, self.manifest.dump.bytes):
            raise DamagedFile("the dump does not fit the manifest")

    def files(self) -> Iterator[PackedFile]:
        """The files behind the dump, each to be read before the next. Raises DamagedFile."""
        while (member := self._tar.next()) is not None:
            content = self._tar.extractfile(member)
            if content is None:
                raise DamagedFile("it contains something other than files")
            if member.name == REPORT_NAME:
                self.report = msgspec.json.decode(content.read(_MAX_MANIFEST_BYTES), type=Report)
                return
            yield PackedFile(member.name, member.size, content)

    def _next_member(self) -> IO[bytes]:
        member = self._tar.next()
        source = None if member is None else self._tar.extractfile(member)
        if source is None:
            raise DamagedFile("it is not a backup of Sealdesk")
        return source


@contextmanager
def opened(path: Path, passphrase: bytes | None) -> Iterator[Archive]:
    """Open a backup that `check` has passed. Raises Unusable."""
    with _explaining(path), path.open("rb") as file:
        source = _DigestReader(_plain(path, file, passphrase))
        with tarfile.open(fileobj=cast(BinaryIO, source), mode="r|") as tar:
            yield Archive(tar)


def check(path: Path, passphrase: bytes | None, advance: Advance) -> Checked:
    """Read every byte of a backup and compare the checksums. Raises Unusable.

    advance: is told how many bytes of the archive were read.
    """
    with _explaining(path), path.open("rb") as file:
        source = _DigestReader(_plain(path, file, passphrase))
        while block := source.read(_BLOCK_BYTES):
            advance(len(block))
    with opened(path, passphrase) as archive:
        for _ in archive.blocks():
            pass
        for _ in archive.files():
            pass
        return Checked(archive.manifest, archive.report)


def _plain(path: Path, file: BinaryIO, passphrase: bytes | None) -> Source:
    start = file.read(len(encrypted_file.MAGIC))
    file.seek(0)
    if not encrypted_file.is_encrypted(start):
        return file
    if passphrase is None:
        raise Unusable(f"{path} is encrypted; give the passphrase with --passphrase-file")
    return DecryptingReader(file, passphrase)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except (DamagedFile, tarfile.TarError, msgspec.DecodeError) as error:
        raise Unusable(
            f"{path} cannot be restored: {error}. Nothing was changed; use another backup"
        ) from error


class _HashingWriter:
    """Passes on what is written, and in the end the SHA-256 of all of it."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return self._sink.write(data)

    def finish(self) -> None:
        self._sink.write(f"{self._digest.hexdigest()}\n".encode())


class _DigestReader:
    """Reads an archive up to the SHA-256 at its end, which it then compares."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = hashlib.sha256()
        self._waiting = bytearray()

    def read(self, count: int) -> bytes:
        wanted = count + _TRAILER_BYTES
        while len(self._waiting) < wanted:
            more = self._source.read(wanted - len(self._waiting))
            if not more:
                break
            self._waiting += more
        end = max(0, min(count, len(self._waiting) - _TRAILER_BYTES))
        found = bytes(self._waiting[:end])
        del self._waiting[:end]
        self._digest.update(found)
        if not found and self._waiting != f"{self._digest.hexdigest()}\n".encode():
            raise DamagedFile("its checksum is wrong: it was changed or cut")
        return found


class _Reported:
    """A file that reports how many bytes of it are read."""

    def __init__(self, file: IO[bytes], advance: Advance) -> None:
        self._file = file
        self._advance = advance

    def read(self, count: int) -> bytes:
        block = self._file.read(count)
        self._advance(len(block))
        return block
