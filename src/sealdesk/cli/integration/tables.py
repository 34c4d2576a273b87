"""Rows of a list as a table that fits the terminal, or as JSON."""

import json as json_text
import shutil
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from sealdesk.cli.output import format_json, print_table

_CONTROL = "C"  # the Unicode categories of control characters, which terminals obey
_ZERO_WIDTH_JOINER = "\u200d"  # of emojis
_LEAST_WIDTH = 24


class Columns(NamedTuple):
    """The members that a table shows, by their headings: customer.email is a member of a member.

    In a narrow terminal the optional columns are left out, then the last column is shortened.
    """

    members: dict[str, str]
    optional: tuple[str, ...] = ()


def print_rows(rows: Iterable[bytes], columns: Columns, *, json: bool, ndjson: bool) -> None:
    """Print rows, which are JSON, in the form that was asked for."""
    if ndjson:
        for row in rows:
            sys.stdout.buffer.write(row + b"\n")
        sys.stdout.buffer.flush()
        return
    values = [msgspec.json.decode(row) for row in rows]
    if json:
        print(format_json(values))
        return
    table = [
        {heading: _text_at(value, path) for heading, path in columns.members.items()}
        for value in values
    ]
    headings = list(columns.members)
    if sys.stdout.isatty() and table:
        headings = _fit(table, columns, shutil.get_terminal_size().columns)
    print_table(headings, [[row[heading] for heading in headings] for row in table])


def print_row(row: bytes, *, json: bool) -> None:
    """Print one row: each member on its own line, or as JSON."""
    value = msgspec.json.decode(row)
    if json:
        print(format_json(value))
        return
    members = list(_flatten(value))
    width = max((len(name) for name, _ in members), default=0)
    for name, text in members:
        print(f"{name:<{width}}  {text}")


def _flatten(value: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, each in value.items():
        if isinstance(each, dict) and each:
            yield from _flatten(each, f"{prefix}{name}.")
        else:
            yield _to_text(f"{prefix}{name}"), _to_text(each)


def _text_at(value: Any, path: str) -> str:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return _to_text(value)


def _to_text(value: Any) -> str:
    """Return one line of text without control characters: it was written by anybody."""
    if value is None or value in ([], {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)
    text = value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)
    return "".join(_printable(character) for character in " ".join(text.split()))


def _printable(character: str) -> str:
    is_control = unicodedata.category(character).startswith(_CONTROL)
    return (
        "\N{REPLACEMENT CHARACTER}" if is_control and character != _ZERO_WIDTH_JOINER else character
    )


def _fit(table: list[dict[str, str]], columns: Columns, width: int) -> list[str]:
    """Shorten the texts of the last column, and return the headings that fit."""
    # rich.cells knows how wide characters are; importing it takes 10 ms.
    from rich.cells import cell_len, set_cell_size

    *others, last = columns.members
    widths = {
        heading: max(cell_len(heading), *(cell_len(row[heading]) for row in table)) + 2
        for heading in others
    }
    for heading in columns.optional:
        if width - sum(widths.values()) < _LEAST_WIDTH:
            del widths[heading]
    left = max(_LEAST_WIDTH, width - sum(widths.values()))
    for row in table:
        if cell_len(row[last]) > left:
            row[last] = set_cell_size(row[last], left - 1).rstrip() + "…"
    return [*widths, last]
