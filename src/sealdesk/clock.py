"""The current time (no other module reads the clock), and the format of timestamps."""

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

# The type of timestamps in structs: it validates nothing and adds the format to the OpenAPI schema.
Iso = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# RFC 3339, plus the forms of ISO 8601 that clients send: a space instead of T, no seconds, one to
# nine fraction digits. A date without a time is not accepted.
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"([Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)


class Clock:
    """The current time. Tests pass a clock that they can set."""

    def now_us(self) -> int:
        """Microseconds since the epoch, UTC."""
        return time.time_ns() // 1000

    def monotonic_s(self) -> float:
        """Seconds of a monotonic clock, for limits and timeouts."""
        return time.monotonic()


@lru_cache(maxsize=4096)
def iso(at_us: int) -> str:
    """A time as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the only format in responses."""
    # Cached because a new object and its event show the time of the request several times.
    seconds, micros = divmod(at_us, 1_000_000)
    return f"{_iso_second(seconds)}.{micros:06d}Z"


@lru_cache(maxsize=4096)
def _iso_second(seconds: int) -> str:
    year, month, day, hour, minute, second, *_ = time.gmtime(seconds)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"


def iso_or_none(at_us: int | None) -> str | None:
    return None if at_us is None else iso(at_us)


def parse_instant(text: str, *, need_offset: bool = False) -> int | None:
    """Microseconds since the epoch for an ISO 8601 timestamp, None when it is invalid.

    Without an offset it is UTC, or invalid when `need_offset` is true.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    if offset is None and need_offset:
        return None
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC
        ) - _offset(offset)
    except (ValueError, OverflowError):
        return None
    micros = int((fraction or "0").ljust(6, "0")[:6])
    return (moment - _EPOCH) // timedelta(microseconds=1) + micros


def _offset(text: str | None) -> timedelta:
    if text is None or text in "Zz":
        return timedelta()
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return -ahead if text[0] == "-" else ahead
