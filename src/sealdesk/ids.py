"""Identifiers: UUIDv7 in canonical text that carry their instant to the microsecond.

The 48 bits of milliseconds are followed, in the 12 bits that RFC 9562 (method 3) leaves to finer
clocks, by the microseconds within the millisecond; 62 random bits follow. So the order of the
texts is the order of the instants, and the newest-first list is the primary key read backwards.
"""

import os
import random
import re
from typing import Annotated

from msgspec import Meta

_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
# How ids stand in structs: nothing is checked by it, documentation learns the format.
Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
_random = random.Random()  # noqa: S311 - no secret
# Processes that are forked from one would otherwise go on with the same numbers.
os.register_at_fork(after_in_child=_random.seed)
_REMEMBERED = 4096
_newest: dict[int, int] = {}  # instant → the random bits of its newest id
NONE = "00000000-0000-0000-0000-000000000000"


def mint(at_us: int) -> str:
    """A new id that carries this instant.

    Ids of one instant rise in the order in which a process mints them, so that the events of one
    change keep theirs. An id is no secret, so its random bits need not come from the operating
    system: asking it gives the interpreter lock away each time (136 µs of a POST).
    """
    newest = _newest.get(at_us)
    if newest is None:
        if len(_newest) >= _REMEMBERED:
            _newest.clear()
        newest = random_bits(61)  # one bit is left for those that follow
    else:
        newest += 1 + random_bits(40)
    _newest[at_us] = newest
    return _text(at_us, newest)


def random_bits(count: int) -> int:
    """A number of so many bits, for what is no secret."""
    return _random.getrandbits(count)


def lowest(at_us: int) -> str:
    """The smallest id that an instant can have: `id >= lowest(t)` says created at or after t."""
    return _text(max(at_us, 0), 0)


def instant_of(identifier: str) -> int:
    """The instant, in microseconds since the epoch, that an id of ours carries."""
    return int(identifier[:8] + identifier[9:13], 16) * 1000 + int(identifier[15:18], 16)


def is_canonical(text: str) -> bool:
    """Whether it is written as ids are here: lower case, with dashes."""
    return _CANONICAL.fullmatch(text) is not None


def _text(at_us: int, random_bits: int) -> str:
    millis, micros = divmod(at_us, 1000)
    time = f"{millis >> 16:08x}-{millis & 0xFFFF:04x}-7{micros:03x}"
    return f"{time}-{0x8000 | random_bits >> 48:04x}-{random_bits & 0xFFFF_FFFF_FFFF:012x}"
