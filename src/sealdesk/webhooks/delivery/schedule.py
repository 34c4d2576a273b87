"""The retry schedule of deliveries, and when an endpoint is disabled; no IO."""

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
# Later ones follow the schedule, so that `Retry-After: 1` does not use up all attempts in seconds.
_REQUESTED_RETRIES = 5
# Decisions 11 allow 20; the rest is for the worker, which sends up to a tenth of a second late.
_JITTER_PERCENT = 18
FAILING_US = 5 * 24 * _HOUR_S * _SECOND_US
RANDOM_BITS = 16
_GONE = 410


def next_due(
    failures: int, now_us: int, *, random_bits: int, retry_after: str | None = None
) -> int | None:
    """The time of the next attempt; None at the end of the schedule.

    failures: of this schedule so far. random_bits: RANDOM_BITS of them, for the jitter.
    retry_after: the header of the response.
    """
    if failures > len(DELAYS_S):
        return None
    base_us = DELAYS_S[failures - 1] * _SECOND_US
    requested_us = None if retry_after is None else _parse_retry_after(retry_after, now_us)
    if requested_us is not None and failures <= _REQUESTED_RETRIES:
        return now_us + min(max(requested_us, _SECOND_US), _HOUR_S * _SECOND_US)
    jitter_us = base_us * _JITTER_PERCENT // 100
    return now_us + base_us - jitter_us + 2 * jitter_us * random_bits // (1 << RANDOM_BITS)


def disabled_reason(
    status: int | None, failing_since: int | None, now_us: int
) -> DisabledReason | None:
    """Why a failure disables the endpoint; None when it does not.

    failing_since: before this failure.
    """
    if status == _GONE:
        return "gone"
    if failing_since is not None and now_us - failing_since >= FAILING_US:
        return "failing"
    return None


def _parse_retry_after(retry_after: str, now_us: int) -> int | None:
    # Seconds or an HTTP date (RFC 9110, section 10.2.3), as microseconds from now.
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return int(text[:9]) * _SECOND_US
    try:
        at = email.utils.parsedate_to_datetime(text)
        return round(at.replace(tzinfo=at.tzinfo or UTC).timestamp()) * _SECOND_US - now_us
    except (ValueError, OverflowError):
        return None
