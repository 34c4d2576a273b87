"""Output of commands: columns and colours for people, JSON for scripts."""

import json
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


# Besides those that JSON escapes: terminals obey them, or show what follows in another order.
_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def print_json(value: Any) -> None:
    """Print a struct, a mapping or a list of them as JSON."""
    print(format_json(msgspec.to_builtins(value)))


def format_json(value: Any) -> str:
    """Return indented JSON in which control characters are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def make_console(*, to_stderr: bool = False) -> "Console":
    """Return a console that writes colours to a terminal and plain text elsewhere, unwrapped."""
    # rich.console takes 16 ms to import, which `--help` and `--json` do not need.
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, emoji=False, markup=True, stderr=to_stderr)


def printable(text: str | None) -> str:
    """Text of somebody else in one line, in which nothing is left that a terminal obeys."""
    return "".join(
        each if each.isprintable() and not _CONTROLS.match(each) else "?" for each in text or ""
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a header and rows, each column as wide as its widest cell."""
    texts = [columns, *([_format_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[index]) for row in texts) for index in range(len(columns))]
    for number, row in enumerate(texts):
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        print(_bold(line.rstrip()) if number == 0 else line.rstrip())


def _format_cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text
