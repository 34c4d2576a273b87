"""A quiet tenant beside one that does its worst, in the short form: nothing of it is refused."""

import pytest

from tests.resilience import neighbour
from tests.resilience.figures import missed_targets

pytestmark = [pytest.mark.timeout(300), pytest.mark.prove]


# `tests/test_neighbours.py` is its short form: some of the loads, over one service; in
# `tests/server/test_turns.py` the order of turns is counted.
def test_a_quiet_tenant_is_served_beside_one_that_does_its_worst() -> None:
    figures = neighbour.run(None, rounds=1, for_s=0.5, connections=(2,))
    assert missed_targets(figures, neighbour.TARGETS) == [], figures
