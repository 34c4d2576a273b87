"""Mutants of limits that keep one tenant or address from harming others."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "each connection of a request has its own deadline",
        "db/postgres/pool.py",
        "            remaining.connection_wait_s -= time.monotonic() - began_at\n",
        "",
        ("tests/db/test_pool.py::test_a_request_waits_once_for_all_its_connections",),
    ),
    Mutant(
        "one tenant may have all slots",
        "db/fairness.py",
        "self._used[tenant_id] < self._per_tenant",
        "True",
        ("tests/db/test_fairness.py::test_a_tenant_leaves_slots_to_others",),
    ),
    Mutant(
        "a page has no limit of bytes",
        "resources/paging.py",
        "    while size_bytes > page.max_bytes and len(taken) > 1:\n",
        "    while False:\n",
        (
            "tests/web/test_large_pages.py::test_a_page_of_tickets_ends_early_at_one_mebibyte",
            "tests/web/test_large_pages.py::test_a_page_of_customers_ends_early_at_one_mebibyte",
        ),
    ),
    Mutant(
        "large forms without a session are read at once",
        "identity/auth/session_guard.py",
        "    if _is_large(request) and not _has_token(request):\n",
        "    if False:\n",
        (
            (
                "tests/identity/test_large_forms.py"
                "::test_large_forms_of_one_network_are_refused_beyond_a_few"
            ),
        ),
    ),
    Mutant(
        "one request more than the limit is accepted",
        "rate_limits/limiter.py",
        "return debt_s + step_s > budget.burst_s + _SLACK_S",
        "return debt_s > budget.burst_s + _SLACK_S",
        (
            (
                "tests/api_keys/test_rate_limit.py"
                "::test_the_whole_limit_can_be_used_at_once_and_no_more"
            ),
        ),
    ),
    Mutant(
        "each process has its own keys in Redis",
        "rate_limits/redis_connection.py",
        '_KEY_FORMAT = "sealdesk:rate:%s"\n',
        "_KEY_FORMAT = f\"sealdesk:rate:{__import__('os').getpid()}:%s\"\n",
        (
            (
                "tests/resilience/test_limit.py"
                "::test_the_limit_holds_over_three_nodes_while_redis_is_killed"
            ),
        ),
    ),
    Mutant(
        "without Redis each process allows the whole limit",
        "rate_limits/redis_limiter.py",
        (
            '        if self.mode == "local":\n'
            "            return self._local.take_both_now(tenant, key, self._processes)\n"
        ),
        (
            '        if self.mode == "local":\n'
            "            return self._local.take_both_now(tenant, key)\n"
        ),
        ("tests/api_keys/test_rate_limit.py::test_without_redis_each_process_allows_its_share",),
    ),
    Mutant(
        "a busy tenant is not paced",
        "rate_limits/limiter.py",
        "        if wait_s > _FREE_S:\n",
        "        if wait_s > _MAX_WAIT_S:\n",
        (
            "tests/rate_limits/test_pace.py::test_expensive_requests_at_once_run_one_after_another",
            "tests/api_keys/test_tenant_limit.py::test_a_busy_tenant_waits_and_another_does_not",
        ),
    ),
    Mutant(
        "a request may have two hosts or none",
        "server/framing.py",
        "if len(hosts) != 1 and",
        "if False and",
        (
            (
                "tests/server/test_http_protocol.py"
                "::test_malformed_request_gets_400_and_the_connection_closes"
            ),
        ),
    ),
    Mutant(
        "a node that is draining is ready",
        "web/status.py",
        "    if request.state.lifetime.is_draining:\n",
        "    if False:\n",
        (
            "tests/cli/test_ending.py::test_readyz_returns_503_while_requests_are_still_accepted",
            (
                "tests/cli/test_ending.py"
                "::test_readyz_returns_503_before_the_port_closes_without_a_notice"
            ),
        ),
    ),
)
