"""Mutants of `db`."""

from tests.mutants.mutant import Mutant

_RESILIENCE = "tests/resilience/test_resilience.py"
_SQLITE = "tests/db/test_sqlite.py"
_COUNTERS = "tests/db/test_counters.py"
_FAIRNESS = "tests/db/test_fairness.py"
_SLOW_LISTS = "tests/tickets/test_slow_lists.py"
_SEARCH = "tests/search/test_search.py"
_CUSTOMER_SEARCH = "tests/search/test_customers.py"

_DRILL = (
    "tests/cli/test_backup.py"
    "::test_a_restored_service_has_what_was_acknowledged_and_nothing_revoked_works"
)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a read snapshot outlives its iteration of the event loop",
        "db/sqlite/snapshot.py",
        "            asyncio.get_running_loop().call_soon(self._close_snapshot)\n",
        "            asyncio.get_running_loop().call_later(0.3, self._close_snapshot)\n",
        (
            "tests/api_keys/test_immediately.py::"
            "test_no_request_that_begins_after_the_revocation_is_accepted",
        ),
    ),
    Mutant(
        "a write is acknowledged before its commit",
        "db/sqlite/database.py",
        "            await self._in_thread(self._commit)\n",
        "            for job in jobs:\n"
        "                job.settle()\n"
        "            await self._in_thread(self._commit)\n",
        (
            "tests/db/test_sqlite.py::"
            "test_write_returns_only_after_its_commit_and_reads_do_not_wait",
        ),
    ),
    Mutant(
        "counters in memory stay known when another process has written",
        "db/sqlite/transaction.py",
        "        if version != self._data_version:\n",
        "        if not self._data_version:\n",
        (f"{_COUNTERS}::test_processes_that_write_in_turn_draw_different_numbers",),
    ),
    Mutant(
        "counters in memory stay incremented when their work was undone",
        "db/sqlite/transaction.py",
        "        self._counters.forget()\n        if self._connection.in_transaction:\n",
        "        if self._connection.in_transaction:\n",
        (
            f"{_COUNTERS}::test_number_of_a_job_that_fails_goes_to_the_next",
            f"{_COUNTERS}::test_numbers_of_a_full_disk_are_drawn_again",
            f"{_COUNTERS}::test_numbers_of_a_commit_that_fails_are_drawn_again",
        ),
    ),
    Mutant(
        "a statement sees counters as they were before the transaction",
        "db/sqlite/transaction.py",
        "        if self._tables and not",
        "        if False and not",
        (f"{_COUNTERS}::test_statements_and_increments_see_each_other",),
    ),
    Mutant(
        "an increment is not undone with its work on PostgreSQL",
        "db/postgres/transaction.py",
        "        await self.open()\n"
        "        statement = statements.numbered(statements.increment(counter))\n",
        "        statement = statements.numbered(statements.increment(counter))\n",
        (f"{_COUNTERS}::test_increment_of_work_that_fails_is_undone",),
    ),
    Mutant(
        "a job that fails leaves what it has changed to the commit of its group",
        "db/sqlite/database.py",
        "            if job.error is not None and self._tx.change_count != former:\n",
        "            if False:\n",
        (
            f"{_SQLITE}::test_job_that_fails_leaves_the_others_of_its_group",
            f"{_SQLITE}::test_job_that_fails_among_many_is_the_only_one",
            f"{_COUNTERS}::test_number_of_a_job_that_fails_goes_to_the_next",
        ),
    ),
    Mutant(
        "a group that is run again has no savepoints",
        "db/sqlite/database.py",
        "                    job.run(self._tx.run_in_savepoint)\n",
        "                    job.run(self._tx.run)\n",
        (f"{_SQLITE}::test_job_that_fails_only_the_second_time_leaves_the_others",),
    ),
    Mutant(
        "a group goes on after SQLite has rolled it back",
        "db/sqlite/transaction.py",
        "        if not self._connection.in_transaction:\n            raise TransactionLost from",
        "        if False:\n            raise TransactionLost from",
        (f"{_SQLITE}::test_full_disk_in_one_job_fails_its_whole_group",),
    ),
    Mutant(
        "the rows of one set of parameters are taken for those of another",
        "db/postgres/transaction.py",
        'found[row["place"] - 1]',
        'found[row["place"] - 2]',
        (
            "tests/db/test_contract.py"
            "::test_one_select_for_many_parameter_sets_gives_the_rows_of_each_in_their_order",
        ),
    ),
    Mutant(
        "two changes of one row are sent in one statement",
        "db/postgres/transaction.py",
        "        if table and any(table",
        "        if table and not any(table",
        ("tests/db/test_contract.py::test_one_row_can_be_changed_twice_in_one_transaction",),
    ),
    Mutant(
        "commits do not wait for the disk",
        "db/sqlite/connection.py",
        '"PRAGMA synchronous = FULL"',
        '"PRAGMA synchronous = NORMAL"',
        ("tests/db/test_sqlite.py::test_every_connection_is_set_up_for_safety",),
    ),
    Mutant(
        "a write is acknowledged while PostgreSQL commits it",
        "db/postgres/database.py",
        "        return await self._run(work, tenant_id, is_write=True)\n",
        "        if tenant_id is None:\n"
        "            return await self._run(work, tenant_id, is_write=True)\n"
        "        done = asyncio.get_running_loop().create_future()\n\n"
        "        async def told(tx):\n"
        "            value = await work(tx)\n"
        "            done.done() or done.set_result(value)\n"
        "            return value\n\n"
        "        running = asyncio.ensure_future(\n"
        "            self._run(told, tenant_id, is_write=True)\n"
        "        )\n"
        "        await asyncio.wait((running, done), return_when=asyncio.FIRST_COMPLETED)\n"
        "        return done.result() if done.done() else await running\n",
        (f"{_RESILIENCE}::test_a_write_acknowledged_by_one_node_is_visible_on_the_others",),
    ),
    Mutant(
        "no commit waits for the disk or the standby",
        "db/postgres/statements.py",
        "    selected: list[str] = []\n",
        "    selected: list[str] = [\"set_config('synchronous_commit', 'off', true)\"]\n",
        (
            f"{_RESILIENCE}::test_a_crash_of_postgresql_loses_and_doubles_nothing",
            f"{_RESILIENCE}::test_a_failover_loses_and_doubles_nothing",
        ),
    ),
    Mutant(
        "a connection is not released after an error",
        "db/postgres/database.py",
        "                pool.release(connection, tenant_id)\n",
        '                if __import__("sys").exc_info()[0] is None:\n'
        "                    pool.release(connection, tenant_id)\n",
        (f"{_RESILIENCE}::test_clients_of_held_up_connections_are_refused_in_time",),
    ),
    Mutant(
        "each connection of a request has its own deadline",
        "db/postgres/pool.py",
        "            remaining.connection_wait_s -= time.monotonic() - began_at\n",
        "",
        ("tests/db/test_pool.py::test_a_request_waits_once_for_all_its_connections",),
    ),
    Mutant(
        "each statement of a request has its own deadline",
        "db/postgres/database.py",
        "            remaining.total_s -= time.monotonic() - began_at\n",
        "            pass\n",
        ("tests/db/test_pool.py::test_a_request_waits_once_for_all_its_statements",),
    ),
    Mutant(
        "the tenant is set for the session",
        "db/postgres/statements.py",
        """_SET_TENANT = f"set_config('{TENANT_SETTING}', %s, true)\"""",
        """_SET_TENANT = f"set_config('{TENANT_SETTING}', %s, false)\"""",
        ("tests/db/test_isolation.py::test_reused_connection_has_no_tenant",),
    ),
    Mutant(
        "a policy shows every row",
        "db/postgres/roles.py",
        "USING ({_IS_OF_TENANT})",
        "USING (true)",
        (
            "tests/db/test_roles.py::test_policies_are_exactly_these",
            "tests/db/test_isolation.py::test_read_without_its_filter_returns_no_foreign_row",
        ),
    ),
    Mutant(
        "background work runs on the event loop, and reads wait for it",
        "db/sqlite/database.py",
        "            await self._in_thread(partial(self._run_and_commit, job))\n",
        "            self._run_and_commit(job)\n",
        (f"{_SQLITE}::test_reads_do_not_wait_for_background_writes_and_writes_do",),
    ),
    Mutant(
        "the search ends at the newest 5,000 tickets",
        "db/migrations/versions/0004_search.py",
        "    IF found = at_most OR walked IS NULL THEN\n",
        "    IF true THEN\n",
        (f"{_SEARCH}::test_tickets_older_than_the_newest_are_found",),
    ),
    Mutant(
        "the search function accepts any tenant",
        "db/migrations/versions/0004_search.py",
        "    IF of_tenant IS DISTINCT FROM nullif(",
        "    IF false AND of_tenant IS DISTINCT FROM nullif(",
        (f"{_SEARCH}::test_search_function_refuses_another_tenant",),
    ),
    Mutant(
        "the customer search function accepts any tenant",
        "db/migrations/versions/0005_customer_search.py",
        "    IF of_tenant IS DISTINCT FROM nullif(",
        "    IF false AND of_tenant IS DISTINCT FROM nullif(",
        (f"{_CUSTOMER_SEARCH}::test_search_function_refuses_another_tenant",),
    ),
    Mutant(
        "the search of customers ends at the newest 5,000",
        "db/migrations/versions/0005_customer_search.py",
        "    IF found = at_most OR walked IS NULL THEN\n",
        "    IF true THEN\n",
        (f"{_CUSTOMER_SEARCH}::test_customers_older_than_the_newest_are_found",),
    ),
    Mutant(
        "slots are given in the order of arrival, whichever tenant waits",
        "db/fairness.py",
        "                self._waiting.move_to_end(tenant_id)\n",
        "",
        (f"{_FAIRNESS}::test_tenants_are_served_in_turn",),
    ),
    Mutant(
        "one tenant may have all slots",
        "db/fairness.py",
        "self._used[tenant_id] < self._per_tenant",
        "True",
        (f"{_FAIRNESS}::test_a_tenant_leaves_slots_to_others",),
    ),
    Mutant(
        "all tenants together may have ten queries without an index",
        "db/sqlite/slow_reads.py",
        "self._slots.acquire(tenant_id, ",
        "self._slots.acquire('', ",
        (f"{_SLOW_LISTS}::test_slow_queries_of_one_tenant_refuse_none_of_another",),
    ),
    Mutant(
        "all tenants together may have ten queries without an index, on PostgreSQL",
        "db/postgres/database.py",
        "self._slow_slots.hold(tenant_id, ",
        "self._slow_slots.hold('', ",
        (f"{_SLOW_LISTS}::test_slow_queries_of_one_tenant_refuse_none_of_another",),
    ),
    Mutant(
        "a cancelled query keeps its place in the queue",
        "db/fairness.py",
        "            if waiter.future.cancelled():\n                self._leave(waiter)\n",
        "            if waiter.future.cancelled():\n                pass\n",
        (f"{_FAIRNESS}::test_cancelled_tasks_leave_the_queue",),
    ),
    Mutant(
        "writes run in the order of arrival, whichever tenant waits",
        "db/sqlite/job_queue.py",
        "heappush(self._heap, (rank, next(self._numbers), job))",
        "heappush(self._heap, (0, next(self._numbers), job))",
        (f"{_SQLITE}::test_writes_of_a_tenant_do_not_wait_for_a_thousand_of_another",),
    ),
    Mutant(
        "any number of a tenant's writes may wait",
        "db/sqlite/job_queue.py",
        "rank - self._rank >= MAX_WAITING_WRITES",
        "False",
        (f"{_SQLITE}::test_only_the_tenant_with_too_many_waiting_writes_is_refused",),
    ),
    Mutant(
        "SQLite reads all rows of a page that ends early",
        "db/sqlite/transaction.py",
        "                if free_bytes < 0:\n",
        "                if False:\n",
        ("tests/web/test_large_pages.py::test_rows_behind_a_page_that_ends_early_are_not_fetched",),
    ),
    Mutant(
        "a request shares a read of the key stamp that was sent before it came",
        "db/postgres/shared_read.py",
        "        waiting, self._waiting = self._waiting, []\n",
        "        waiting = self._waiting\n"
        "        asyncio.get_running_loop().call_later(0.3, waiting.clear)\n",
        ("tests/db/test_shared_read.py::test_who_asks_during_a_read_gets_the_next_one",),
    ),
    Mutant(
        "a request that is cancelled ends the read of the others",
        "db/postgres/shared_read.py",
        "                if not result.done():\n                    result.set_result(value)\n",
        "                result.set_result(value)\n",
        ("tests/db/test_shared_read.py::test_a_cancelled_request_does_not_end_the_read_of_others",),
    ),
    Mutant(
        "PostgreSQL forgets to replace the stamp for an added key",
        "db/migrations/versions/0016_key_stamp_on_postgresql.py",
        '"api_keys": f"INSERT OR DELETE',
        '"api_keys": f"DELETE',
        ("tests/db/test_key_stamp.py::test_added_and_removed_keys_replace_the_stamp",),
    ),
    Mutant(
        "PostgreSQL forgets to replace the stamp for a revoked key",
        "db/migrations/versions/0016_key_stamp_on_postgresql.py",
        "revoked_at, sealed_secret",
        "sealed_secret",
        ("tests/db/test_key_stamp.py::test_a_change_of_each_column_replaces_the_stamp",),
    ),
    Mutant(
        "PostgreSQL fetches all rows of a page, however large they are",
        "db/postgres/statements.py",
        "> {int(max_bytes)} THEN",
        "> {int(max_bytes) + 10**9} THEN",
        ("tests/web/test_large_pages.py::test_rows_behind_a_page_that_ends_early_are_not_fetched",),
    ),
    Mutant(
        "PostgreSQL does not fetch the row behind one that is larger than a page",
        "db/postgres/statements.py",
        "AND 2 PRECEDING",
        "AND 1 PRECEDING",
        (
            "tests/web/test_large_pages.py"
            "::test_a_page_of_events_ends_early_and_has_one_event_at_least",
        ),
    ),
    Mutant(
        "log-ins survive a restore",
        "db/epochs.py",
        "    if not epoch:\n",
        "    if True:\n",
        (_DRILL,),
    ),
    Mutant(
        "ticket numbers continue after a restore as if nothing had happened",
        "db/epochs.py",
        "    await tx.execute(_SKIP_NUMBERS",
        "    await tx.execute(_SKIP_POSITIONS",
        (
            "tests/api_keys/test_confirm.py::test_each_epoch_has_a_higher_number_and_skips_ticket_numbers",
        ),
    ),
    Mutant(
        "the checksum behind a backup is not compared",
        "db/backup/archive.py",
        "        if not found and self._waiting !=",
        "        if not found and not self._waiting and self._waiting !=",
        ("tests/db/test_backup_archive.py::test_a_changed_byte_or_a_cut_is_noticed",),
    ),
    Mutant(
        "a restore overwrites a database that exists",
        "db/backup/sqlite.py",
        "        if found.exists():\n",
        "        if False:\n",
        ("tests/cli/test_backup.py::test_nothing_is_replaced",),
    ),
)
