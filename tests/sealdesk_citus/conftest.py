"""The tests on Citus are collected only where a coordinator is given: no package installs it."""

import os

collect_ignore = [] if os.environ.get("SEALDESK_TEST_CITUS") else ["citus"]
