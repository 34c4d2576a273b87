"""Numbers become places in a box."""

import pytest

from sealdesk.tickets.reports import plots


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
