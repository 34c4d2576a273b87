"""Tables as CSV that a spreadsheet takes for text, whatever somebody wrote into it."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

# What makes a cell a formula, in wide letters as well. It is looked for behind whatever may begin a
# cell: a spreadsheet whose lists are divided by semicolons or tabs cuts our cells at theirs.
_FORMULA = re.compile(r"((?:^|[;|\t\r\n])[\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_HIDING = ("\t", "\r", "\n")
# Without it some spreadsheets take UTF-8 for something else.
_BOM = "\ufeff"


def of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table as UTF-8; an apostrophe stands before whatever could be a formula."""
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerow(heads)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return (_BOM + written.getvalue()).encode()


def _safe(cell: str) -> str:
    safe = _FORMULA.sub(r"\1'", cell)
    return f"'{safe}" if safe.startswith(_HIDING) else safe
