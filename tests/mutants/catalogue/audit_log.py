"""Mutants of `audit_log`."""

from tests.mutants.mutant import Mutant

_AUDIT = "tests/audit_log/test_audit_pages.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a spreadsheet evaluates a name as a formula",
        "resources/csv_file.py",
        """    escaped = _BEFORE_FORMULA.sub(_mark, cell)\n""",
        "    escaped = cell\n",
        (f"{_AUDIT}::test_a_spreadsheet_evaluates_no_cell_of_the_export",),
    ),
    Mutant(
        "a spreadsheet finds a formula behind a semicolon",
        "resources/csv_file.py",
        '_SEPARATORS = frozenset(";|',
        '_SEPARATORS = frozenset("|',
        (f"{_AUDIT}::test_a_spreadsheet_evaluates_no_cell_of_the_export",),
    ),
    Mutant(
        "an export leaves out the entries of the instant at which it ends",
        "audit_log/pages.py",
        'at_us if name == "since" else at_us + 1',
        "at_us",
        (f"{_AUDIT}::test_an_export_says_that_there_are_more_rows",),
    ),
    Mutant(
        "an export is bounded in rows, but not in bytes",
        "audit_log/pages.py",
        "_MAX_EXPORTED or chars >= _MAX_EXPORTED_CHARS",
        "_MAX_EXPORTED",
        (f"{_AUDIT}::test_an_export_says_that_there_are_more_rows",),
    ),
    Mutant(
        "the export looks for a formula behind each white space of a run",
        "resources/csv_file.py",
        r"(?<![;|\s\"])[;|",
        "[;|",
        ("tests/test_regular_expressions.py::test_a_cell_of_a_csv_file_is_escaped_in_linear_time",),
    ),
)
