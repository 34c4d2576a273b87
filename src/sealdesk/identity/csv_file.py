"""Tables as CSV that a spreadsheet takes for text, whatever somebody wrote into it."""

import csv
import io
from collections.abc import Iterable, Sequence

# What makes a cell a formula, or hides that one follows.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n")
# Without it some spreadsheets take UTF-8 for something else.
_BOM = "\ufeff"


def of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table as UTF-8; a cell that could be a formula begins with an apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerow(heads)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return (_BOM + written.getvalue()).encode()


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_DANGEROUS) else cell
