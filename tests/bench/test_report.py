"""What a run of the benchmark publishes."""

import re
from pathlib import Path

from bench.figures import report
from bench.figures.figure import Figure, Results

_ROOT = Path(__file__).parents[2]
_MACHINE = {"date": "2026-11-26", "CPU": "some processor, 2 cores"}
_NAMES = [name for name, _, _ in report.README_FIGURES]


def test_readme_gets_five_figures_and_their_document_all(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n")
    figures = [Figure(name, "", True, 4, 8, [1.0, 2.0, 3.0]) for name in [*_NAMES, "another"]]
    report.publish(tmp_path, Results(figures, {}), _MACHINE)
    lines = readme.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert "old" not in lines
    rows = [line for line in lines if line.startswith("|")][2:]
    assert len(rows) == len(_NAMES) == 5
    assert all("| 2.00 times |" in row and "| ≥ 4 missed |" in row for row in rows)
    written = (tmp_path / "docs" / "figures.md").read_text()
    assert all(f"| {figure.name} | 2.00 |" in written for figure in figures)


def test_figures_of_the_readme_are_published() -> None:
    written = (_ROOT / "docs" / "figures.md").read_text()
    assert [name for name in _NAMES if f"| {name} |" not in written] == []


def test_the_guide_for_scaling_has_the_sizes_that_were_measured() -> None:
    written = (_ROOT / "docs" / "figures.md").read_text()
    found = dict(re.findall(r"^\| ([^|]+) \| ([\d.,]+) (?:MiB|s|/s) \|", written, re.MULTILINE))
    webhooks = int(found["webhooks that one worker delivers"].replace(",", ""))
    guide = (_ROOT / "docs" / "scaling.md").read_text()
    assert f"| Memory | {found['memory at start']} MiB at start |" in guide
    assert f"| Start | {float(found['ready to answer after start']):.1f} s until" in guide
    assert f"or {round(webhooks, -2):,} webhooks |" in guide
