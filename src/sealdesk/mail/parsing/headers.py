"""The header fields of a message or of a part, unfolded, from the bytes as they are."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sealdesk.mail.parsing.charsets import decode
from sealdesk.mail.parsing.types import Fault

MAX_FIELD_BYTES = 64 * 1024
MAX_FIELDS = 1_000  # of one name that are kept
_MAX_LINES = 100_000
_MAX_NAME_BYTES = 200
# What a message says to this package; other fields are passed over, so that they take no memory.
_KEPT = frozenset(
    """
    from sender reply-to to cc subject message-id in-reply-to references date return-path
    auto-submitted precedence list-id list-post list-unsubscribe x-original-from x-original-sender
    x-auto-response-suppress
    x-autoreply x-autorespond x-autoresponder x-loop x-failed-recipients x-spam-flag x-spam-status
    authentication-results content-type content-transfer-encoding content-disposition content-id
    content-location original-message-id reporting-mta original-recipient final-recipient action
    status diagnostic-code
    """.split()
)
# What every message has, and no text begins a line with.
_MESSAGE_FIELD = re.compile(
    rb"(?:from|to|message-id|mime-version|received|content-type|date|subject)[ \t]{0,9}:",
    re.IGNORECASE,
)
_MAX_LOOKED_AHEAD = 40
_MAX_JUNK_LINES = 20
_ONCE = frozenset(["from", "subject", "message-id", "date", "content-type"])  # RFC 5322, 3.6


class Headers:
    """The fields of a message or of a part by their lower-case names, in their order."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.faults: set[Fault] = set()
        self._unclear: list[tuple[str, int, bytes]] = []  # name, place, and bytes

    def first(self, name: str) -> str:
        """The first field of a name, "" without one."""
        return self.values.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def decode_again(self, codec: str) -> None:
        """Decodes the fields that are not UTF-8 in a charset that was found later."""
        for name, at, value in self._unclear:
            self.values[name][at] = decode(value, codec, codec).text.strip()

    def add(self, name: str, value: bytes) -> None:
        known = self.values.setdefault(name, [])
        if known and name in _ONCE:
            self.faults.add(Fault.DUPLICATE_HEADER)
        if len(known) >= MAX_FIELDS or len(value) > MAX_FIELD_BYTES:
            self.faults.add(Fault.HEADERS)
        if len(known) < MAX_FIELDS:
            decoded = decode(value[:MAX_FIELD_BYTES], is_cut=len(value) > MAX_FIELD_BYTES)
            if not decoded.is_certain:
                self._unclear.append((name, len(known), value[:MAX_FIELD_BYTES]))
            known.append(decoded.text.strip())


class _Line(NamedTuple):
    start: int
    end: int  # without the end of the line
    after: int


def read_headers(
    raw: bytes, start: int, end: int, *, skips_junk: bool = False
) -> tuple[Headers, int]:
    """The header fields that begin at `start`, and where the body begins.

    A line that is no header field begins the body. skips_junk: unless fields that only a message
    has follow before the next blank line.
    """
    headers = Headers()
    name, value = "", bytearray()
    body, junk_count = end, 0
    for count, line in enumerate(_lines(raw, start, end)):
        if line.start == line.end or count >= _MAX_LINES:
            body = line.after
            break
        if raw[line.start] in b" \t":
            _extend(value, raw, line)
            continue
        _finish(headers, name, value)
        found = _field(raw, line)
        if found is None:
            name, value = "", bytearray()
            if count == 0 and raw.startswith((b"From ", b">From "), line.start):
                continue
            headers.faults.add(Fault.HEADERS)
            junk_count += 1
            if skips_junk and junk_count < _MAX_JUNK_LINES and _has_fields(raw, line.after, end):
                continue
            body = line.start
            break
        name, value = found
    _finish(headers, name, value)
    return headers, body


def _has_fields(raw: bytes, start: int, end: int) -> bool:
    """Whether a field that begins a message stands among the next lines."""
    for line in islice(_lines(raw, start, end), _MAX_LOOKED_AHEAD):
        if line.start == line.end:
            return False
        if _MESSAGE_FIELD.match(raw, line.start, line.end):
            return True
    return False


def _lines(raw: bytes, start: int, end: int) -> Iterator[_Line]:
    while start < end:
        found = raw.find(b"\n", start, end)
        after = end if found < 0 else found + 1
        until = after if found < 0 else found
        if until > start and raw[until - 1] == 0x0D:
            until -= 1
        yield _Line(start, until, after)
        start = after


def _field(raw: bytes, line: _Line) -> tuple[str, bytearray] | None:
    """The name and value of a field, "" for a name that nothing asks for."""
    colon = raw.find(b":", line.start, min(line.end, line.start + _MAX_NAME_BYTES))
    name = raw[line.start : colon].rstrip(b" \t") if colon > line.start else b""
    if not name or not all(0x21 <= byte <= 0x7E for byte in name):
        return None
    known = name.decode("ascii").lower()
    if known not in _KEPT:
        return "", bytearray()
    value = bytearray()
    _extend(value, raw, _Line(colon + 1, line.end, line.after))
    return known, value


def _extend(value: bytearray, raw: bytes, line: _Line) -> None:
    room = MAX_FIELD_BYTES + 1 - len(value)
    if room > 0:
        value += raw[line.start : min(line.end, line.start + room)]


def _finish(headers: Headers, name: str, value: bytearray) -> None:
    if name:
        headers.add(name, bytes(value))
