"""What commands print: for people in columns and colours, for scripts as JSON."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import Console

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def as_json(value: Any) -> None:
    """Print structs, mappings and lists of them as JSON."""
    plain = msgspec.to_builtins(value)
    print(json.dumps(plain, indent=2, ensure_ascii=False))


def console() -> "Console":
    """A terminal with colours, or plain text where there is none; lines are never broken."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, emoji=False, markup=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows in columns that are as wide as they must be."""
    texts = [columns, *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[place]) for row in texts) for place in range(len(columns))]
    for number, row in enumerate(texts):
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        print(_bold(line.rstrip()) if number == 0 else line.rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text
