"""Mutants of `worker`."""

from tests.mutants.mutant import Mutant

_FEED = "tests/feed"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"
_SEARCH = "tests/search/test_search.py"
_LEASES = "tests/webhooks/test_leases.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "several sequencers give positions at once",
        "worker/sequencer.py",
        '    if not await tx.try_lock("sequencer"):\n',
        "    if False:\n",
        (f"{_FEED}/test_order.py::test_concurrent_writers_are_read_whole_and_in_order",),
    ),
    Mutant(
        "how keys were used is kept for ever",
        "worker/retention.py",
        "        + await api_keys.prune_usage(tx, now_us - _USAGE_US, _STEP_ROWS)\n",
        "",
        (f"{_USAGE}::test_it_goes_after_thirty_days",),
    ),
    Mutant(
        "the parts of the search's index are never put together",
        "worker/indexer.py",
        "        for _ in range(_MERGES):\n",
        "        for _ in range(0):\n",
        (f"{_SEARCH}::test_the_index_is_put_together_after_what_was_written",),
    ),
    Mutant(
        "the leases of a killed server are kept",
        "worker/background_loop.py",
        "self._has_old_leases = not state.settings.database_url",
        "self._has_old_leases = False",
        (f"{_LEASES}::test_what_a_killed_server_held_is_delivered_by_the_next",),
    ),
    Mutant(
        "an event is placed though its deliveries could not be made",
        "worker/sequencer.py",
        "        await fan_out.add(tx, deliveries, now_us)\n",
        "        with __import__('contextlib').suppress(Exception):\n"
        "            await fan_out.add(tx, deliveries, now_us)\n",
        ("tests/event_log/test_sequencer.py::test_no_event_has_a_place_without_its_deliveries",),
    ),
)
