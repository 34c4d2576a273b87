"""Reads Maildir folders: each message is a file in `cur` or `new`."""

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from sealdesk.mail.receiving.raw_messages import MAX_BYTES
from sealdesk_mail_import.dates import MAX_HEAD_BYTES, written_s
from sealdesk_mail_import.types import CannotRead, Entry, NotAMailbox

_FOLDERS = ("cur", "new")
# The name begins with seconds; what Dovecot adds (`,S=1234,W=1250`) is before the flags.
_SECONDS = re.compile(r"(\d{9,11})\.")
_FLAGS = re.compile(r"[:;!]2,([A-Za-z]*)\Z")
_LEFT_OUT = frozenset("DT")  # drafts, and what is in the bin
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


class Maildir:
    """A Maildir folder, without the folders in it. Raises NotAMailbox."""

    size_bytes = 0

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_file():
            raise NotAMailbox(f"{path} is a file: for mbox use `sealdesk mail import mbox`")
        if not all((path / each).is_dir() for each in _FOLDERS):
            raise NotAMailbox(f"{path} is no Maildir: it needs the folders cur and new")
        self.left_out = 0
        # The names of all files in one string take a third of a list of them.
        self._names = bytearray()
        self._starts = array("Q")

    def find_messages(self, now_s: int) -> Iterator[Entry]:
        """All messages that are no drafts and not in the bin."""
        for folder in _FOLDERS:
            with os.scandir(self.path / folder) as entries:
                for entry in entries:
                    if not entry.is_file() or entry.name.startswith("."):
                        continue
                    if _is_left_out(entry.name):
                        self.left_out += 1
                        continue
                    if found := self._find(folder, entry, now_s):
                        yield found

    def read(self, entry: Entry) -> bytes:
        """The bytes of a message. Raises CannotRead, OSError."""
        if entry.size_bytes > MAX_BYTES:
            raise CannotRead(f"it has more than {MAX_BYTES // 2**20} MiB")
        try:
            raw = (self.path / self._name(entry.position)).read_bytes()
        except FileNotFoundError as error:
            raise CannotRead("the file was moved meanwhile: import the folder again") from error
        if raw.startswith(_COMPRESSED):
            raise CannotRead("it is compressed")
        if not raw.strip():
            raise CannotRead("it is empty")
        if len(raw) > MAX_BYTES:
            raise CannotRead(f"it has more than {MAX_BYTES // 2**20} MiB")
        return raw

    def place_of(self, position: int) -> str:
        return str(self.path / self._name(position))

    def _find(self, folder: str, entry: os.DirEntry[str], now_s: int) -> Entry | None:
        try:
            stat = entry.stat()
            with Path(entry.path).open("rb", buffering=0) as file:
                head = file.read(MAX_HEAD_BYTES)
        except FileNotFoundError:  # a mail server moves messages from new to cur
            return None
        seconds = _SECONDS.match(entry.name)
        fallback_s = int(seconds[1]) if seconds else int(stat.st_mtime)
        position = len(self._starts)
        self._starts.append(len(self._names))
        self._names += os.fsencode(f"{folder}/{entry.name}") + b"\0"
        return Entry(position, stat.st_size, written_s(head, fallback_s, now_s))

    def _name(self, position: int) -> str:
        start = self._starts[position]
        return os.fsdecode(bytes(self._names[start : self._names.index(b"\0", start)]))


def _is_left_out(name: str) -> bool:
    flags = _FLAGS.search(name)
    return flags is not None and not _LEFT_OUT.isdisjoint(flags[1])
