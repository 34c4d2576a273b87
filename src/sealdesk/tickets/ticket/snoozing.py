"""Until when a ticket is snoozed: a time, or the next reply of its customer; no IO."""

from sealdesk import clock
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid
from sealdesk.tickets.ticket.errors import SNOOZE_OF_ENDED

# Sorts behind every time, so it is never due.
NEXT_REPLY = "next_reply"
MAX_DAYS = 366
# Lists without the snoozed tickets read over them.
MAX_SNOOZED = 5000
_HOUR_US = 3600 * 1_000_000
_DAY_US = 24 * _HOUR_US
_MAX_US = MAX_DAYS * _DAY_US
_MORNING_US = 8 * _HOUR_US
_EPOCH_WEEKDAY = 3  # 1970-01-01 was a Thursday, Monday is 0
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


def to_stored(value: str | None, current: str | None, now_us: int, *, is_ended: bool) -> str | None:
    """A new value as it is stored. Raises ValidationFailed, Conflict.

    current: the stored one. is_ended: whether the ticket is resolved or closed.
    """
    if value is None:
        return None
    at_us, stored = clock.parse_instant(value), canonical(value)
    if stored == current:
        return stored
    if is_ended:
        raise Conflict(SNOOZE_OF_ENDED)
    if at_us is None:
        return stored
    if at_us <= now_us:
        raise invalid([Fault("/snoozed_until", "time_is_over", _PAST)])
    if at_us > now_us + _MAX_US:
        raise invalid([Fault("/snoozed_until", "too_late", _TOO_FAR, {"days": MAX_DAYS})])
    return stored


def choices(now_us: int) -> list[tuple[str, int, str]]:
    """(label, days, value) of what pages offer, in UTC; scripts take the zone of the browser."""
    morning_us = now_us - now_us % _DAY_US + _MORNING_US
    monday_days = 7 - (now_us // _DAY_US + _EPOCH_WEEKDAY) % 7
    return [
        (gettext_noop("In 3 hours"), 0, clock.iso(now_us + 3 * _HOUR_US)),
        (gettext_noop("Tomorrow morning"), 1, clock.iso(morning_us + _DAY_US)),
        (gettext_noop("Next week"), 7, clock.iso(morning_us + monday_days * _DAY_US)),
    ]


def is_over(snoozed_until: str | None, now_us: int) -> bool:
    """Whether a ticket is to be woken."""
    return snoozed_until is not None and snoozed_until <= clock.iso(now_us)
