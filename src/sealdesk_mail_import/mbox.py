"""Reads mbox files: messages one after the other, each after a line that begins with `From `.

There are several formats. In all of them a separator has an address and a time, as in `From
ann@example.test Mon Jan  1 10:00:00 2024`; Thunderbird also writes `From ` alone. A line of a
text that begins with `From ` has one more `>` before it. `Content-Length` is often wrong: unused.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sealdesk.mail.parsing.headers import parse_time
from sealdesk.mail.receiving.raw_messages import MAX_BYTES
from sealdesk_mail_import.dates import MAX_HEAD_BYTES, written_s
from sealdesk_mail_import.types import CannotRead, Entry, NotAMailbox

_CHUNK_BYTES = 1024 * 1024
_SEPARATOR = b"\nFrom "
# Mon Jan  1 10:00:00 2024, and with a zone before the year or after it.
_TIME = re.compile(
    rb"(\w{3}) {1,2}(\d{1,2}) {1,2}(\d{1,2}:\d\d(?::\d\d)?)"
    rb" ([+-]\d{4} |[A-Z]{3,5} )?(\d{4})( [+-]\d{4})?"
)
_LINE = re.compile(rb"From [^\r\n]{0,400}\r?\n")
_BARE = re.compile(rb"From -?[ \t]{0,9}\r?\n")
_FIELD = re.compile(rb"(?:>?From [^\r\n]*\r?\n)?(?:[!-9;-~]{1,200}[ \t]*:|\r?\n)")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


class _Beginning(NamedTuple):
    """Where a message may begin, and its first bytes; whether a blank line is before it."""

    at: int
    head: bytes
    is_after_blank: bool


class Mbox:
    """An mbox file. Raises NotAMailbox, OSError."""

    left_out = 0

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_dir():
            raise NotAMailbox(
                f"{path} is a folder: for a Maildir use `sealdesk mail import maildir`"
            )
        if not path.is_file():
            raise NotAMailbox(f"{path} is no file")
        self.size_bytes = path.stat().st_size
        self._modified_s = int(path.stat().st_mtime)

    def find_messages(self, now_s: int) -> Iterator[Entry]:
        """All messages in the order of the file. Raises NotAMailbox."""
        if self.size_bytes == 0:
            return
        previous: Entry | None = None
        for each in _beginnings(self._read_from_start()):
            written = _separator_time(each)
            if written is None:
                if previous is None:
                    raise NotAMailbox(self._why_not(each.head))
                continue
            if previous is not None:
                yield previous._replace(size_bytes=each.at - previous.position)
            fallback = written or self._modified_s
            head = each.head[each.head.index(b"\n") + 1 :]
            previous = Entry(each.at, 0, written_s(head, fallback, now_s))
        if previous is not None:
            yield previous._replace(size_bytes=self.size_bytes - previous.position)

    def read(self, entry: Entry) -> bytes:
        """The bytes of a message, as they were before the file got them. Raises CannotRead."""
        if entry.size_bytes > MAX_BYTES:
            raise CannotRead(f"it has more than {MAX_BYTES // 2**20} MiB")
        with self.path.open("rb", buffering=0) as file:
            content = os.pread(file.fileno(), entry.size_bytes, entry.position)
        if not content.startswith(b"From ") or len(content) < entry.size_bytes:
            raise CannotRead("the file has changed meanwhile: import it again")
        raw = _without_blank_line(content[content.index(b"\n") + 1 :])
        if not raw.strip():
            raise CannotRead("it is empty")
        return _QUOTED.sub(rb"\1", raw) if b">From " in raw else raw

    def place_of(self, position: int) -> str:
        return f"{self.path} at byte {position}"

    def _read_from_start(self) -> Iterator[bytes]:
        left = self.size_bytes  # what is appended meanwhile is not looked at
        with self.path.open("rb", buffering=0) as file:
            while left and (chunk := file.read(min(_CHUNK_BYTES, left))):
                left -= len(chunk)
                yield chunk

    def _why_not(self, head: bytes) -> str:
        if head.startswith(_COMPRESSED):
            return f"{self.path} is compressed: decompress it first"
        return (
            f"{self.path} is no mbox file: its first line must be like"
            " `From ann@example.test Mon Jan  1 10:00:00 2024`"
        )


def _beginnings(chunks: Iterator[bytes]) -> Iterator[_Beginning]:
    """The beginning of the file, and each line that begins with `From `."""
    # The file begins as if an empty line were before it.
    window, base, at, is_first = b"\n\n", -2, 0, True
    while True:
        found = 1 if is_first else window.find(_SEPARATOR, at)
        needed = found + MAX_HEAD_BYTES if found >= 0 else len(window) + 1
        if len(window) < needed and (chunk := next(chunks, b"")):
            kept = max(0, (found if found >= 0 else len(window) - len(_SEPARATOR)) - 2)
            window, base = window[kept:] + chunk, base + kept
            at = max(at - kept, 0)
            continue
        if found < 0:
            return
        is_after_blank = window[max(found - 2, 0) : found].endswith((b"\n", b"\n\r"))
        head = window[found + 1 : found + 1 + MAX_HEAD_BYTES]
        yield _Beginning(base + found + 1, head, is_after_blank)
        at, is_first = found + 1, False


def _separator_time(beginning: _Beginning) -> int | None:
    """The time in a separator, 0 if it has none; None for a line that is no separator."""
    head, line = beginning.head, _LINE.match(beginning.head)
    if line is None:
        return None
    time, is_field = _TIME.search(line[0]), _FIELD.match(head, line.end()) is not None
    if time is None:
        is_separator = beginning.is_after_blank and is_field and _BARE.match(head)
        return 0 if is_separator else None
    if not (beginning.is_after_blank or is_field):
        return None
    month, day, clock, zone, year, late_zone = (each.decode() for each in time.groups(b""))
    return parse_time(f"{day} {month} {year} {clock} {zone.strip() or late_zone or '+0000'}")


def _without_blank_line(content: bytes) -> bytes:
    """Without the blank line that ends each message."""
    for end in (b"\r\n\r\n", b"\n\n"):
        if content.endswith(end):
            return content[: -len(end) // 2]
    return content
