"""Mutants of `rate_limits`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_LIMIT_TEST = (
    "tests/resilience/test_limit.py::test_the_limit_holds_over_three_nodes_while_redis_is_killed"
)
_TENANT = f"{_KEYS}/test_tenant_limit.py"
_SHARED = "rate_limits/redis_limiter.py"
_SHARED_TESTS = "tests/rate_limits/test_redis_limiter.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "one request more than the limit is accepted",
        "rate_limits/limiter.py",
        "return debt_s + step_s > budget.burst_s + _SLACK_S",
        "return debt_s > budget.burst_s + _SLACK_S",
        (f"{_KEYS}/test_rate_limit.py::test_the_whole_limit_can_be_used_at_once_and_no_more",),
    ),
    Mutant(
        "each process has its own keys in Redis",
        "rate_limits/redis_connection.py",
        '_KEY_FORMAT = "sealdesk:rate:%s"\n',
        "_KEY_FORMAT = f\"sealdesk:rate:{__import__('os').getpid()}:%s\"\n",
        (_LIMIT_TEST,),
    ),
    Mutant(
        "the debts that Redis returns are not remembered",
        _SHARED,
        "            self._local.raise_debt(budget.id, now + result.debt_s)\n",
        "",
        (
            _LIMIT_TEST,
            f"{_SHARED_TESTS}::test_each_process_has_its_share_when_redis_is_killed",
        ),
    ),
    Mutant(
        "Redis gets no lower bound of the debt",
        _SHARED,
        "min_debt_s = _min_debt_s(self._local.debt_s(budget.id))",
        "min_debt_s = 0.0",
        (f"{_SHARED_TESTS}::test_a_redis_that_lost_its_data_grants_nothing_twice",),
    ),
    Mutant(
        "debts are not sent to a Redis that restarted",
        _SHARED,
        "            await self._send_debts(connection)\n",
        "",
        (f"{_SHARED_TESTS}::test_known_debts_are_sent_to_a_redis_that_restarted_empty",),
    ),
    Mutant(
        "without Redis each process allows the whole limit",
        _SHARED,
        '        if self.mode == "local":\n'
        "            return self._local.take_both_now(tenant, key, self._processes)\n",
        '        if self.mode == "local":\n'
        "            return self._local.take_both_now(tenant, key)\n",
        (f"{_KEYS}/test_rate_limit.py::test_without_redis_each_process_allows_its_share",),
    ),
    Mutant(
        "requests wait for Redis without a timeout",
        _SHARED,
        "        async with asyncio.timeout_at(deadline):\n",
        "        async with asyncio.timeout_at(deadline + 60):\n",
        (f"{_SHARED_TESTS}::test_a_redis_that_hangs_times_out",),
    ),
    Mutant(
        "the round trip is added to a debt repeatedly",
        _SHARED,
        "    return max(0.0, debt_s - WAIT_S)\n",
        "    return debt_s\n",
        (f"{_SHARED_TESTS}::test_the_budget_recovers_at_the_stated_rate",),
    ),
    Mutant(
        "the limit of the tenant is not enforced for its keys",
        "api_keys/guard/signed.py",
        "            check_tenant(tenant_rate)\n",
        "",
        (f"{_TENANT}::test_all_keys_of_a_tenant_share_its_limit_and_no_other_tenant_does",),
    ),
    Mutant(
        "a busy tenant is not paced",
        "rate_limits/limiter.py",
        "        if wait_s > _FREE_S:\n",
        "        if wait_s > _MAX_WAIT_S:\n",
        (
            "tests/rate_limits/test_pace.py::test_expensive_requests_at_once_run_one_after_another",
            f"{_TENANT}::test_a_busy_tenant_waits_and_another_does_not",
        ),
    ),
    Mutant(
        "the pace does not count the work of a request",
        "rate_limits/limiter.py",
        "(units - reserved) * self._unit_s",
        "0",
        ("tests/rate_limits/test_pace.py::test_the_work_of_a_request_delays_the_next_one",),
    ),
    Mutant(
        "the limit of the tenant is not enforced for its users",
        "web/application.py",
        "        check_tenant(await state.limiter.take(budget))\n",
        "        pass\n",
        (f"{_TENANT}::test_the_users_of_a_tenant_have_a_limit_too",),
    ),
    Mutant(
        "keys and users of a tenant share one budget",
        "rate_limits/limiter.py",
        'f"users:{caller.tenant_id}"',
        "caller.tenant_id",
        (f"{_TENANT}::test_a_key_that_has_used_up_the_budget_can_still_be_revoked",),
    ),
    Mutant(
        "transferred bytes are not charged",
        "web/application.py",
        "request.write_count + transferred // _BYTES_PER_UNIT",
        "request.write_count",
        (f"{_TENANT}::test_received_and_sent_bytes_are_a_unit_for_16_kib",),
    ),
    Mutant(
        "reads without an index are not charged",
        "web/application.py",
        "    units += unindexed_reads * UNINDEXED_READ_UNITS\n",
        "",
        (f"{_TENANT}::test_a_list_without_an_index_is_50_units",),
    ),
    Mutant(
        "requests of a refused tenant use up the key's limit",
        "rate_limits/limiter.py",
        "            return state, self.state_of(key, processes)\n",
        "            return state, self.take_now(key, processes)\n",
        (f"{_TENANT}::test_a_request_that_its_tenant_may_not_make_is_not_charged_to_the_key",),
    ),
    Mutant(
        "charged units are not sent to Redis",
        _SHARED,
        "min_debt_s, self._sent_units.get(budget, 0))",
        "min_debt_s, 0)",
        (f"{_SHARED_TESTS}::test_charged_units_count_in_all_processes",),
    ),
    Mutant(
        "refusals of a tenant are sent at once",
        "web/application.py",
        "                await _delay_refusal(request)\n",
        "                pass\n",
        (f"{_TENANT}::test_a_refusal_of_the_tenant_is_delayed_and_other_responses_are_not",),
    ),
)
