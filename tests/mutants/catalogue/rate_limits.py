"""Mutants of `rate_limits`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_LIMIT_TEST = (
    "tests/resilience/test_limit.py::test_the_limit_holds_over_three_nodes_while_redis_is_killed"
)
_SHARED = "rate_limits/redis_limiter.py"
_SHARED_TESTS = "tests/rate_limits/test_redis_limiter.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "one request more than the limit is accepted",
        "rate_limits/limiter.py",
        "return debt_s + step_s > PERIOD_S + _SLACK_S",
        "return debt_s > PERIOD_S + _SLACK_S",
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
        "            self._local.raise_debt(key_id, now + result.debt_s)\n",
        "",
        (
            _LIMIT_TEST,
            f"{_SHARED_TESTS}::test_each_process_has_its_share_when_redis_is_killed",
        ),
    ),
    Mutant(
        "Redis gets no lower bound of the debt",
        _SHARED,
        "len(futures), _min_debt_s(self._local.debt_s(key_id)))",
        "len(futures), 0.0)",
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
        "            return self._local.take_now(key_id, limit, self._processes)\n",
        '        if self.mode == "local":\n'
        "            return self._local.take_now(key_id, limit)\n",
        (
            _LIMIT_TEST,
            f"{_KEYS}/test_rate_limit.py::test_without_redis_each_process_allows_its_share",
        ),
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
)
