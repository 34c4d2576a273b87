"""The delivering process is killed, in the short form."""

import pytest

from tests.resilience import killed
from tests.resilience.figures import missed_targets
from tests.resilience.killed import Timing
from tests.resilience.nodes import Installation

pytestmark = pytest.mark.timeout(180)
SOON = Timing(kill_after_s=1.0, lease_s=2)


@pytest.mark.prove
def test_every_event_arrives_though_the_worker_is_killed(installation: Installation) -> None:
    figures = killed.run(installation, count=300, timing=SOON)
    assert missed_targets(figures, killed.TARGETS) == [], figures


# `tests/test_faults.py` has its short form.
@pytest.mark.prove
def test_every_event_arrives_though_the_server_is_killed() -> None:
    figures = killed.run(None, count=300, timing=SOON)
    assert missed_targets(figures, killed.TARGETS) == [], figures
