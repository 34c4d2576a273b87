"""When a delivery is tried again, and when an endpoint has failed for too long; no IO."""

import email.utils
from datetime import UTC

from sealdesk.webhooks.types import DisabledReason

_SECOND_US = 1_000_000
_MINUTE_S, _HOUR_S = 60, 3600
DELAYS_S: tuple[int, ...] = (  # decisions 11
    5,
    5 * _MINUTE_S,
    30 * _MINUTE_S,
    2 * _HOUR_S,
    5 * _HOUR_S,
    10 * _HOUR_S,
    14 * _HOUR_S,
    20 * _HOUR_S,
    24 * _HOUR_S,
)
# Decisions 11 allow 20: what is left is for the loop, which comes a moment late.
_SPREAD_PERCENT = 18
FAILING_US = 5 * 24 * _HOUR_S * _SECOND_US
DRAWN_BITS = 16
_GONE = 410


def next_due(
    failures: int, now_us: int, *, drawn: int, retry_after: str | None = None
) -> int | None:
    """When to try again; None when the schedule is at its end.

    failures: how often it was tried since it was asked for. drawn: DRAWN_BITS random bits.
    retry_after: the receiver's wish, as its answer says it.
    """
    if failures > len(DELAYS_S):
        return None
    base_us = DELAYS_S[failures - 1] * _SECOND_US
    wish_us = None if retry_after is None else _wish_us(retry_after, now_us)
    if wish_us is not None:
        return now_us + min(max(wish_us, base_us), 2 * base_us)
    spread_us = base_us * _SPREAD_PERCENT // 100
    return now_us + base_us - spread_us + 2 * spread_us * drawn // (1 << DRAWN_BITS)


def disables(status: int | None, failing_since: int | None, now_us: int) -> DisabledReason | None:
    """Why an endpoint gets nothing more after a failure, if that is so.

    failing_since: before this failure.
    """
    if status == _GONE:
        return "gone"
    if failing_since is not None and now_us - failing_since >= FAILING_US:
        return "failing"
    return None


def _wish_us(retry_after: str, now_us: int) -> int | None:
    """Seconds or an HTTP date (RFC 9110, section 10.2.3), as microseconds from now."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return int(text[:9]) * _SECOND_US
    try:
        at = email.utils.parsedate_to_datetime(text)
        return round(at.replace(tzinfo=at.tzinfo or UTC).timestamp()) * _SECOND_US - now_us
    except (ValueError, OverflowError):
        return None
