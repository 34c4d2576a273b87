"""When a message was written; no I/O, no clock."""

import re

from sealdesk.mail.parsing.headers import parse_time, read_headers
from sealdesk.tickets.ticket.rules import MIN_IMPORTED_US

MAX_HEAD_BYTES = 64 * 1024  # of a message that are searched for its Date
_MIN_S = MIN_IMPORTED_US // 1_000_000
_END = re.compile(rb"\r?\n\r?\n")


def written_s(head: bytes, fallback_s: int, now_s: int) -> int:
    """When a message was written, in seconds: its Date, or what its place says.

    head: its first bytes. A time before 1990 or in the future is a mistake.
    """
    fields = head_of(head)
    headers, _ = read_headers(fields, 0, len(fields))
    # Not now: what has the time of its event counts as new.
    newest_s = now_s - 1
    for each in (parse_time(headers.first("date")), fallback_s):
        if _MIN_S <= each <= newest_s:
            return each
    return newest_s


def head_of(raw: bytes) -> bytes:
    """The header fields of a message, as far as they are read."""
    end = _END.search(raw, 0, MAX_HEAD_BYTES)
    return raw[: end.end() if end else MAX_HEAD_BYTES]
