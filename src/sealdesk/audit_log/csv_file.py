"""CSV files in which a spreadsheet evaluates no formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

# What starts a formula, in full-width forms as well, at the start of a cell or behind a separator:
# a spreadsheet that splits at semicolons or tabs sees more cells than we wrote.
_FORMULA = re.compile(r"((?:^|[;|\t\r\n])[\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_LEADING = ("\t", "\r", "\n")  # spreadsheets skip these before a formula
_BOM = "\ufeff"  # without it some spreadsheets do not read UTF-8


def encode(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table in UTF-8, with an apostrophe before everything that could be a formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([_escape(cell) for cell in row] for row in rows)
    return (_BOM + text.getvalue()).encode()


def _escape(cell: str) -> str:
    escaped = _FORMULA.sub(r"\1'", cell)
    return f"'{escaped}" if escaped.startswith(_LEADING) else escaped
