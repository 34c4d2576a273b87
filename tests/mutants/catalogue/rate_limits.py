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
        "one request more than the limit passes",
        "rate_limits/limiter.py",
        "return debt_s + step_s > PERIOD_S + _SLACK_S",
        "return debt_s > PERIOD_S + _SLACK_S",
        (f"{_KEYS}/test_rate_limit.py::test_the_whole_limit_may_be_used_at_once_and_not_one_more",),
    ),
    Mutant(
        "each process counts in a place of its own in Redis",
        "rate_limits/redis_connection.py",
        '_KEY = "sealdesk:rate:%s"\n',
        "_KEY = f\"sealdesk:rate:{__import__('os').getpid()}:%s\"\n",
        (_LIMIT_TEST,),
    ),
    Mutant(
        "what Redis told of a debt is not remembered",
        _SHARED,
        "            self._own.raise_debt(key_id, now + response.debt_s)\n",
        "",
        (
            _LIMIT_TEST,
            f"{_SHARED_TESTS}::test_a_killed_redis_leaves_each_process_its_part_of_what_is_left",
        ),
    ),
    Mutant(
        "Redis is asked without what is known of the debt",
        _SHARED,
        "len(answers), _floor_s(self._own.debt_s(key_id)))",
        "len(answers), 0.0)",
        (f"{_SHARED_TESTS}::test_a_redis_that_lost_everything_unnoticed_grants_nothing_twice",),
    ),
    Mutant(
        "debts are not told to a Redis that came back",
        _SHARED,
        "            await self._tell_debts(link)\n",
        "",
        (f"{_SHARED_TESTS}::test_what_one_process_knows_is_told_to_a_redis_that_came_back_empty",),
    ),
    Mutant(
        "without Redis each process allows the whole limit",
        _SHARED,
        '        if self.mode == "local":\n'
        "            return self._own.take_now(key_id, limit, self._processes)\n",
        '        if self.mode == "local":\n            return self._own.take_now(key_id, limit)\n',
        (
            _LIMIT_TEST,
            f"{_KEYS}/test_rate_limit.py::test_without_its_redis_each_process_allows_its_part",
        ),
    ),
    Mutant(
        "requests wait for Redis however long it takes",
        _SHARED,
        "        async with asyncio.timeout_at(until):\n",
        "        async with asyncio.timeout_at(until + 60):\n",
        (f"{_SHARED_TESTS}::test_a_redis_that_hangs_is_not_waited_for",),
    ),
    Mutant(
        "the time on the way is added to a debt again and again",
        _SHARED,
        "    return max(0.0, debt_s - WAIT_S)\n",
        "    return debt_s\n",
        (f"{_SHARED_TESTS}::test_the_budget_comes_back_as_fast_as_it_is_promised",),
    ),
)
