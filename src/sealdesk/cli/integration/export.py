"""Writes a whole list into a file, and continues after an interruption."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec
import typer

from sealdesk.client import Desk, RetryPolicy, operations
from sealdesk.errors import ConfigurationError

_SUFFIX = ".progress"
POLICY = RetryPolicy(retries=8)  # about half a minute
File = Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - writes to stdout.")]
Restart = Annotated[
    bool, typer.Option("--restart", help="Begin again, and replace what the file contains.")
]
ShowProgress = Callable[[int, int | None], None]


class Position(msgspec.Struct, frozen=True):
    """How far an export is: stored beside the file until it is complete.

    cursor: of the next page. size_bytes: of the file when the rows before it were written.
    """

    url: str
    path: str
    query: dict[str, str | list[str]]
    cursor: str | None
    rows: int
    size_bytes: int


class _Numbered(msgspec.Struct):
    number: int = 0


_number_of = msgspec.json.Decoder(_Numbered).decode


def export(
    desk: Desk, path: str, query: Mapping[str, Any], file: Path, *, noun: str, restart: bool
) -> None:
    """Write all rows of a list, and say how many they are. Raises ConfigurationError, OSError."""
    started_s = time.monotonic()
    texts = {
        name: value if isinstance(value, list) else str(value) for name, value in query.items()
    }
    begin = Position(desk.base_url, path, texts, None, 0, 0)
    with _shown_progress(noun) as show:
        if str(file) == "-":
            rows = _write_rows(desk, begin, sys.stdout.buffer, None, show)
        else:
            rows = _write_file(desk, begin, file, restart, show)
    seconds = time.monotonic() - started_s
    target = "stdout" if str(file) == "-" else str(file)
    print(f"Exported {rows:,} {noun} to {target} in {seconds:.1f} s.", file=sys.stderr)


def _write_file(desk: Desk, begin: Position, file: Path, restart: bool, show: ShowProgress) -> int:
    if file.is_dir():
        raise ConfigurationError(f"{file} is a directory: name a file")
    stored = file.with_name(file.name + _SUFFIX)
    at = begin if restart else _find_start(begin, file, stored)
    with file.open("r+b" if at.size_bytes else "wb") as output:
        output.truncate(at.size_bytes)
        output.seek(at.size_bytes)
        if at.rows:
            print(f"Continuing after {at.rows:,} rows.", file=sys.stderr)
        rows = _write_rows(desk, at, output, stored, show)
        output.flush()
        os.fsync(output.fileno())
    stored.unlink(missing_ok=True)
    return rows


def _find_start(begin: Position, file: Path, stored: Path) -> Position:
    """Return where to continue. Raises ConfigurationError if the file is of something else."""
    if not stored.exists():
        if file.exists() and file.stat().st_size:
            raise ConfigurationError(f"{file} exists already: name another file, or use --restart")
        return begin
    try:
        at = msgspec.json.decode(stored.read_bytes(), type=Position)
    except msgspec.MsgspecError as error:
        raise ConfigurationError(f"{stored} cannot be read: use --restart") from error
    if (at.url, at.path, at.query) != (begin.url, begin.path, begin.query):
        raise ConfigurationError(
            f"{file} is an unfinished export of another list or with other filters: use the same"
            " ones, name another file, or use --restart"
        )
    is_whole = file.exists() and file.stat().st_size >= at.size_bytes
    return at if is_whole else begin


def _write_rows(
    desk: Desk, at: Position, output: IO[bytes], stored: Path | None, show: ShowProgress
) -> int:
    """Write the rows from this position on; return the number of all rows."""
    query = {**at.query, **({"cursor": at.cursor} if at.cursor else {})}
    for page in desk.list(operations.list_rows(at.path, query)).pages():
        lines = b"".join(b"%b\n" % bytes(row) for row in page.data)
        output.write(lines)
        at = msgspec.structs.replace(
            at,
            cursor=page.next_cursor,
            rows=at.rows + len(page.data),
            size_bytes=at.size_bytes + len(lines),
        )
        if stored and page.has_more:
            output.flush()
            _store(at, stored)
        show(at.rows, _number_of(page.data[-1]).number if page.data else None)
    return at.rows


def _store(at: Position, stored: Path) -> None:
    """Replace the stored progress, so that an interruption leaves the old or the new one."""
    new = stored.with_name(stored.name + ".new")
    new.write_bytes(msgspec.json.encode(at))
    new.replace(stored)


@contextmanager
def _shown_progress(noun: str) -> Iterator[ShowProgress]:
    """Show a bar on stderr if it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda rows, number: None
        return
    # rich.progress takes 30 ms to import, which only a terminal needs.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(f"{{task.fields[rows]:,}} {noun}"),
        BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None, rows=0, rate=0.0)
        yield _Bar(progress, task).show


class _Bar:
    """A bar. The API tells no total, but the number of a ticket says how many came before it."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress = progress
        self._task = task
        self._started_s = time.monotonic()
        self._first: tuple[int, int | None] | None = None

    def show(self, rows: int, number: int | None) -> None:
        """Show how many rows are written, and how far the last one is."""
        if self._first is None:
            self._first = rows, number
        first_rows, first = self._first
        rate = (rows - first_rows) / max(0.001, time.monotonic() - self._started_s)
        self._progress.update(self._task, rows=rows, rate=rate)
        if first and number:
            self._progress.update(self._task, total=first, completed=max(0, first - number))
