"""The limit over three processes, each with the real limiter, in the short form."""

import pytest

from tests.resilience.figures import missed_targets
from tests.resilience.limit_of_limiters import TARGETS, run, worst_window
from tests.servers import server_directory


@pytest.mark.prove
def test_the_limit_holds_over_three_nodes_while_redis_is_killed() -> None:
    with server_directory() as directory:
        # Killed while half of the burst is left, and back, empty, after it is used up.
        figures = run(directory, outages=[(0.7, 2.2)], for_s=4.5)
    assert missed_targets(figures, TARGETS) == [], figures


def test_the_worst_window_is_found_wherever_it_is() -> None:
    # 60 a minute: 62 within one second and a half, where 61.5 are allowed; before and after, few.
    times = [0.0, 100.0, *(150 + place * 1.5 / 61 for place in range(62)), 500.0]
    assert worst_window(times, 60) == pytest.approx(62 / 61.5)
