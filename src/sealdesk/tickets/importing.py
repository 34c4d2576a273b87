"""The rules of importing: times and authors that a caller chooses; no IO."""

from typing import Any, Literal

from sealdesk import clock
from sealdesk.caller import IMPORT, Caller
from sealdesk.errors import Fault, Forbidden, gettext_noop, invalid
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS

# What a reply has to do with e-mail that arrived: a note about it, or an old one that is imported.
FromMail = Literal["note", "history"]

# 1990-01-01: older times are mistakes, such as seconds in place of milliseconds.
MIN_IMPORTED_US = 631_152_000 * 1_000_000
_NOT_A_TIME = gettext_noop("This is not an ISO 8601 time, as in 2024-01-31T09:30:00Z.")
_TOO_OLD = gettext_noop("This is before 1990.")
_IN_FUTURE = gettext_noop("This is in the future; it is %(now)s now.")
_NOT_IN_ORDER = gettext_noop(
    "This is before the newest message of the ticket, %(newest)s; import replies in order of time."
)


def check_form(value: str) -> list[Fault]:
    """What is wrong with the form of a time."""
    is_time = clock.parse_instant(value) is not None
    return [] if is_time else [Fault("", "invalid_time", _NOT_A_TIME)]


def check_may_import(caller: Caller) -> None:
    """Raises Forbidden."""
    if IMPORT not in caller.may:
        raise Forbidden(
            INSUFFICIENT_PERMISSIONS,
            needs=IMPORT,
            required=[IMPORT],
            granted=sorted(caller.may),
        )


def written_at(created_at: str, now_us: int, *, newest_us: int = 0) -> int:
    """When something that is imported was written. Raises ValidationFailed.

    newest_us: the time of the newest message of its ticket.
    """
    at_us = clock.parse_instant(created_at) or 0
    if at_us < MIN_IMPORTED_US:
        raise invalid([Fault("/created_at", "time_too_old", _TOO_OLD)])
    if at_us > now_us:
        values = {"now": clock.iso(now_us)}
        raise invalid([Fault("/created_at", "time_in_future", _IN_FUTURE, values)])
    if at_us < newest_us:
        values = {"newest": clock.iso(newest_us)}
        raise invalid([Fault("/created_at", "not_in_order", _NOT_IN_ORDER, values)])
    return at_us


def without_status(told: dict[str, Any], status: str) -> dict[str, Any]:
    """Of the fields that a reply sets, those of an old one: nobody waits for an ended ticket."""
    names = ("last_customer_reply_at", "first_response_at", "waiting_since")
    fields = {name: told[name] for name in names if name in told}
    return fields | {"waiting_since": None} if status in ("resolved", "closed") else fields
