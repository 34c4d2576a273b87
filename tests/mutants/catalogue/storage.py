"""Mutants of what watches the storage: files, pages, the write-ahead log, readiness."""

from tests.mutants.mutant import Mutant

_FILES = "tests/db/test_lost_files.py"
_PAGES = "tests/db/test_page_checker.py"
_LOG = "tests/db/test_log_size.py"
_CHECKPOINT = "tests/db/test_checkpoint.py"
_FAULTS = "tests/test_faults.py"
_LOST = "tests/cli/test_lost_database.py"
_DOCTOR = "tests/cli/test_doctor.py"
_DESCRIPTORS = "tests/cli/test_descriptors.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a commit to a removed file is acknowledged",
        "db/sqlite/database.py",
        "        self._files.verify()\n",
        "",
        (f"{_FILES}::test_no_write_is_acknowledged_once_the_files_are_lost",),
    ),
    Mutant(
        "a checkpoint starts when a commit may begin the log again",
        "db/sqlite/checkpoint.py",
        "        if self._files.count_log_frames():\n",
        "        if True:\n",
        (f"{_CHECKPOINT}::test_no_checkpoint_starts_when_the_log_is_moved",),
    ),
    Mutant(
        "two checkpoints run at a time",
        "db/sqlite/database.py",
        "            async with self._checkpointer.lock:\n",
        "            if self._checkpointer.lock:\n",
        (f"{_CHECKPOINT}::test_nothing_else_moves_the_log_during_a_pass",),
    ),
    Mutant(
        "the rest of the log is never moved, so the log grows",
        "db/sqlite/checkpoint.py",
        "                await run_between_commits(self._move)\n",
        "",
        (f"{_CHECKPOINT}::test_log_begins_again_while_writes_go_on",),
    ),
    Mutant(
        "lost files are noticed only by a write",
        "db/sqlite/watch.py",
        "            self._files.verify()\n",
        "",
        (f"{_FILES}::test_lost_files_are_noticed_without_a_write",),
    ),
    Mutant(
        "every file that becomes smaller is lost",
        "db/sqlite/files.py",
        "        return os.fstat(self.descriptor).st_size < expected\n",
        "        return True\n",
        (f"{_FILES}::test_file_that_vacuum_makes_smaller_is_not_lost",),
    ),
    Mutant(
        "pages of zeros are not suspected",
        "db/sqlite/pages.py",
        "        elif not any(page):\n",
        "        elif False:\n",
        (f"{_PAGES}::test_all_overwritten_pages_are_noticed_in_one_round",),
    ),
    Mutant(
        "free pages are suspected",
        "db/sqlite/pages.py",
        "    trunk = layout.first_free\n",
        "    trunk = 0\n",
        (f"{_PAGES}::test_pages_of_a_database_in_use_are_not_suspected",),
    ),
    Mutant(
        "tables are not checked while the service runs",
        "db/sqlite/page_checker.py",
        "        await self._check_tables()\n",
        "",
        (f"{_PAGES}::test_valid_page_in_a_wrong_place_is_noticed",),
    ),
    Mutant(
        "a damaged database is ready",
        "web/status.py",
        "    if not can_write or health.is_damaged:\n",
        "    if not can_write:\n",
        (f"{_PAGES}::test_all_overwritten_pages_are_noticed_in_one_round",),
    ),
    Mutant(
        "a large log is not emptied",
        "db/sqlite/watch.py",
        "                await self._truncate_log()\n",
        "                pass\n",
        (f"{_LOG}::test_large_log_is_emptied",),
    ),
    Mutant(
        "the log keeps its size after a checkpoint",
        "db/sqlite/connection.py",
        'f"PRAGMA journal_size_limit = {KEPT_LOG_BYTES}"',
        '"PRAGMA journal_size_limit = -1"',
        (f"{_LOG}::test_log_is_cut_after_a_checkpoint",),
    ),
    Mutant(
        "readiness asks only whether the storage can be read",
        "web/status.py",
        "    can_write = can_read and await request.state.write_probe.can_write()\n",
        "    can_write = can_read\n",
        (
            f"{_FAULTS}::test_service_is_not_ready_after_a_log_in_that_a_full_disk_refused",
            f"{_FAULTS}::test_writes_are_refused_until_the_database_file_can_grow",
        ),
    ),
    Mutant(
        "an empty database is made beside the keys of a lost one",
        "cli/installation.py",
        "    first_start.ensure_not_lost(settings.data_dir, settings.database_path)\n",
        "",
        (f"{_LOST}::test_no_empty_database_is_made_beside_the_keys_of_a_lost_one",),
    ),
    Mutant(
        "an interrupted first start is taken for a loss",
        "crypto/key_files.py",
        "        first_start_marker(path.parent).touch(0o600)\n",
        "        pass\n",
        (f"{_LOST}::test_first_start_that_was_interrupted_after_the_keys_continues",),
    ),
    Mutant(
        "the server starts with any master key",
        "cli/serving.py",
        "    master_key.ensure_fits(settings)\n",
        "",
        (f"{_LOST}::test_server_does_not_start_with_another_master_key",),
    ),
    Mutant(
        "doctor does not check the tables",
        "cli/doctor/sqlite_storage.py",
        "        return quick_check(connection, limit_s=CHECK_LIMIT_S)\n",
        "        return CheckResult(is_complete=False)\n",
        (f"{_DOCTOR}::test_a_damaged_page_is_reported_with_the_remedy",),
    ),
    Mutant(
        "exhausted descriptors are not logged",
        "telemetry/descriptors.py",
        "        return error.errno in (errno.EMFILE, errno.ENFILE)\n",
        "        return False\n",
        (f"{_DESCRIPTORS}::test_exhausted_descriptors_are_logged_once_with_the_limit_and_counted",),
    ),
)
