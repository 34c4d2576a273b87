"""What responses of an IMAP server say (RFC 9051, section 7); no I/O."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

_LITERAL = re.compile(rb"\{(\d{1,10})\}$")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_FETCH = re.compile(rb"\* \d{1,10} FETCH \(", re.IGNORECASE)
_COUNT = re.compile(rb"\* (\d{1,10}) (EXISTS|EXPUNGE)", re.IGNORECASE)
_CODE = re.compile(rb"\[([A-Z0-9-]{1,40})(?: (\d{1,20}))?", re.IGNORECASE)
_UID = re.compile(rb"\bUID (\d{1,10})", re.IGNORECASE)
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d{1,19})", re.IGNORECASE)
_INTERNAL_DATE = re.compile(rb'\bINTERNALDATE ("[^"]{1,40}")', re.IGNORECASE)
_DATE = re.compile(
    rb'" ?(\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)"', re.ASCII
)
_MONTHS = b"jan feb mar apr may jun jul aug sep oct nov dec".split()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Response(NamedTuple):
    """A response. text: its lines without the literals, of which only the lengths are there."""

    text: bytes
    literals: tuple[bytes, ...] = ()


class Folder(NamedTuple):
    """A folder that was opened. uid_next: None if the server does not say."""

    uid_validity: int
    uid_next: int | None


class Listed(NamedTuple):
    """A message in a folder. arrived_at: in microseconds, None if the server does not say.

    header: some of its header fields, b"" if they were not asked for.
    """

    uid: int
    size_bytes: int
    arrived_at: int | None = None
    header: bytes = b""


def literal_size(line: bytes) -> int | None:
    """The length of the literal that follows a line."""
    found = _LITERAL.search(line[-13:])
    return None if found is None else int(found[1])


def is_ok(answer: bytes) -> bool:
    """Whether the last response to a command is OK."""
    return answer.split(b" ", 2)[1:2] == [b"OK"]


def code_of(answer: bytes) -> bytes:
    """The response code, such as OVERQUOTA; b"" if there is none."""
    words = answer.split(b" ", 2)
    found = _CODE.match(words[2]) if len(words) == 3 else None
    return b"" if found is None else found[1].upper()


def number_of(name: bytes, lines: list[Response]) -> int | None:
    """The number of a response code such as UIDNEXT."""
    for line in lines:
        found = _CODE.match(line.text, len(b"* OK ")) if line.text[:5].upper() == b"* OK " else None
        if found is not None and found[1].upper() == name and found[2]:
            return int(found[2])
    return None


def count_after(line: bytes, count: int) -> int:
    """How many messages the folder has after a response that may say so."""
    found = _COUNT.match(line)
    if found is None:
        return count
    return int(found[1]) if found[2].upper() == b"EXISTS" else max(0, count - 1)


def read_listed(response: Response) -> Listed | None:
    """A message of a FETCH response; None for another response."""
    if not _FETCH.match(response.text):
        return None
    bare = _QUOTED.sub(b'""', response.text)
    uid, size = _UID.search(bare), _SIZE.search(bare)
    if uid is None:
        return None
    date = _INTERNAL_DATE.search(response.text)
    return Listed(
        int(uid[1]),
        int(size[1]) if size else 0,
        _read_date(date[1]) if date else None,
        response.literals[0] if response.literals else b"",
    )


def read_body(response: Response, uid: int) -> bytes | None:
    """The body of a FETCH response for this message; None for another response."""
    listed = read_listed(response)
    if listed is None or listed.uid != uid or b"BODY[" not in response.text.upper():
        return None
    if response.literals:
        return response.literals[0]
    quoted = _QUOTED.search(response.text)
    return b"" if quoted is None else re.sub(rb"\\(.)", rb"\1", quoted[0][1:-1])


def _read_date(text: bytes) -> int | None:
    found = _DATE.fullmatch(text)
    if found is None or found[2].lower() not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[number]) for number in (1, 3, 4, 5, 6))
    ahead = timedelta(hours=int(found[8]), minutes=int(found[9]))
    try:
        zone = timezone(-ahead if found[7] == b"-" else ahead)
        month = _MONTHS.index(found[2].lower()) + 1
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
        return (moment - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
