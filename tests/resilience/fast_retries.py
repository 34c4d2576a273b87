"""The `sealdesk` command with webhook retries after 0.2 s instead of hours.

TEST_LEASE_S: how long an endpoint is leased, in seconds.
"""

import os
import sys

from sealdesk.cli import main
from sealdesk.webhooks.delivery import deliverer, schedule

if __name__ == "__main__":
    schedule.DELAYS_S = tuple(1 for _ in schedule.DELAYS_S)
    schedule._SECOND_US = 200_000
    if lease_s := os.environ.get("TEST_LEASE_S"):
        deliverer.LEASE_US = int(lease_s) * 1_000_000
        deliverer.RENEW_EVERY_S = int(lease_s) / 3
    sys.exit(main())
