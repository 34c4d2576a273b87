"""Mutants of `event_log`."""

from tests.mutants.mutant import Mutant

_FEED = "tests/feed"
_SEQUENCER = "tests/event_log/test_sequencer.py"
_CONSUMERS = "tests/event_log/test_consumers.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "events of one step have positions behind the last of their feed",
        "event_log/sequencer.py",
        "f.last_position - c.of_tenant + c.turn",
        "f.last_position - 1 + c.turn",
        (
            f"{_FEED}/test_order.py::test_events_of_concurrent_writers_are_complete_and_in_order",
            "tests/event_log/test_sequencer.py::test_positions_count_up_from_one_within_the_tenant",
        ),
    ),
    Mutant(
        "several sequencers give positions at once",
        "event_log/sequencer.py",
        "    if not await tx.try_lock(_LOCK):\n",
        "    if False:\n",
        (f"{_FEED}/test_order.py::test_events_of_concurrent_writers_are_complete_and_in_order",),
    ),
    Mutant(
        "the log has gaps between its tenants",
        "event_log/sequencer.py",
        "        l.position - c.of_all + row_number() OVER (ORDER BY c.turn, c.id)\n",
        "        l.position - c.of_all + c.turn\n",
        (
            "tests/event_log/test_sequencer.py"
            "::test_positions_of_the_log_have_no_gaps_and_the_order_of_each_feed",
        ),
    ),
    Mutant(
        "on SQLite a write that fails takes positions with it",
        "db/sqlite/transaction.py",
        "        self._counters.forget()\n        if self._connection.in_transaction:\n",
        "        if self._connection.in_transaction:\n",
        ("tests/event_log/test_sequencer.py::test_a_write_that_fails_leaves_no_gap",),
    ),
    Mutant(
        "a move to SQLite leaves events without a position behind",
        "db/moving/sqlite.py",
        "            for statement in _PLACE_EVENTS:\n",
        "            for statement in ():\n",
        ("tests/cli/test_move.py::test_events_that_wait_for_a_position_have_one_after_a_move",),
    ),
    Mutant(
        "several sequencers place the events of a tenant at once",
        "event_log/sequencer.py",
        "    last = await _hold_feed(tx, tenant_id)\n",
        '    row = await tx.fetch_one(_LAST_OF, {"tenant_id": tenant_id, "limit": 1})\n'
        '    last = row["last_position"] if row else await _hold_feed(tx, tenant_id)\n',
        (f"{_SEQUENCER}::test_a_sequencer_does_not_wait_for_another_one_of_the_tenant",),
    ),
    Mutant(
        "several workers run a consumer at once",
        "event_log/consumers.py",
        '    return await tx.try_lock(f"consumer {consumer.name}", consumer.tenant_id)\n',
        "    return True\n",
        (f"{_CONSUMERS}::test_several_workers_at_once_handle_each_event_once",),
    ),
    Mutant(
        "a consumer forgets where it was",
        "event_log/consumers.py",
        "        await positions.store_position(tx, consumer.name, position, consumer.tenant_id)\n",
        "        pass\n",
        (f"{_CONSUMERS}::test_after_a_failure_another_process_continues_from_the_stored_position",),
    ),
    Mutant(
        "a consumer is given any number of bytes",
        "event_log/consumers.py",
        '("object",), MAX_STEP_BYTES)\n',
        '("object",), 1 << 40)\n',
        (f"{_CONSUMERS}::test_a_step_is_given_a_bounded_number_of_bytes",),
    ),
    Mutant(
        "a consumer passes what it has not handled",
        "event_log/consumers.py",
        "        position = events[handled - 1].log_position\n",
        "        position = events[-1].log_position\n",
        (f"{_CONSUMERS}::test_unhandled_events_of_a_step_are_given_again",),
    ),
    Mutant(
        "a consumer does not notice that events were pruned before it read them",
        "event_log/consumers.py",
        "    if events[-1].log_position - position != len(events):\n",
        "    if False:\n",
        (
            f"{_CONSUMERS}"
            "::test_a_consumer_recovers_from_events_that_are_pruned_before_it_reads_them",
        ),
    ),
    Mutant(
        "consumers share a position",
        "event_log/consumers.py",
        "stored.get(consumer.name, 0), stored.get(positions.END, 0)",
        "max({**stored, positions.END: 0}.values()), stored.get(positions.END, 0)",
        (f"{_CONSUMERS}::test_all_events_of_all_tenants_are_handled_in_the_order_of_the_log",),
    ),
    Mutant(
        "the feed does not learn what was deleted of it",
        "event_log/events.py",
        "    await tx.enqueue(_STORE_PRUNED, params)\n",
        "",
        (
            f"{_FEED}/test_keeping.py::test_a_cursor_before_deleted_events_is_refused",
            f"{_FEED}/test_keeping.py::test_each_step_of_pruning_is_recorded",
        ),
    ),
    Mutant(
        "events are deleted by their age alone",
        "event_log/events.py",
        '        old = list(takewhile(lambda row: row["id"] < before, rows))\n',
        '        old = [row for row in rows if row["id"] < before]\n',
        (f"{_FEED}/test_keeping.py::test_the_feed_has_no_gaps_after_pruning",),
    ),
    Mutant(
        "events get their positions in the order of their tenants",
        "event_log/sequencer.py",
        "    ) o ORDER BY o.turn, o.id LIMIT :limit\n",
        "    ) o ORDER BY p.tenant_id, o.id LIMIT :limit\n",
        (
            "tests/event_log/test_sequencer.py"
            "::test_tenants_with_few_events_do_not_wait_for_one_with_many",
        ),
    ),
    Mutant(
        "events are passed from a position that another worker has left",
        "event_log/positions.py",
        " WHERE name = :name AND position = :before",
        " WHERE name = :name AND :before > 0",
        (f"{_CONSUMERS}::test_a_step_that_another_worker_overtakes_passes_nothing",),
    ),
    Mutant(
        "on SQLite nobody learns of new events before the watch looks",
        "db/sqlite/database.py",
        "                self._tx.call_listeners()\n",
        "",
        (
            "tests/worker/test_log_tasks.py::test_an_event_is_fanned_out_without_waiting_for_a_poll",
            "tests/feed/test_waiting.py::test_a_commit_of_this_process_ends_the_wait_at_once",
        ),
    ),
    Mutant(
        "events of other processes are not noticed",
        "worker/log_tasks.py",
        "        if task.consumer.name in lags:\n",
        "        if False:\n",
        ("tests/worker/test_log_tasks.py::test_an_event_of_another_process_is_fanned_out",),
    ),
    Mutant(
        "the deliveries of a tenant with many events are made before those of others",
        "webhooks/delivery/fan_out.py",
        "                if counts[tenant_id] >= _MANY_DELIVERIES and not self.tenant_id:\n",
        "                if False:\n",
        (
            "tests/webhooks/test_fan_out.py"
            "::test_a_tenant_with_many_events_does_not_delay_the_deliveries_of_another",
        ),
    ),
    Mutant(
        "a backlog ends with its first deliveries",
        "webhooks/delivery/fan_out.py",
        "    is_over = reached >= backlog.until and ",
        "    is_over = ",
        (
            "tests/webhooks/test_fan_out.py"
            "::test_a_tenant_with_many_events_does_not_delay_the_deliveries_of_another",
            "tests/webhooks/test_fan_out.py::test_deliveries_of_a_backlog_are_made_in_order",
        ),
    ),
    Mutant(
        "a backlog that was extended meanwhile ends",
        "webhooks/store/fan_out.py",
        "tenant_id = :tenant_id AND until_position = :until\n",
        "tenant_id = :tenant_id AND until_position >= :until\n",
        ("tests/webhooks/test_backlogs.py::test_a_backlog_that_is_extended_at_its_end_goes_on",),
    ),
)
