"""Values stay known until the stamp is another one, and only so many."""

import pytest

from sealdesk.db.sqlite.snapshot import KnownRows


@pytest.fixture
def known() -> KnownRows[str]:
    """At most three values, of which two are there with the stamp 1."""
    rows: KnownRows[str] = KnownRows(3)
    assert rows.find(b"a", 1) is None
    rows.add(b"a", "A", 1)
    rows.add(b"b", "B", 1)
    return rows


def test_a_value_is_known_while_the_stamp_is_the_same(known: KnownRows[str]) -> None:
    assert (known.find(b"a", 1), known.find(b"b", 1), known.find(b"c", 1)) == ("A", "B", None)


@pytest.mark.parametrize("other", [2, 0, None])
def test_another_stamp_ends_all_values(known: KnownRows[str], other: int | None) -> None:
    assert known.find(b"a", other) is None
    assert (known.find(b"a", 1), known.find(b"b", 1)) == (None, None)


def test_a_value_of_rows_before_the_last_change_is_not_kept(known: KnownRows[str]) -> None:
    known.find(b"c", 2)
    known.add(b"c", "of an old row", 1)
    assert known.find(b"c", 2) is None


def test_without_a_stamp_nothing_is_kept(known: KnownRows[str]) -> None:
    known.find(b"c", None)
    known.add(b"c", "C", None)
    assert known.find(b"c", None) is None


def test_above_the_limit_the_value_unused_longest_is_forgotten(known: KnownRows[str]) -> None:
    known.add(b"c", "C", 1)
    known.find(b"a", 1)
    known.add(b"d", "D", 1)
    assert [known.find(name, 1) for name in (b"a", b"b", b"c", b"d")] == ["A", None, "C", "D"]


def test_a_flood_of_unknown_names_ends_no_value(known: KnownRows[str]) -> None:
    for number in range(1000):
        assert known.find(b"unknown %d" % number, 1) is None
    assert known.find(b"a", 1) == "A"
