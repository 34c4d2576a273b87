"""Mutants of `event_log`."""

from tests.mutants.mutant import Mutant

_FEED = "tests/feed"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "an event's position is of the time at which it was recorded",
        "event_log/events.py",
        '    first = drawn["last_position"] - len(event_ids) + 1\n',
        '    last = drawn["last_position"] - len(event_ids)\n'
        "    first = ids.instant_of(event_ids[0]) * 100\n"
        "    if first > last:\n"
        '        params = {"tenant_id": tenant_id, "count": first - last - 1}\n'
        "        await tx.fetch_one(_DRAW_POSITIONS, params)\n",
        (
            f"{_FEED}/test_order.py::test_a_late_commit_is_not_skipped",
            f"{_FEED}/test_order.py::test_what_is_older_than_what_was_read_comes_behind_it",
            f"{_FEED}/test_order.py::test_concurrent_writers_are_read_whole_and_in_order",
        ),
    ),
    Mutant(
        "the feed does not learn what was deleted of it",
        "event_log/events.py",
        "    await tx.enqueue(_PRUNE_NOTED, params)\n",
        "",
        (
            f"{_FEED}/test_keeping.py::test_who_missed_what_was_deleted_is_told",
            f"{_FEED}/test_keeping.py::test_each_step_of_deleting_is_noted",
        ),
    ),
    Mutant(
        "events are deleted by their age alone",
        "event_log/events.py",
        '        old = list(takewhile(lambda row: row["id"] < before, rows))\n',
        '        old = [row for row in rows if row["id"] < before]\n',
        (f"{_FEED}/test_keeping.py::test_what_is_left_of_the_feed_has_no_gaps",),
    ),
)
