"""Shows the results in a terminal, and writes them as JSON and as documentation."""

import os
import platform
import sqlite3
import statistics
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from tests.servers import NotHere
from tests.servers.binaries import find_postgres

from bench.figures.figure import Figure, Results
from bench.figures.notes import NOTES
from bench.load.rounds import (
    POSTGRES_PREFIX,
    Round,
    compute_median_round,
)
from bench.peers.django_helpdesk import installation
from bench.plan import Plan
from sealdesk import build

_MARKS = {
    "aim": "✔ aim",
    "floor": "✔ floor",
    "missed": "✘ missed",
    "not measured": "not measured",
    "": "",
}
_COLOURS = {"aim": "green", "floor": "yellow", "missed": "red"}
_FIGURE_COLUMNS = ("Figure", "Measured", "By CPU", "Rounds", "Floor", "Aim", "")
_RATE_COLUMNS = (
    "Driven",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "server µs",
    "database µs",
    "server",
    "client",
)
_TITLES = ("On SQLite", "On PostgreSQL")
# The figures of the README: name, what is measured, and what it is compared with.
README_FIGURES = (
    (
        "GET of 25 on PostgreSQL ÷ conventional stack",
        "signed lists of 25 tickets a second, on PostgreSQL",
        "FastAPI with SQLAlchemy, which checks the same signatures",
    ),
    (
        "signed POST of a ticket, durable at FULL ÷ django-helpdesk",
        "signed new tickets a second, each flushed to the disk",
        "django-helpdesk without signatures, which does not wait for the disk",
    ),
    (
        "signed POST of a ticket, durable at FULL ÷ tight loop",
        "the same",
        "the shortest Python that checks the signature and stores the same rows as durably",
    ),
    (
        "page at depth 900,000 ÷ first page",
        "time of the page behind 900,000 tickets",
        "the first page",
    ),
    (
        "commit to arrival of a webhook, median at 100/s",
        "from the commit of a change to its webhook, at 100 a second",
        "",
    ),
)
_README_COLUMNS = ("What", "Measured", "Compared with", "Rounds", "Bound")
_BEGIN, _END = "<!-- bench:begin -->", "<!-- bench:end -->"
Cells = tuple[str, ...]
_PACKAGES = (
    "uvicorn",
    "httptools",
    "uvloop",
    "msgspec",
    "cryptography",
    "asyncpg",
    "SQLAlchemy",
    "FastAPI",
)
_FLUSHES = 50


def show(results: Results, console: Console) -> None:
    """Print the figures and the rounds."""
    figures = Table(*_FIGURE_COLUMNS, title="Speed and memory")
    for figure in results.figures:
        *cells, mark = _figure_cells(figure)
        figures.add_row(*cells, f"[{_COLOURS.get(figure.verdict, 'white')}]{mark}[/]")
    console.print(figures)
    for title, (head, *rows) in _rate_tables(results).items():
        rates = Table(*head, title=title)
        for row in rows:
            rates.add_row(*row)
        console.print(rates)
    notes = (note.replace("\n", " ") for note in NOTES)
    console.print(*notes, sep="\n\n", highlight=False)


def write_json(path: Path, results: Results, plan: Plan, machine: dict[str, str]) -> None:
    """Write all figures and rounds."""
    figures = [
        {**msgspec.structs.asdict(figure), "value": figure.value, "verdict": figure.verdict}
        for figure in results.figures
    ]
    document = {"machine": machine, "plan": plan, "figures": figures, "rates": results.rates}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def publish(root: Path, results: Results, machine: dict[str, str]) -> None:
    """Write docs/figures.md, and five figures between the markers in the README."""
    machine_text = ", ".join(f"{name} {text}" for name, text in machine.items())
    figures = _markdown(_FIGURE_COLUMNS, *map(_figure_cells, results.figures))
    rates = [f"## {title}\n\n{_markdown(*table)}" for title, table in _rate_tables(results).items()]
    paragraphs = (f"From `make bench` ({machine_text}).", *NOTES)
    parts = ("# Figures", *paragraphs, figures, *rates)
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "figures.md").write_text("\n\n".join(parts) + "\n")
    readme = root / "README.md"
    before, _, rest = readme.read_text().partition(_BEGIN)
    _, mark, after = rest.partition(_END)
    if mark:
        chosen = _markdown(_README_COLUMNS, *_readme_rows(results))
        more = f"""\
Medians of {machine["date"]} on {machine["CPU"]}. [All figures](docs/figures.md), also those that
miss their bounds, and how they are measured."""
        readme.write_text(f"{before}{_BEGIN}\n{chosen}\n\n{more}\n{_END}{after}")


def _readme_rows(results: Results) -> list[Cells]:
    by_name = {figure.name: figure for figure in results.figures}
    rows: list[Cells] = []
    for name, what, peer in README_FIGURES:
        if name not in by_name:  # a smaller plan has other depths
            continue
        _, measured, _, spread, bound, _, _ = _figure_cells(by_name[name])
        verdict = "missed" if by_name[name].verdict == "missed" else ""
        times = "" if by_name[name].unit else " times"
        rows.append((what, measured + times, peer, spread, f"{bound} {verdict}".strip()))
    return rows


def _figure_cells(figure: Figure) -> Cells:
    sign, unit = ("≥", "≤")[not figure.higher_is_better], f" {figure.unit}".rstrip()
    digits = 0 if figure.unit in ("MiB", "/s") else 2
    spread = [f"{value:.{digits}f}" for value in sorted(figure.values)]
    return (
        figure.name,
        _format(figure.value, f",.{digits}f", unit) or figure.reason,
        f"{statistics.median(figure.by_cpu):.2f}" if figure.by_cpu else "",
        " … ".join((spread[0], spread[-1])) if spread else "",
        _format(figure.floor, "g", unit, before=f"{sign} "),
        _format(figure.aim, "g", unit),
        _MARKS[figure.verdict],
    )


def _rate_tables(results: Results) -> dict[str, list[Cells]]:
    """Title → head and rows of a table, without empty columns."""
    tables: dict[str, list[Cells]] = {}
    for name, rounds in results.rates.items():
        title = _TITLES[name.startswith(POSTGRES_PREFIX)]
        tables.setdefault(title, [_RATE_COLUMNS]).append(
            _rate_cells(name.removeprefix(POSTGRES_PREFIX), rounds)
        )
    return {title: _drop_empty_columns(table) for title, table in tables.items()}


def _drop_empty_columns(table: list[Cells]) -> list[Cells]:
    head, *rows = table
    used = [index for index in range(len(head)) if any(row[index] for row in rows)]
    return [tuple(row[index] for index in used) for row in table]


def _rate_cells(name: str, rounds: list[Round]) -> Cells:
    middle = compute_median_round(rounds)
    return (
        name,
        _format(middle.per_second, ",.0f"),
        _format(middle.p50_ms, ".1f"),
        _format(middle.p99_ms, ".1f"),
        _format(middle.cpu_us, ".0f"),
        _format(middle.database_us, ".0f"),
        _format(middle.server_share, ".0%"),
        _format(middle.client_share, ".0%"),
    )


def _format(value: float | None, form: str, unit: str = "", *, before: str = "") -> str:
    return "" if value is None else f"{before}{value:{form}}{unit}"


def _markdown(head: Cells, *rows: Cells) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


def describe_machine(data_dir: Path) -> dict[str, str]:
    """Name → description of the machine and its software.

    `flush`: how long the disk takes to store 8 KiB durably.
    """
    kib = int(_read_field("/proc/meminfo", "MemTotal").split()[0])
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "CPU": f"{_read_field('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores",
        "memory": f"{kib / 1024 / 1024:.0f} GiB",
        "flush": f"{_measure_flush_ms(data_dir):.2f} ms",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Linux": platform.release(),
        "Python": platform.python_version()
        + ("" if build.is_python_optimised() else " (not optimised)"),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": _read_postgres_version(),
        **{name: version(name) for name in _PACKAGES},
        "django-helpdesk": installation.read_version(),
    }


def _read_field(path: str, name: str) -> str:
    for line in Path(path).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "0 unknown"


def _read_postgres_version() -> str:
    try:
        program = find_postgres() / "postgres"
    except NotHere:
        return "none"
    paragraphs = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return paragraphs.stdout.split()[2]


def _measure_flush_ms(directory: Path) -> float:
    path = directory / "flush"
    times_s = []
    with path.open("wb", buffering=0) as file:
        for _ in range(_FLUSHES):
            file.write(bytes(8192))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times_s.append(time.perf_counter() - started)
    path.unlink()
    return statistics.median(times_s) * 1000
