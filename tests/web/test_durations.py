"""Durations, and what is due, in words."""

import pytest

from sealdesk.web.pages import i18n
from sealdesk.web.pages.durations import due_text, duration_text

HOUR_US = 3600 * 1_000_000
NOW_US = 1_800_000_000 * 1_000_000


@pytest.mark.parametrize(
    ("hours", "text"),
    [(-1, "1 min"), (0.99, "59 min"), (1, "1 h"), (47.9, "47 h"), (48, "2 d"), (8800, "366 d")],
)
def test_a_duration_has_one_unit(hours: float, text: str) -> None:
    assert duration_text(int(hours * HOUR_US)) == text


@pytest.mark.parametrize(
    ("language", "hours", "text"),
    [
        ("en", 3.5, "due 3 h"),
        ("en", -0.52, "late 31 min"),
        ("en", 0, "late 1 min"),
        ("de", 3.5, "noch 3 Std."),
        ("de", -49, "2 T. zu spät"),
    ],
)
def test_what_is_due_says_how_long_until_then_or_since(
    language: str, hours: float, text: str
) -> None:
    i18n.activate(language)
    try:
        assert due_text(NOW_US + int(hours * HOUR_US), NOW_US) == text
    finally:
        i18n.activate("en")
