"""The retry schedule of deliveries, and when an endpoint is disabled; no IO."""

import email.utils
from datetime import UTC
from typing import NamedTuple

from sealdesk.webhooks.types import DisabledReason

_SECOND_US = 1_000_000
_MINUTE_S, _HOUR_S = 60, 3600
DELAYS_S: tuple[int, ...] = (  # spec decision 11
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
# The longest delay of the schedule: an endpoint can ask for no longer one.
_MAX_REQUESTED_US = DELAYS_S[-1] * _SECOND_US
# Spec decision 11 allows 20; the worker, which sends up to a tenth of a second late, has the rest.
_JITTER_PERCENT = 18
FAILING_US = 5 * 24 * _HOUR_S * _SECOND_US
# Shorter failures are no outages, but those of single deliveries, which others interrupt.
FIRST_DELAY_US = DELAYS_S[0] * _SECOND_US
RANDOM_BITS = 16
_GONE = 410


class Retry(NamedTuple):
    """failures: how many of the schedule are used up. due_at: None at its end."""

    failures: int
    due_at: int | None


def next_retry(
    failures: int, now_us: int, *, age_us: int, random_bits: int, retry_after: str | None = None
) -> Retry:
    """The time of the next attempt after a failure.

    failures: of this schedule before. age_us: of the delivery. random_bits: RANDOM_BITS of them,
    for the jitter. retry_after: the header of the response.
    """
    requested_us = None if retry_after is None else _parse_retry_after(retry_after, now_us)
    is_requested = requested_us is not None and age_us < FAILING_US
    if failures >= len(DELAYS_S) and not is_requested:
        return Retry(failures + 1, None)
    base_us = DELAYS_S[min(failures, len(DELAYS_S) - 1)] * _SECOND_US
    jitter_us = base_us * _JITTER_PERCENT // 100
    delay_us = base_us - jitter_us + 2 * jitter_us * random_bits // (1 << RANDOM_BITS)
    longest_us = max(delay_us, min(requested_us or 0, _MAX_REQUESTED_US))
    return Retry(failures + (not is_requested), now_us + longest_us)


def is_outage(failing_since: int | None, now_us: int) -> bool:
    """Whether the success of now ends an outage of the endpoint."""
    return failing_since is not None and now_us - failing_since >= FIRST_DELAY_US


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
