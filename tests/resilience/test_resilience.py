"""The proofs in their short form: the same code as `make prove`, fewer times, and wider bounds for
durations, because other tests run beside it."""

import pytest

from tests.resilience import contention, crashes, ending, failover, limited, reading
from tests.resilience.figures import missed
from tests.resilience.nodes import Installation

# One cluster and one set of nodes serve all of them, so one process runs them.
pytestmark = pytest.mark.timeout(180)


def test_a_revoked_key_is_refused_by_all_nodes(installation: Installation) -> None:
    figures = ending.run(installation, "revoke", trials=25)
    assert missed(figures, ending.TARGETS) == [], figures


def test_a_rotated_secret_is_refused_by_all_nodes(installation: Installation) -> None:
    figures = ending.run(installation, "rotate", trials=25)
    assert missed(figures, ending.TARGETS) == [], figures


def test_what_one_node_acknowledged_the_others_show(installation: Installation) -> None:
    figures = reading.run(installation, trials=100)
    assert missed(figures, reading.TARGETS) == [], figures


def test_a_crash_of_postgresql_loses_and_doubles_nothing(installation: Installation) -> None:
    figures = crashes.run(installation, times=1)
    assert missed(figures, crashes.TARGETS) == [], figures


def test_a_failover_loses_and_doubles_nothing(installation: Installation) -> None:
    figures = failover.run(installation, times=1)
    assert missed(figures, failover.TARGETS) == [], figures


@pytest.mark.prove
def test_a_crowd_at_held_up_connections_is_refused_in_time(installation: Installation) -> None:
    figures = contention.run(installation, times=1, clients=100, held_s=3.5)
    assert missed(figures, contention.TARGETS) == [], figures


def test_the_limit_of_a_key_holds_over_all_nodes(installation: Installation) -> None:
    # The three nodes may each let one request too many pass when Redis goes: 1.25 % of this limit.
    figures = limited.run(installation, limit=240, third_s=2.0)
    assert missed(figures, limited.TARGETS) == [], figures
