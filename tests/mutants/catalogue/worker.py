"""Mutants of `worker`."""

from tests.mutants.mutant import Mutant

_FAN_OUT = "tests/webhooks/test_fan_out.py"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"
_SEARCH = "tests/search/test_search.py"
_LEASES = "tests/webhooks/test_leases.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "consumers are not woken for events that another worker placed",
        "worker/log_tasks.py",
        "        if task.consumer.name in lags:\n",
        "        if False:\n",
        (f"{_FAN_OUT}::test_a_worker_delivers_what_another_has_placed",),
    ),
    Mutant(
        "how keys were used is kept for ever",
        "worker/retention.py",
        "        + await api_keys.prune_usage(tx, now_us - _USAGE_US, _STEP_ROWS)\n",
        "",
        (f"{_USAGE}::test_counts_are_deleted_after_thirty_days",),
    ),
    Mutant(
        "segments of the search index are never merged",
        "worker/indexer.py",
        "        for _ in range(_MERGES):\n",
        "        for _ in range(0):\n",
        (f"{_SEARCH}::test_segments_are_merged_after_writes",),
    ),
    Mutant(
        "the leases of a killed server are kept",
        "worker/loop.py",
        "self._has_old_leases = not state.settings.has_worker_process",
        "self._has_old_leases = False",
        (f"{_LEASES}::test_leases_of_a_killed_server_end_at_the_next_start",),
    ),
)
