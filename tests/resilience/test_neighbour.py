"""A quiet tenant beside one that does its worst, in the short form: nothing of it is refused."""

import pytest

from tests.resilience import neighbour
from tests.resilience.figures import missed_targets

pytestmark = pytest.mark.timeout(180)


# `tests/test_neighbours.py` is its short form: the same floods, over one service.
@pytest.mark.prove
def test_a_quiet_tenant_is_served_beside_one_that_does_its_worst() -> None:
    figures = neighbour.run(None, rounds=1, for_s=0.5)
    assert missed_targets(figures, neighbour.TARGETS) == [], figures


@pytest.mark.prove
def test_a_tenant_is_served_beside_large_forms_of_somebody_without_a_session() -> None:
    figures = neighbour.run(None, rounds=1, for_s=0.5, is_anonymous=True)
    assert missed_targets(figures, neighbour.ANONYMOUS_TARGETS) == [], figures
