"""Mutants of storage: commits, backups, and attachments."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "retention deletes a file that another attachment has",
        "tickets/attachments/pruning.py",
        "        return await state.database.read(work)\n",
        "        return False\n",
        (
            (
                "tests/tickets/test_attached.py"
                "::test_an_upload_that_nothing_refers_to_is_deleted_after_a_day"
            ),
        ),
    ),
    Mutant(
        "a restored attachment is not compared with its hash",
        "tickets/attachments/packing.py",
        "        if (await incoming.finish()).sha256 != content.sha256:\n",
        "        if not await incoming.finish():\n",
        (
            (
                "tests/tickets/test_packing.py"
                "::test_an_attachment_that_does_not_fit_its_name_is_not_restored"
            ),
            "tests/cli/test_attachments.py::test_a_file_that_does_not_fit_its_name_is_not_moved",
        ),
    ),
    Mutant(
        "a file is put into the bucket after its row",
        "tickets/attachments/receiving.py",
        (
            "    await storage.publish(incoming.path, content_of(attachment), request.now_us)\n"
            "    await request.write(\n"
            "        lambda tx: actions.add(tx, attachment, "
            "quota_bytes=settings.attachment_quota_bytes)\n"
            "    )\n"
        ),
        (
            "    await request.write(\n"
            "        lambda tx: actions.add(tx, attachment, "
            "quota_bytes=settings.attachment_quota_bytes)\n"
            "    )\n"
            "    await storage.publish(incoming.path, content_of(attachment), request.now_us)\n"
        ),
        (
            (
                "tests/tickets/test_bucket.py"
                "::test_a_failing_bucket_refuses_the_file_and_keeps_nothing_of_it"
            ),
        ),
    ),
    Mutant(
        "the bytes of a bucket are not compared with their hash",
        "tickets/attachments/bucket.py",
        " and self._digest.hexdigest() != self._content.sha256:\n",
        " and not self._digest.hexdigest():\n",
        (
            (
                "tests/tickets/test_bucket.py"
                "::test_bytes_that_were_changed_in_the_bucket_are_not_given_whole"
            ),
        ),
    ),
    Mutant(
        "bytes are published in the bucket while they are deleted",
        "tickets/attachments/bucket.py",
        "        is_whole = not await self._is_being_deleted(content)\n",
        "        is_whole = True\n",
        ("tests/tickets/test_bucket.py::test_bytes_are_not_published_while_they_are_deleted",),
    ),
    Mutant(
        "a write is acknowledged before its commit",
        "db/sqlite/writer.py",
        "            await self._in_thread(self._commit)\n",
        (
            "            for job in jobs:\n"
            "                job.settle()\n"
            "            await self._in_thread(self._commit)\n"
        ),
        (
            (
                "tests/db/test_sqlite.py"
                "::test_write_returns_only_after_its_commit_and_reads_do_not_wait"
            ),
        ),
    ),
    Mutant(
        "counters in memory stay known when another process has written",
        "db/sqlite/transaction.py",
        "        if version != self._data_version:\n",
        "        if not self._data_version:\n",
        ("tests/db/test_counters.py::test_processes_that_write_in_turn_draw_different_numbers",),
    ),
    Mutant(
        "counters in memory stay incremented when their work was undone",
        "db/sqlite/transaction.py",
        "        self._counters.forget()\n        if self._connection.in_transaction:\n",
        "        if self._connection.in_transaction:\n",
        (
            "tests/db/test_counters.py::test_number_of_a_job_that_fails_goes_to_the_next",
            "tests/db/test_counters.py::test_numbers_of_a_full_disk_are_drawn_again",
            "tests/db/test_counters.py::test_numbers_of_a_commit_that_fails_are_drawn_again",
        ),
    ),
    Mutant(
        "an increment is not undone with its work on PostgreSQL",
        "db/postgres/transaction.py",
        (
            "        await self.open()\n"
            "        statement = statements.numbered(statements.increment(counter))\n"
        ),
        "        statement = statements.numbered(statements.increment(counter))\n",
        ("tests/db/test_counters.py::test_increment_of_work_that_fails_is_undone",),
    ),
    Mutant(
        "a job that fails leaves what it has changed to the commit of its group",
        "db/sqlite/writer.py",
        "            if job.error is not None and self._tx.change_count != former:\n",
        "            if False:\n",
        (
            "tests/db/test_sqlite.py::test_job_that_fails_leaves_the_others_of_its_group",
            "tests/db/test_sqlite.py::test_job_that_fails_among_many_is_the_only_one",
            "tests/db/test_counters.py::test_number_of_a_job_that_fails_goes_to_the_next",
        ),
    ),
    Mutant(
        "a group that is run again has no savepoints",
        "db/sqlite/writer.py",
        "                    job.run(self._tx.run_in_savepoint)\n",
        "                    job.run(self._tx.run)\n",
        ("tests/db/test_sqlite.py::test_job_that_fails_only_the_second_time_leaves_the_others",),
    ),
    Mutant(
        "a group goes on after SQLite has rolled it back",
        "db/sqlite/transaction.py",
        "        if not self._connection.in_transaction:\n            raise TransactionLost from",
        "        if False:\n            raise TransactionLost from",
        ("tests/db/test_sqlite.py::test_full_disk_in_one_job_fails_its_whole_group",),
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
        (
            "        if tenant_id is None:\n"
            "            return await self._run(work, tenant_id, is_write=True)\n"
            "        done = asyncio.get_running_loop().create_future()\n"
            "\n"
            "        async def told(tx):\n"
            "            value = await work(tx)\n"
            "            done.done() or done.set_result(value)\n"
            "            return value\n"
            "\n"
            "        running = asyncio.ensure_future(\n"
            "            self._run(told, tenant_id, is_write=True)\n"
            "        )\n"
            "        await asyncio.wait((running, done), return_when=asyncio.FIRST_COMPLETED)\n"
            "        return done.result() if done.done() else await running\n"
        ),
        (
            (
                "tests/resilience/test_resilience.py"
                "::test_a_write_acknowledged_by_one_node_is_visible_on_the_others"
            ),
        ),
    ),
    Mutant(
        "no commit waits for the disk or the standby",
        "db/postgres/statements.py",
        "    selected: list[str] = []\n",
        "    selected: list[str] = [\"set_config('synchronous_commit', 'off', true)\"]\n",
        (
            (
                "tests/resilience/test_resilience.py"
                "::test_a_crash_of_postgresql_loses_and_doubles_nothing"
            ),
            "tests/resilience/test_resilience.py::test_a_failover_loses_and_doubles_nothing",
        ),
    ),
    Mutant(
        "a connection is not released after an error",
        "db/postgres/database.py",
        "                pool.release(connection, tenant_id)\n",
        (
            '                if __import__("sys").exc_info()[0] is None:\n'
            "                    pool.release(connection, tenant_id)\n"
        ),
        (
            (
                "tests/resilience/test_resilience.py"
                "::test_clients_of_held_up_connections_are_refused_in_time"
            ),
        ),
    ),
    Mutant(
        "ticket numbers continue after a restore as if nothing had happened",
        "db/epochs.py",
        "    await tx.execute(_SKIP_NUMBERS",
        "    await tx.execute(_SKIP_POSITIONS",
        (
            (
                "tests/api_keys/test_confirm.py"
                "::test_each_epoch_has_a_higher_number_and_skips_ticket_numbers"
            ),
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
    Mutant(
        "erasing leaves the events",
        "tickets/erasing/steps/actions.py",
        '    "events": logs.erase_events,\n',
        "",
        ("tests/tickets/erasing/test_proof.py::test_no_column_of_any_table_has_anything_left",),
    ),
    Mutant(
        "a raw message is deleted while it is kept",
        "tickets/attachments/store.py",
        "AND raw_sha256 = :sha256 AND raw_until > :now LIMIT 1",
        "AND raw_sha256 = :sha256 AND raw_until < :now LIMIT 1",
        ("tests/mail/receiving/test_keeping.py::test_a_raw_message_is_deleted_after_30_days",),
    ),
    Mutant(
        "the first reply takes the file of its macro",
        "tickets/attachments/actions.py",
        "if each.macro_id else each",
        "if each.ticket_id else each",
        ("tests/tickets/macros/test_files.py::test_each_reply_gets_a_copy_of_the_file",),
    ),
    Mutant(
        "a body that is cut off looks complete",
        "server/exchange.py",
        '    return chunk + b"0\\r\\n\\r\\n" if is_last else chunk\n',
        '    return chunk + b"0\\r\\n\\r\\n"\n',
        (
            (
                "tests/server/test_exchange.py"
                "::test_a_body_of_unknown_length_that_is_cut_off_has_no_last_chunk"
            ),
        ),
    ),
    Mutant(
        "a node exits on SIGTERM without draining",
        "server/serve.py",
        "        server.handle_exit(number, frame)\n",
        '        __import__("os")._exit(0)\n',
        (
            (
                "tests/resilience/test_rolling.py"
                "::test_no_client_behind_a_load_balancer_notices_a_restart"
            ),
            "tests/cli/test_ending.py::test_no_accepted_or_queued_request_is_lost",
        ),
    ),
    Mutant(
        "a commit to a removed file is acknowledged",
        "db/sqlite/writer.py",
        "        self._files.verify()\n",
        "",
        ("tests/db/test_lost_files.py::test_no_write_is_acknowledged_once_the_files_are_lost",),
    ),
    Mutant(
        "a checkpoint starts when a commit may begin the log again",
        "db/sqlite/checkpoint.py",
        "        if self._files.count_log_frames():\n",
        "        if True:\n",
        ("tests/db/test_checkpoint.py::test_no_checkpoint_starts_when_the_log_is_moved",),
    ),
    Mutant(
        "two checkpoints run at a time",
        "db/sqlite/writer.py",
        "            async with self._checkpointer.lock:\n",
        "            if self._checkpointer.lock:\n",
        ("tests/db/test_checkpoint.py::test_nothing_else_moves_the_log_during_a_pass",),
    ),
    Mutant(
        "a damaged database is ready",
        "web/status.py",
        "    if not can_write or health.is_damaged:\n",
        "    if not can_write:\n",
        ("tests/db/test_page_checker.py::test_all_overwritten_pages_are_noticed_in_one_round",),
    ),
    Mutant(
        "an empty database is made beside the keys of a lost one",
        "cli/installation.py",
        "    first_start.ensure_not_lost(settings.data_dir, settings.database_path)\n",
        "",
        (
            (
                "tests/cli/test_lost_database.py"
                "::test_no_empty_database_is_made_beside_the_keys_of_a_lost_one"
            ),
        ),
    ),
)
