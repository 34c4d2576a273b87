"""`sealdesk`, for which a moment is enough: retries come after 0.2 s, so no proof waits for days.

PROOF_LEASE_S, if it is set, is for how long an endpoint is leased.
"""

import os
import sys

from sealdesk.cli import main
from sealdesk.webhooks.delivery import deliverer, schedule

if __name__ == "__main__":
    schedule.DELAYS_S = tuple(1 for _ in schedule.DELAYS_S)
    schedule._SECOND_US = 200_000
    if lease_s := os.environ.get("PROOF_LEASE_S"):
        deliverer.LEASE_US = int(lease_s) * 1_000_000
        deliverer.RENEW_EVERY_S = int(lease_s) / 3
    sys.exit(main())
