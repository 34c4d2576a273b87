"""Ids: UUIDv7 in canonical text, with their creation time to the microsecond.

After the 48 bits of milliseconds, the 12 bits that RFC 9562 (method 3) allows for sub-millisecond
precision hold the microseconds; 62 random bits follow. So ids sort by creation time as text, and a
newest-first list is the primary key in reverse order.
"""

import os
import random
import re
from typing import Annotated

from msgspec import Meta

_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_REQUEST_ID = re.compile(r"[0-9a-f]{24}", re.ASCII)
# The type of ids in structs: it validates nothing and adds the format to the OpenAPI schema.
Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
_random = random.Random()  # noqa: S311 - not for secrets
# Forked processes would otherwise continue with the same numbers.
os.register_at_fork(after_in_child=_random.seed)
_REMEMBERED = 4096
_newest: dict[int, tuple[str, int]] = {}  # time → its text, and the random bits of its newest id
NONE = "00000000-0000-0000-0000-000000000000"


def mint(at_us: int) -> str:
    """A new id with this creation time.

    Ids of the same time increase in the order in which a process creates them, so that the events
    of one change stay in order. An id is not a secret, so its random bits need not come from the
    operating system, whose call releases the interpreter lock each time (136 µs of a POST).
    """
    last = _newest.get(at_us)
    if last is None:
        if len(_newest) >= _REMEMBERED:
            _newest.clear()
        # One bit is free for the ids that follow.
        time, newest = _time_text(at_us), _random.getrandbits(61)
    else:
        time, newest = last[0], last[1] + 1 + _random.getrandbits(40)
    _newest[at_us] = time, newest
    return time + _random_text(newest)


def random_bits(count: int) -> int:
    """A random number of `count` bits, not for secrets."""
    return _random.getrandbits(count)


def lowest(at_us: int) -> str:
    """The smallest id of a time: `id >= lowest(t)` means created at or after t."""
    return _time_text(max(at_us, 0)) + _random_text(0)


def instant_of(identifier: str) -> int:
    """The creation time of an id, in microseconds since the epoch."""
    return int(identifier[:8] + identifier[9:13], 16) * 1000 + int(identifier[15:18], 16)


def mint_request_id(at_us: int) -> str:
    """A new request id: 12 hex characters of the time in milliseconds, and 12 random ones.

    So request ids sort by time, and one index of the request log serves its list and its look-up.
    """
    return f"{at_us // 1000:012x}{_random.getrandbits(48):012x}"


def lowest_request_id(at_us: int) -> str:
    """The smallest request id of a time."""
    return f"{max(at_us, 0) // 1000:012x}{0:012x}"


def instant_of_request(request_id: str) -> int:
    """The time of a request id, in microseconds since the epoch."""
    return int(request_id[:12], 16) * 1000


def is_request_id(text: str) -> bool:
    return _REQUEST_ID.fullmatch(text) is not None


def is_canonical(text: str) -> bool:
    """Whether a text has the canonical form of an id: lower case, with hyphens."""
    return _CANONICAL.fullmatch(text) is not None


def in_lower_case(text: str) -> str:
    """An id in its canonical form, also if it was written in upper case; other text as it is."""
    lower = text.lower()
    return lower if is_canonical(lower) else text


def _time_text(at_us: int) -> str:
    millis, micros = divmod(at_us, 1000)
    return f"{millis >> 16:08x}-{millis & 0xFFFF:04x}-7{micros:03x}-"


def _random_text(bits: int) -> str:
    return f"{0x8000 | bits >> 48:04x}-{bits & 0xFFFF_FFFF_FFFF:012x}"
