"""How far a long command is: bars on a terminal, lines elsewhere; on stderr, beside the result."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LINE_EVERY_S = 10.0


@contextmanager
def shown_progress() -> Iterator["Bars | Lines"]:
    """Who is told of each stage, table and number of rows."""
    if not sys.stderr.isatty():
        lines = Lines()
        yield lines
        lines.end()
        return
    with _progress() as progress:
        bars = Bars(progress)
        yield bars
        bars.end()


class Lines:
    """A line for each stage, and now and then one in between."""

    def __init__(self) -> None:
        self._stage = self._table = ""
        self._rows = self._done = self._total = 0
        self._began_at = self._told_at = 0.0

    def begin(self, stage: str, table: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.end()
            self._stage, self._rows = stage, 0
            self._began_at = self._told_at = time.monotonic()
        self._table, self._done, self._total = table, done, total

    def advance(self, rows: int) -> None:
        self._rows += rows
        self._done += rows
        if time.monotonic() - self._told_at >= _LINE_EVERY_S:
            self._told_at = time.monotonic()
            speed = self._rows / (self._told_at - self._began_at)
            self._say(
                f"{self._stage} {self._table}: {self._done:,} of {self._total:,} rows,"
                f" {speed:,.0f} rows/s"
            )

    def end(self) -> None:
        if self._stage:
            took_s = max(time.monotonic() - self._began_at, 1e-6)
            speed = self._rows / took_s
            self._say(f"{self._stage}: {self._rows:,} rows in {took_s:,.1f} s, {speed:,.0f} rows/s")

    def _say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class Bars(Lines):
    """A bar for each table that holds anything; those of a finished stage become its line."""

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self._progress = progress
        self._tasks: list[TaskID] = []

    def begin(self, stage: str, table: str, done: int, total: int) -> None:
        super().begin(stage, table, done, total)
        if total:
            self._tasks.append(
                self._progress.add_task(f"{stage} {table}", total=total, completed=done)
            )

    def advance(self, rows: int) -> None:
        self._told_at = time.monotonic()  # the bar tells it
        super().advance(rows)
        self._progress.advance(self._tasks[-1], rows)

    def end(self) -> None:
        for task in self._tasks:
            self._progress.remove_task(task)
        self._tasks.clear()
        super().end()

    def _say(self, line: str) -> None:
        self._progress.console.print(line)


def _progress() -> "Progress":
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Speed(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text(f"{task.finished_speed or task.speed or 0:>9,.0f} rows/s")

    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        Speed(),
        rich.TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False, emoji=False),
    )
