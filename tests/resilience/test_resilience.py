"""The scenarios in their short form: the same code as `make prove`, fewer repetitions, and wider
bounds for durations, because other tests run at the same time."""

import pytest

from tests.resilience import (
    contention,
    crashes,
    failover,
    key_changes,
    limit_of_nodes,
    read_after_write,
)
from tests.resilience.figures import missed_targets
from tests.resilience.nodes import Installation

pytestmark = pytest.mark.timeout(180)


def test_a_revoked_key_is_refused_by_all_nodes(installation: Installation) -> None:
    figures = key_changes.run(installation, "revoke", trials=25)
    assert missed_targets(figures, key_changes.TARGETS) == [], figures


@pytest.mark.prove
def test_a_rotated_secret_is_refused_by_all_nodes(installation: Installation) -> None:
    figures = key_changes.run(installation, "rotate", trials=25)
    assert missed_targets(figures, key_changes.TARGETS) == [], figures


@pytest.mark.prove
def test_a_write_acknowledged_by_one_node_is_visible_on_the_others(
    installation: Installation,
) -> None:
    figures = read_after_write.run(installation, trials=100)
    assert missed_targets(figures, read_after_write.TARGETS) == [], figures


@pytest.mark.prove
def test_a_crash_of_postgresql_loses_and_doubles_nothing(installation: Installation) -> None:
    figures = crashes.run(installation, times=1)
    assert missed_targets(figures, crashes.TARGETS) == [], figures


@pytest.mark.prove
def test_a_failover_loses_and_doubles_nothing(installation: Installation) -> None:
    figures = failover.run(installation, times=1)
    assert missed_targets(figures, failover.TARGETS) == [], figures


@pytest.mark.prove
def test_clients_of_held_up_connections_are_refused_in_time(installation: Installation) -> None:
    figures = contention.run(installation, times=1, clients=100, held_s=3.5)
    assert missed_targets(figures, contention.TARGETS) == [], figures


@pytest.mark.prove
def test_the_limit_of_a_key_holds_over_all_nodes(installation: Installation) -> None:
    # Each node may accept one request too many when Redis goes away: 1.25 % of this limit.
    figures = limit_of_nodes.run(installation, limit=240, third_s=2.0)
    assert missed_targets(figures, limit_of_nodes.TARGETS) == [], figures
