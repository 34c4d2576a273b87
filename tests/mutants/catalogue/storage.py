"""Mutants of what watches the storage: files, pages, the write-ahead log, readiness."""

from tests.mutants.mutant import Mutant

_FILES = "tests/db/test_lost_files.py"
_PAGES = "tests/db/test_page_checker.py"
_LOG = "tests/db/test_log_size.py"
_FAULTS = "tests/test_faults.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a commit to a removed file is acknowledged",
        "db/sqlite/database.py",
        "        files.verify()\n",
        "",
        (f"{_FILES}::test_no_write_is_acknowledged_once_the_files_are_lost",),
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
)
