"""Progress of a move, backup or restore on stderr: bars on a terminal, log lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LINE_EVERY_S = 10.0


@contextmanager
def show_progress(unit: str = "rows") -> Iterator["ProgressBars | ProgressLines"]:
    """Yield the reporter that a copy calls for each stage, table and batch of rows.

    unit: what is counted instead of rows.
    """
    if not sys.stderr.isatty():
        lines = ProgressLines(unit)
        yield lines
        lines.end()
        return
    with _progress(unit) as progress:
        bars = ProgressBars(progress, unit)
        yield bars
        bars.end()


class ProgressLines:
    """Prints one line for each stage, and every 10 s one line for the current table."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._stage = self._table = ""
        self._rows = self._done = self._total = 0
        self._started_at = self._reported_at = 0.0

    def begin(self, stage: str, table: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.end()
            self._stage, self._rows = stage, 0
            self._started_at = self._reported_at = time.monotonic()
        self._table, self._done, self._total = table, done, total

    def advance(self, rows: int) -> None:
        self._rows += rows
        self._done += rows
        if time.monotonic() - self._reported_at >= _LINE_EVERY_S:
            self._reported_at = time.monotonic()
            speed = self._rows / (self._reported_at - self._started_at)
            self._print(
                f"{self._stage} {self._table}: {self._done:,} of {self._total:,}"
                f" {self._unit}, {speed:,.0f} {self._unit}/s"
            )

    def follow(self, stage: str, table: str = "") -> Callable[[int, int], None]:
        """Takes how many are done of how many, where others are told steps."""
        shown = -1

        def show(done: int, total: int) -> None:
            nonlocal shown
            if shown < 0 and total:
                self.begin(stage, table, 0, total)
                shown = 0
            if shown >= 0 and done > shown:
                self.advance(done - shown)
                shown = done

        return show

    def end(self) -> None:
        if self._stage:
            took_s = max(time.monotonic() - self._started_at, 1e-6)
            speed = self._rows / took_s
            self._print(
                f"{self._stage}: {self._rows:,} {self._unit} in {took_s:,.1f} s,"
                f" {speed:,.0f} {self._unit}/s"
            )

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class ProgressBars(ProgressLines):
    """Draws a bar for each table with rows; one line replaces the bars of a finished stage."""

    def __init__(self, progress: "Progress", unit: str) -> None:
        super().__init__(unit)
        self._progress = progress
        self._tasks: list[TaskID] = []

    def begin(self, stage: str, table: str, done: int, total: int) -> None:
        super().begin(stage, table, done, total)
        if total:
            self._tasks.append(
                self._progress.add_task(f"{stage} {table}".rstrip(), total=total, completed=done)
            )

    def advance(self, rows: int) -> None:
        self._reported_at = time.monotonic()  # the bar shows it; no line is needed
        super().advance(rows)
        self._progress.advance(self._tasks[-1], rows)

    def end(self) -> None:
        for task in self._tasks:
            self._progress.remove_task(task)
        self._tasks.clear()
        super().end()

    def _print(self, line: str) -> None:
        self._progress.console.print(line)


def _progress(unit: str) -> "Progress":
    # rich.progress takes 23 ms to import, which no other command needs.
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Speed(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text(f"{task.finished_speed or task.speed or 0:>9,.0f} {unit}/s")

    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        Speed(),
        rich.TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False, emoji=False),
    )
