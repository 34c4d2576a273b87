"""Parsing and formatting of instants (spec decisions 6 and 9)."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from sealdesk import clock
from tests.support.for_each import for_each

FIRST, LAST = (
    clock.parse_instant(text) for text in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")
)
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(at_us=st.integers(0, LAST or 0))
def test_a_written_instant_has_one_format_and_can_be_parsed(at_us: int) -> None:
    text = clock.iso(at_us)
    assert len(text) == 27
    assert text.endswith("Z")
    assert clock.parse_instant(text, need_offset=True) == at_us
    assert datetime.fromisoformat(text) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
        microseconds=at_us
    )


@given(moment=st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=OFFSETS))  # noqa: DTZ001
def test_every_offset_names_the_same_instant(moment: datetime) -> None:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    assert clock.parse_instant(moment.isoformat()) == since // timedelta(microseconds=1)


@for_each(
    ("text", "same"),
    [
        ("2026-01-31t09:30:00z", "2026-01-31T09:30:00Z"),
        ("2026-01-31 09:30:00Z", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30Z", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00-00:00", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00+0530", "2026-01-31T04:00:00Z"),
        ("2026-01-31T09:30:00.5Z", "2026-01-31T09:30:00.500000Z"),
        ("2026-01-31T09:30:00.123456789Z", "2026-01-31T09:30:00.123456Z"),
        ("2024-02-29T00:00:00Z", "2024-02-28T23:00:00-01:00"),
    ],
)
def test_the_forms_of_iso_8601_that_clients_use_are_accepted(text: str, same: str) -> None:
    assert clock.parse_instant(text) == clock.parse_instant(same) is not None


@for_each(
    "text",
    [
        "",
        "now",
        "1780000000",
        "2026-01-31",
        "2026-1-31T09:30:00Z",
        "2026-01-31T09Z",
        "2026-01-31T09:30:00.Z",
        "2026-01-31T09:30:00.1234567890Z",
        "2026-01-31T09:30:00 Z",
        "2026-01-31T09:30:00+2",
        "2026-01-31T09:30:00+24:00",
        "2026-01-31T09:30:00+99:99",
        "2026-01-31T09:30:00-02:60",
        "2026-01-31T24:00:00Z",
        "2026-01-31T09:60:00Z",
        "2026-12-31T23:59:60Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "2026-01-31T09:30:00Z\n",
        "٢026-01-31T09:30:00Z",
    ],
)
def test_an_invalid_instant_is_none(text: str) -> None:
    assert clock.parse_instant(text) is None


def test_a_local_time_is_none_when_an_offset_is_required() -> None:
    assert clock.parse_instant("2026-01-31T09:30:00", need_offset=True) is None


def test_no_instant_is_written_as_none() -> None:
    assert clock.iso_or_none(None) is None
    assert clock.iso_or_none(0) == "1970-01-01T00:00:00.000000Z"
