"""Rolling restarts in their short form."""

import pytest

from tests.resilience import rolling
from tests.resilience.figures import missed
from tests.resilience.nodes import Installation

pytestmark = [pytest.mark.timeout(180), pytest.mark.prove]


def test_nobody_behind_a_load_balancer_notices_a_restart(installation: Installation) -> None:
    # HAProxy needs 1.5 s, and on a busy machine comes late to look.
    figures = rolling.run(installation, restarts=1, notice_s=4)
    assert missed(figures, rolling.TARGETS) == [], figures
