"""Mutants of work that happens exactly once: idempotency, leases, claims, and the event log."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a form that is submitted twice creates two keys",
        "api_keys/pages/keys.py",
        "    if seen:\n        tenant_id =",
        "    if not seen:\n        tenant_id =",
        ("tests/api_keys/test_pages.py::test_a_form_that_is_submitted_twice_creates_one_key",),
    ),
    Mutant(
        "concurrently created keys are not counted",
        "api_keys/actions.py",
        "    await _lock_keys(tx, tenant_id)\n    limit",
        "    limit",
        ("tests/api_keys/test_key_count.py::test_of_110_concurrently_created_keys_100_exist",),
    ),
    Mutant(
        "events of one step have positions behind the last of their feed",
        "event_log/sequencer.py",
        "f.last_position - c.of_tenant + c.turn",
        "f.last_position - 1 + c.turn",
        (
            "tests/feed/test_order.py::test_events_of_concurrent_writers_are_complete_and_in_order",
            "tests/event_log/test_sequencer.py::test_positions_count_up_from_one_within_the_tenant",
        ),
    ),
    Mutant(
        "several sequencers give positions at once",
        "event_log/sequencer.py",
        "    if not await tx.try_lock(_LOCK):\n",
        "    if False:\n",
        ("tests/feed/test_order.py::test_events_of_concurrent_writers_are_complete_and_in_order",),
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
        "../sealdesk_move/sqlite.py",
        "            for statement in _PLACE_EVENTS:\n",
        "            for statement in ():\n",
        (
            "tests/sealdesk_move/test_move.py::test_events_that_wait_for_a_position_have_one_after_a_move",
        ),
    ),
    Mutant(
        "several sequencers place the events of a tenant at once",
        "../sealdesk_citus/store.py",
        "    last = await _hold_feed(tx, tenant_id)\n",
        (
            '    row = await tx.fetch_one(_LAST_OF, {"tenant_id": tenant_id, "limit": 1})\n'
            '    last = row["last_position"] if row else await _hold_feed(tx, tenant_id)\n'
        ),
        (
            (
                "tests/event_log/test_sequencer.py"
                "::test_a_sequencer_does_not_wait_for_another_one_of_the_tenant"
            ),
        ),
    ),
    Mutant(
        "several workers run a consumer at once",
        "event_log/consumers.py",
        '    return await tx.try_lock(f"consumer {consumer.name}", consumer.tenant_id)\n',
        "    return True\n",
        ("tests/event_log/test_consumers.py::test_several_workers_at_once_handle_each_event_once",),
    ),
    Mutant(
        "a consumer forgets where it was",
        "event_log/consumers.py",
        (
            "        await positions.store_position(tx, consumer.name, position, "
            "consumer.tenant_id)\n"
        ),
        "        pass\n",
        (
            (
                "tests/event_log/test_consumers.py"
                "::test_after_a_failure_another_process_continues_from_the_stored_position"
            ),
        ),
    ),
    Mutant(
        "a consumer passes what it has not handled",
        "event_log/consumers.py",
        "        position = events[handled - 1].log_position\n",
        "        position = events[-1].log_position\n",
        ("tests/event_log/test_consumers.py::test_unhandled_events_of_a_step_are_given_again",),
    ),
    Mutant(
        "consumers share a position",
        "event_log/consumers.py",
        "stored.get(consumer.name, 0), stored.get(positions.END, 0)",
        "max({**stored, positions.END: 0}.values()), stored.get(positions.END, 0)",
        (
            (
                "tests/event_log/test_consumers.py"
                "::test_all_events_of_all_tenants_are_handled_in_the_order_of_the_log"
            ),
        ),
    ),
    Mutant(
        "a bulk request with the Idempotency-Key of another body is half written",
        "web/bulk.py",
        "            if not self._has_begun:",
        "            if self._has_begun is None:",
        (
            (
                "tests/tickets/test_bulk_api.py"
                "::test_with_the_idempotency_key_of_another_body_nothing_is_written"
            ),
        ),
    ),
    Mutant(
        "the items of a bulk request share one stored response",
        "web/bulk.py",
        'scope=f"{self._once.scope} #{place}"',
        'scope=f"{self._once.scope} #{place * 0}"',
        (
            (
                "tests/tickets/test_bulk_api.py"
                "::test_sent_again_a_request_continues_where_it_was_interrupted"
            ),
        ),
    ),
    Mutant(
        "a reply whose response was lost is stored twice",
        "tickets/actions.py",
        "            return listed[0]  # sent again, as the response to the first was lost\n",
        "            return (await _reply(tx, caller, stored, new, now_us))[0]\n",
        (
            (
                "tests/tickets/test_ticket_pages.py"
                "::test_a_reply_whose_response_was_lost_is_stored_once"
            ),
        ),
    ),
    Mutant(
        "a message that was taken is taken again",
        "mail/receiving/actions.py",
        "    if known is None or contents.is_same(known, new):\n        return None\n",
        "",
        ("tests/mail/receiving/test_taking.py::test_a_message_that_comes_twice_has_one_effect",),
    ),
    Mutant(
        "a bare LF ends a message",
        "mail/receiving/data.py",
        '_END = b"\\r\\n.\\r\\n"\n',
        '_END = b"\\n.\\r\\n"\n',
        ("tests/mail/receiving/test_session.py::test_only_the_right_end_ends_a_message",),
    ),
    Mutant(
        "a message that cannot be stored is taken",
        "mail/receiving/handler.py",
        '(mailbox, "unavailable", _LATER, ',
        '(mailbox, "unavailable", _OK, ',
        (
            (
                "tests/mail/receiving/test_session.py"
                "::test_a_message_is_asked_for_again_while_the_database_takes_none"
            ),
        ),
    ),
    Mutant(
        "a message is released twice",
        "mail/receiving/types.py",
        '("held", "spam", "blocked")\n',
        '("held", "spam", "blocked", "ticket")\n',
        (
            (
                "tests/mail/received_messages/test_held.py"
                "::test_two_agents_who_release_a_message_make_one_ticket"
            ),
        ),
    ),
    Mutant(
        "a message that came back is sent again",
        "mail/sending/store.py",
        "reason = :reason, due_at = NULL, leased_until = NULL,\n",
        "reason = :reason,\n",
        ("tests/mail/sending/test_bounces.py::test_a_message_that_came_back_is_not_sent_again",),
    ),
    Mutant(
        "the next message is sent before the one before it is noted",
        "mail/sending/turns.py",
        "            if self._storing:\n                # So",
        "            if False:\n                # So",
        (
            (
                "tests/mail/sending/test_killing.py"
                "::test_what_a_killed_process_has_left_is_sent_by_the_next_one"
            ),
        ),
    ),
    Mutant(
        "background tasks are lost when the process exits",
        "server/app.py",
        "    await state.background_tasks.finish()\n",
        "",
        (
            (
                "tests/identity/test_log_in_audit.py"
                "::test_a_failure_is_recorded_after_the_response_and_before_the_process_ends"
            ),
        ),
    ),
    Mutant(
        "a change is made although its response would be refused",
        "web/application.py",
        "    if request.method not in _READS:  # later",
        "    if False:  # later",
        (
            (
                "tests/server/test_bytes_in_flight.py"
                "::test_a_change_is_refused_before_it_is_made_or_answered"
            ),
        ),
    ),
    Mutant(
        "a change is made and its response refused",
        "web/application.py",
        "    if request.method in _READS and len(response.body) > UNCOUNTED_BYTES:",
        "    if True:",
        (
            (
                "tests/server/test_bytes_in_flight.py"
                "::test_a_change_is_refused_before_it_is_made_or_answered"
            ),
        ),
    ),
    Mutant(
        "a change while a snooze ends is lost",
        "tickets/snoozing/store.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND version = :before",
        "WHERE tenant_id = :tenant_id AND id = :id",
        (
            (
                "tests/tickets/snoozing/test_snoozing.py"
                "::test_a_ticket_that_was_changed_since_it_was_read_is_not_woken_as_it_was"
            ),
        ),
    ),
    Mutant(
        "two processes count the open tickets of a member at once",
        "teams/assigning.py",
        '    if not await tx.try_lock("round robin", tenant_id):\n',
        '    if not await tx.try_lock(f"round robin {team_id}", tenant_id):\n',
        (
            (
                "tests/teams/test_round_robin.py"
                "::test_two_processes_do_not_give_a_member_more_than_the_capacity"
            ),
        ),
    ),
    Mutant(
        "a reply is accepted although another was committed during its transaction",
        "tickets/actions.py",
        "    written, replied = await _reply(tx, caller, stored, new, now_us)\n",
        (
            "    stored = await get_ticket(tx, caller.tenant_id, ticket_id)\n"
            "    written, replied = await _reply(tx, caller, stored, new, now_us)\n"
        ),
        (
            (
                "tests/tickets/test_ticket_pages.py"
                "::test_a_reply_is_refused_when_another_is_committed_during_its_transaction"
            ),
        ),
    ),
    Mutant(
        "a form of a new ticket that is sent twice opens two tickets",
        "tickets/pages/new_ticket.py",
        "    if stored is not None:\n",
        "    if False:\n",
        (
            "tests/tickets/test_new_ticket.py::test_a_form_that_is_sent_twice_opens_one_ticket",
            "tests/tickets/test_new_ticket.py::test_a_form_that_is_sent_at_once_opens_one_ticket",
        ),
    ),
    Mutant(
        "the idempotency record is written outside the transaction",
        "web/request.py",
        "self, tx), work, self)\n\n        return await self._write(guarded)\n",
        (
            "self, tx), work, self)\n\n"
            "        found = await self.read(lambda tx: idempotency.find(tx, once, "
            "self.now_us))\n"
            "        if found is not None:\n"
            "            return await self._write(guarded)\n"
            "        response = await self.write(work)\n"
            "        kept = [(n.decode(), v.decode()) for n, v in response.headers if n in "
            "_STORED_HEADERS]\n"
            "        record = StoredResponse(response.status, response.body, kept)\n"
            "        await self.write(lambda tx: idempotency.store(tx, once, record, "
            "self.now_us))\n"
            "        return response\n"
        ),
        (
            "tests/records/test_idempotency.py::test_eight_simultaneous_copies_are_executed_once",
            (
                "tests/records/test_idempotency.py"
                "::test_a_change_is_rolled_back_when_its_response_cannot_be_stored"
            ),
        ),
    ),
    Mutant(
        "a write does not run the proof's part of the transaction",
        "web/request.py",
        "                await self.proof.in_transaction(tx)\n",
        "                pass\n",
        (
            "tests/api_keys/test_replay.py::test_a_handler_that_only_writes_is_protected",
            "tests/test_routes.py::test_every_signed_write_accepts_a_signature_once",
        ),
    ),
    Mutant(
        "a write with a pending refusal is carried out",
        "web/request.py",
        "            raise self.proof.pending_refusal\n",
        "            pass\n",
        (
            (
                "tests/identity/test_reauthentication.py"
                "::test_every_lasting_change_needs_reauthentication"
            ),
            (
                "tests/identity/test_reauthentication.py"
                "::test_guesses_are_counted_together_with_failed_log_ins"
            ),
        ),
    ),
    Mutant(
        "the fan-out passes events whose deliveries it could not make",
        "webhooks/delivery/fan_out.py",
        "            await fan_out_store.add(tx, deliveries, now_us)\n        if extended:\n",
        (
            "            with __import__('contextlib').suppress(Exception):\n"
            "                await fan_out_store.add(tx, deliveries, now_us)\n"
            "        if extended:\n"
        ),
        (
            (
                "tests/webhooks/test_fan_out.py"
                "::test_deliveries_that_cannot_be_made_are_made_later_and_do_not_hold_back_the_feed"
            ),
        ),
    ),
    Mutant(
        "concurrent creates exceed the limit of endpoints",
        "webhooks/actions.py",
        '    await tx.lock("webhooks", caller.tenant_id)\n',
        "",
        ("tests/webhooks/test_limits.py::test_of_60_concurrently_created_endpoints_50_exist",),
    ),
    Mutant(
        "two changes of an endpoint at once undo each other",
        "webhooks/actions.py",
        '    await tx.lock(f"webhook {endpoint_id}", tenant_id)\n',
        "    await tx.try_lock(endpoint_id, tenant_id)\n",
        ("tests/webhooks/test_endpoints.py::test_concurrent_changes_do_not_overwrite_each_other",),
    ),
    Mutant(
        "an endpoint is not leased",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "TRUE",
        (
            "tests/webhooks/test_leases.py::test_two_workers_send_each_delivery_once",
            (
                "tests/webhooks/test_leases.py"
                "::test_lease_of_another_process_is_respected_until_it_expires"
            ),
        ),
    ),
    Mutant(
        "a lease never expires",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "leased_until IS NULL",
        (
            (
                "tests/webhooks/test_leases.py"
                "::test_lease_of_another_process_is_respected_until_it_expires"
            ),
            "tests/resilience/test_killed.py::test_every_event_arrives_though_the_worker_is_killed",
        ),
    ),
    Mutant(
        "a delivery that is added while a lease is released is not delivered",
        "webhooks/store/deliveries.py",
        " AND leased_until = :lease AND wakes = :wakes\n",
        " AND leased_until = :lease\n",
        ("tests/webhooks/test_leases.py::test_delivery_added_during_the_release_is_sent",),
    ),
    Mutant(
        "leases are not released when the process exits",
        "webhooks/delivery/deliverer.py",
        "        if self._is_broken:\n",
        "        if self._is_broken or self._deliverer.is_ending:\n",
        (
            (
                "tests/webhooks/test_leases.py"
                "::test_request_cancelled_at_shutdown_is_sent_by_the_next_process_at_once"
            ),
        ),
    ),
    Mutant(
        "the leases of a killed server are kept",
        "worker/loop.py",
        "self._has_old_leases = not state.settings.has_worker_process",
        "self._has_old_leases = False",
        ("tests/webhooks/test_leases.py::test_leases_of_a_killed_server_end_at_the_next_start",),
    ),
)
