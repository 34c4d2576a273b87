"""Durations in words: "3 h", and what is due: "due 3 h" or "late 31 min"."""

from sealdesk.web.pages.i18n import gettext, gettext_noop

_MINUTE_US = 60 * 1_000_000
_HOUR_MIN, _DAY_MIN = 60, 24 * 60
_MINUTES, _HOURS, _DAYS = (
    gettext_noop("%(count)s min"),
    gettext_noop("%(count)s h"),
    gettext_noop("%(count)s d"),
)
_DUE, _LATE = gettext_noop("due %(time)s"), gettext_noop("late %(time)s")


def duration_text(duration_us: int) -> str:
    """A duration in minutes, hours or days."""
    minutes = max(1, duration_us // _MINUTE_US)
    if minutes < _HOUR_MIN:
        return gettext(_MINUTES) % {"count": minutes}
    if minutes < 2 * _DAY_MIN:
        return gettext(_HOURS) % {"count": minutes // _HOUR_MIN}
    return gettext(_DAYS) % {"count": minutes // _DAY_MIN}


def due_text(due_us: int, now_us: int) -> str:
    """How long it is until something is due, or since then."""
    text = _LATE if now_us >= due_us else _DUE
    return gettext(text) % {"time": duration_text(abs(due_us - now_us))}


def patterns() -> list[str]:
    """The same words for scripts: minutes, hours, days, due, late; "{}" where the number stands."""
    found = {"count": "{}", "time": "{}"}
    return [gettext(each) % found for each in (_MINUTES, _HOURS, _DAYS, _DUE, _LATE)]
