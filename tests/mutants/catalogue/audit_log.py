"""Mutants of `audit_log`."""

from tests.mutants.mutant import Mutant

_AUDIT = "tests/audit_log/test_audit_pages.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a spreadsheet takes a name for a formula",
        "audit_log/csv_file.py",
        """    safe = _FORMULA.sub(r"\\1'", cell)\n""",
        "    safe = cell\n",
        (f"{_AUDIT}::test_the_file_is_safe_for_spreadsheets",),
    ),
    Mutant(
        "a spreadsheet finds a formula behind a semicolon",
        "audit_log/csv_file.py",
        "(?:^|[;|",
        "(?:^|[|",
        (f"{_AUDIT}::test_the_file_is_safe_for_spreadsheets",),
    ),
    Mutant(
        "an export leaves out what was done in the instant where it ended",
        "audit_log/pages.py",
        'at_us if name == "since" else at_us + 1',
        "at_us",
        (f"{_AUDIT}::test_a_file_says_that_there_is_more",),
    ),
)
