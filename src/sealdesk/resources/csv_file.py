"""CSV files in which a spreadsheet evaluates no formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from sealdesk.resources.addresses import known_address

# White space, quotes and separators before what starts a formula, in full-width forms as well. It
# begins behind another character, because a match from each white space would take quadratic time.
_BEFORE_FORMULA = re.compile(r"(?<![;|\s\"])[;|\s\"]*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_FORMULA = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20]")
# A spreadsheet that splits at one of these sees more cells than we wrote.
_SEPARATORS = frozenset(";|\t\r\n")
_LEADING = ("\t", "\r", "\n")  # spreadsheets skip these before a formula
_BOM = "\ufeff"  # without it some spreadsheets do not read UTF-8


def encode(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table in UTF-8."""
    return _BOM.encode() + encode_rows([header]) + encode_rows(rows)


def encode_rows(rows: Iterable[Sequence[str]]) -> bytes:
    """Rows that follow each other in a table, without what only stands in for an address."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([escape(known_address(cell)) for cell in row] for row in rows)
    return text.getvalue().encode()


def escape(cell: str) -> str:
    """A cell with an apostrophe before everything that could be a formula."""
    # Most texts have none, which is seen ten times as fast.
    escaped = _BEFORE_FORMULA.sub(_mark, cell) if _FORMULA.search(cell) else cell
    return f"'{escaped}" if escaped.startswith(_LEADING) else escaped


def _mark(before: re.Match[str]) -> str:
    is_cell = before.start() == 0 or not _SEPARATORS.isdisjoint(before[0])
    return f"{before[0]}'" if is_cell else before[0]
