"""Until when a ticket is snoozed: a time, or the next reply of its customer; no IO."""

from sealdesk import clock
from sealdesk.errors import Fault, gettext_noop, invalid

# Sorts behind every time, so it is never due.
NEXT_REPLY = "next_reply"
MAX_DAYS = 366
# Lists without the snoozed tickets read over them.
MAX_SNOOZED = 5000
_MAX_US = MAX_DAYS * 24 * 3600 * 1_000_000
_NO_TIME = gettext_noop(
    "This must be a time, such as 2026-11-23T08:00:00Z, or next_reply, or null to wake the ticket."
)
_PAST = gettext_noop("This time is over. Choose a later one.")
_TOO_FAR = gettext_noop("This must be within %(days)s days.")


def check_snooze(value: str) -> list[Fault]:
    """What is wrong with the form of a value."""
    is_known = value == NEXT_REPLY or clock.parse_instant(value) is not None
    return [] if is_known else [Fault("", "not_a_time", _NO_TIME)]


def canonical(value: str) -> str:
    """A value as it is stored and shown; what is no time stays as it is."""
    at_us = clock.parse_instant(value)
    return value if at_us is None else clock.iso(at_us)


def to_stored(value: str | None, current: str | None, now_us: int) -> str | None:
    """A new value as it is stored. current: the stored one. Raises ValidationFailed."""
    if value is None:
        return None
    at_us, stored = clock.parse_instant(value), canonical(value)
    if at_us is None or stored == current:
        return stored
    if at_us <= now_us:
        raise invalid([Fault("/snoozed_until", "time_is_over", _PAST)])
    if at_us > now_us + _MAX_US:
        raise invalid([Fault("/snoozed_until", "too_late", _TOO_FAR, {"days": MAX_DAYS})])
    return stored


def is_over(snoozed_until: str | None, now_us: int) -> bool:
    """Whether a ticket is to be woken."""
    return snoozed_until is not None and snoozed_until <= clock.iso(now_us)
