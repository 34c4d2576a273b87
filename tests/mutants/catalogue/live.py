"""Mutants of live pages."""

from tests.mutants.mutant import Mutant

_PRESENCE = "tests/tickets/live/test_presence.py"
_STREAM = "tests/tickets/live/test_stream.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "viewers of a tenant that cannot be stored hold up those of others",
        "event_log/presence.py",
        "key=lambda one: (one <= self._failed_tenant, one)",
        "key=lambda one: (one < '', one)",
        (f"{_PRESENCE}::test_viewers_of_a_tenant_without_a_free_connection_hold_up_no_others",),
    ),
    Mutant(
        "a page is not told of viewers at another process",
        "event_log/streams.py",
        "            changed = set(await self._presence.exchange())\n",
        "            changed = set(await self._presence.exchange()) and set()\n",
        (
            f"{_PRESENCE}::test_a_viewer_at_another_process_is_named_until_the_page_is_closed",
            f"{_PRESENCE}::test_a_draft_at_another_process_is_told_at_once",
        ),
    ),
    Mutant(
        "a process that ends leaves its viewers behind",
        "server/app.py",
        "    await state.streams.stop()\n",
        "",
        (f"{_PRESENCE}::test_a_process_that_ends_takes_its_viewers_with_it",),
    ),
    Mutant(
        "viewers at a process that was killed stay for ever",
        "event_log/presence.py",
        '"seen_since": now_us - _PRESENT_US',
        '"seen_since": 0',
        (f"{_PRESENCE}::test_rows_of_a_process_that_was_killed_expire",),
    ),
    Mutant(
        "a stream gets the events of another tenant",
        "tickets/live/store.py",
        """_EVENTS = \"\"\"
SELECT position, type, created_at, object FROM events
WHERE tenant_id = :tenant_id AND position > :after ORDER BY position LIMIT :limit
""",
        """_EVENTS = \"\"\"
SELECT position, type, created_at, object FROM events
WHERE :tenant_id <> '' AND position > :after ORDER BY position LIMIT :limit
""",
        (f"{_STREAM}::test_another_tenant_is_told_nothing",),
    ),
    Mutant(
        "a stream goes on after the log-out",
        "event_log/streams.py",
        "                    each.end()\n",
        "                    pass\n",
        (
            f"{_STREAM}::test_logging_out_ends_the_streams_of_the_session_only",
            f"{_STREAM}::test_a_deactivated_user_is_told_nothing_more",
            f"{_STREAM}::test_a_role_that_changes_ends_the_stream",
        ),
    ),
    Mutant(
        "a page that joins with less makes others hear twice",
        "event_log/stream.py",
        "        if self.position > after:\n",
        "        if False:\n",
        (f"{_STREAM}::test_nothing_is_told_twice_when_a_page_joins_that_knows_less",),
    ),
    Mutant(
        "a page that joins with less hears nothing of what it has missed",
        "event_log/streams.py",
        "        tenant.position = min(tenant.position, stream.position)\n",
        "",
        (f"{_STREAM}::test_nothing_is_told_twice_when_a_page_joins_that_knows_less",),
    ),
    Mutant(
        "what a client does not read is held without a limit",
        "event_log/stream.py",
        "        if len(self._pending) + len(lines) > MAX_PENDING_BYTES and self._pending:\n",
        "        if False:\n",
        (f"{_STREAM}::test_a_client_that_does_not_read_is_dropped_at_a_bound",),
    ),
    Mutant(
        "streams go on while the process drains",
        "server/app.py",
        "    state.lifetime.on_drain.append(state.streams.end_all)\n",
        "",
        (f"{_STREAM}::test_draining_ends_streams_at_once",),
    ),
    Mutant(
        "somebody else's notification can be opened",
        "tickets/notifications/store.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND user_id = :user_id LIMIT 1\n",
        "WHERE tenant_id = :tenant_id AND id = :id AND :user_id <> '' LIMIT 1\n",
        (
            "tests/tickets/test_notifications.py::test_the_notification_of_somebody_else_does_not_exist",
        ),
    ),
    Mutant(
        "a reply whose response was lost is stored twice",
        "tickets/actions.py",
        "            return listed[0]  # sent again, as the response to the first was lost\n",
        "            return (await _reply(tx, caller, stored, new, now_us))[0]\n",
        (
            "tests/tickets/test_ticket_pages.py::test_a_reply_whose_response_was_lost_is_stored_once",
        ),
    ),
)
