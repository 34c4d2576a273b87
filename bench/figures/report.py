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

from bench.load.rounds import (
    BARE_SUFFIX,
    CONVENTIONAL_SUFFIX,
    POSTGRES_PREFIX,
    POSTGRES_SUFFIX,
    Figure,
    Results,
    Round,
    compute_median_round,
)
from bench.plan import Plan

_MARKS = {
    "aim": "✔ aim",
    "floor": "✔ floor",
    "missed": "✘ missed",
    "not measured": "not measured",
    "": "",
}
_COLOURS = {"aim": "green", "floor": "yellow", "missed": "red"}
_FIGURE_COLUMNS = ("Figure", "Measured", "Rounds", "Floor", "Aim", "")
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
_BEGIN, _END = "<!-- bench:begin -->", "<!-- bench:end -->"
_NOTE_ON_ALL = """\
Each ratio is the median of rounds in which both sides were measured alternately, at 32
connections. Every request is signed and different, and every response is checked. The bare
handler runs on the same server with the same settings, checks the same signatures from memory,
and encodes 25 tickets from memory (GET) or decodes the body (POST). New tickets have descriptions
of about 400 bytes; half are from new customers, half from existing ones, recent ones more often;
all tenants get the same number. The figures of pages are latencies on one connection. Server and
client each have a core; the last columns show how much of it they used. µs is CPU time for each
request."""
_NOTE_ON_POSTGRES = """\
On PostgreSQL the rows are the same, the server has one core, and PostgreSQL and the client share
the other. fsync and synchronous_commit are on, shared_buffers is 256 MB, with ten connections.
pgbench runs on the core of PostgreSQL with 8 clients and prepared statements: the list's
statement as a superuser, planned once as for the service, and `-N` at scale 10. The conventional
stack (`bench/peers/conventional/`) is FastAPI with pydantic models, SQLAlchemy's ORM and asyncpg on
uvicorn with uvloop and httptools: one process, ten connections, its own tables. It looks up the
key, checks the signature and the permission, finds or adds the customer, and commits ticket and
event together. It has no rate limit, no sealed secrets, no row level security and no idempotency.
The processes with a quota have 20 % of a core each."""
_NOTE_ON_WEBHOOKS = """\
The cost of an event is CPU time of service and database together, for the same POSTs to one
process that alternates between three modes: without recording, with recording, and with sequencing
too. Webhooks go to a receiver on the other core, which responds with 204 at once. A figure counts
only if each webhook arrives exactly once and is stored as delivered; one signature in 50 is
verified. Each round starts the service (`sealdesk serve` on SQLite, with `sealdesk worker` on
PostgreSQL) while events wait to be sequenced and delivered to one endpoint; the rate is measured
from the first delivery to the last. Then signed POSTs are sent at a fixed rate, and the delay is
the time from reading a 201 to the delivery. The dead endpoint belongs to the same tenant; it
refuses connections, or accepts requests and never responds."""
_NOTE_ON_PAGES = """\
A logged-in agent loads the inbox on one connection, each page right after the previous one; the
figure is the time from the request to the complete page. The views are, in turn: by priority, by
tag, by customer, by assignee, an agent's pending tickets, unassigned tickets, and from an old
ticket on. The first load is the inbox and every file that its HTML names, including headers, by a
browser with an empty cache. Opening a ticket uses the same browser after that."""
_NOTES = (_NOTE_ON_ALL, _NOTE_ON_POSTGRES, _NOTE_ON_WEBHOOKS, _NOTE_ON_PAGES)
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
    notes = (note.replace("\n", " ") for note in _NOTES)
    console.print(_describe_cpu_ratios(results), *notes, sep="\n\n", highlight=False)


def write_json(path: Path, results: Results, plan: Plan, machine: dict[str, str]) -> None:
    """Write all figures and rounds."""
    figures = [
        {**msgspec.structs.asdict(figure), "value": figure.value, "verdict": figure.verdict}
        for figure in results.figures
    ]
    document = {"machine": machine, "plan": plan, "figures": figures, "rates": results.rates}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def publish(root: Path, results: Results, machine: dict[str, str]) -> None:
    """Write docs/figures.md, and the main figures between the markers in the README."""
    machine_text = ", ".join(f"{name} {text}" for name, text in machine.items())
    figures = _markdown(_FIGURE_COLUMNS, *map(_figure_cells, results.figures))
    rates = [f"## {title}\n\n{_markdown(*table)}" for title, table in _rate_tables(results).items()]
    paragraphs = (f"From `make bench` ({machine_text}).", *_NOTES)
    parts = ("# Figures", *paragraphs, figures, _describe_cpu_ratios(results), *rates)
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "figures.md").write_text("\n\n".join(parts) + "\n")
    readme = root / "README.md"
    before, _, rest = readme.read_text().partition(_BEGIN)
    _, mark, after = rest.partition(_END)
    if mark:
        chosen = _markdown(
            _FIGURE_COLUMNS, *map(_figure_cells, filter(_is_for_readme, results.figures))
        )
        more = "All figures, and how they are measured: [docs/figures.md](docs/figures.md)."
        inner = f"{_BEGIN}\n{chosen}\n\nMeasured on: {machine_text}. {more}\n{_END}"
        readme.write_text(before + inner + after)


def _is_for_readme(figure: Figure) -> bool:
    """Whether a figure has bounds, and is not the PostgreSQL variant of another figure."""
    return figure.floor is not None and not figure.name.endswith(POSTGRES_SUFFIX)


def _describe_cpu_ratios(results: Results) -> str:
    """The CPU time of the other server over that of the service, for each pair of rounds."""
    ratios = [
        f"{name.removesuffix(other)} ÷ {other.removeprefix(', ')}"
        f" {_cpu_us(rounds) / _cpu_us(results.rates[name.removesuffix(other)]):.2f}"
        for other in (BARE_SUFFIX, CONVENTIONAL_SUFFIX)
        for name, rounds in results.rates.items()
        if name.endswith(other)
    ]
    note = "CPU time of the other server ÷ that of the service, which other load disturbs less"
    return f"{note}: {', '.join(ratios)}."


def _cpu_us(rounds: list[Round]) -> float:
    return compute_median_round(rounds).cpu_us or 1.0


def _figure_cells(figure: Figure) -> Cells:
    sign, unit = ("≥", "≤")[not figure.higher_is_better], f" {figure.unit}".rstrip()
    digits = 0 if figure.unit in ("MiB", "/s") else 2
    spread = [f"{value:.{digits}f}" for value in sorted(figure.values)]
    return (
        figure.name,
        _format(figure.value, f",.{digits}f", unit) or figure.reason,
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
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": _read_postgres_version(),
        **{name: version(name) for name in _PACKAGES},
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
