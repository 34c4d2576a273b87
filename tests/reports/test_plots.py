"""Numbers become places in a box."""

import pytest

from sealdesk.reports import plots


@pytest.mark.parametrize(
    ("numbers", "points"),
    [
        ([0, 2, 4], [(0, 22), (36, 12), (72, 2)]),
        ([4, None, 4], [(0, 2), (72, 2)]),
        ([0, 0, None], []),
        ([], []),
    ],
)
def test_a_line_fills_its_box_and_leaves_out_what_is_unknown(
    numbers: list[float | None], points: list[tuple[float, float]]
) -> None:
    assert plots.line(numbers) == points


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [
        ("2027-11-23", "2027-11-29", ["11-23", "11-29"]),
        ("2027-11-29 00:00", "2027-11-29 23:00", ["00:00", "23:00"]),
        ("2027-11-23 00:00", "2027-11-29 23:00", ["11-23 00:00", "11-29 23:00"]),
    ],
)
def test_labels_leave_out_what_all_have(first: str, last: str, shown: list[str]) -> None:
    assert plots.short_labels([first, last]) == shown
