"""Rolling restarts in their short form."""

import pytest

from tests.resilience import rolling
from tests.resilience.figures import missed_targets
from tests.resilience.nodes import Installation

pytestmark = [pytest.mark.timeout(180), pytest.mark.prove]


def test_no_client_behind_a_load_balancer_notices_a_restart(installation: Installation) -> None:
    # HAProxy needs 1.5 s, and its checks come late on a busy machine.
    figures = rolling.run(installation, restarts=1, notice_s=4)
    assert missed_targets(figures, rolling.TARGETS) == [], figures
