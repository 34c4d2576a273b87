"""The limit over three nodes, in its short form: three processes, each with the real limiter."""

import pytest

from tests.resilience.figures import missed
from tests.resilience.limit import TARGETS, run, worst_window
from tests.servers import server_directory


def test_the_limit_holds_over_three_nodes_while_redis_is_killed() -> None:
    with server_directory() as directory:
        # Killed while half of the burst is left, and back, empty, when it is long used up.
        figures = run(directory, outages=[(0.7, 2.2)], for_s=4.5)
    assert missed(figures, TARGETS) == [], figures


def test_the_worst_window_is_found_wherever_it_is() -> None:
    # 60 a minute: 62 within one second and a half, where 61.5 are allowed; before and after, few.
    times = [0.0, 100.0, *(150 + place * 1.5 / 61 for place in range(62)), 500.0]
    assert worst_window(times, 60) == pytest.approx(62 / 61.5)
