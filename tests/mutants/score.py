"""The score of mutmut's mutants by module, read from the results beside its copies."""

import json
from collections import Counter
from pathlib import Path

from tests.mutants.sandbox import ROOT

_SOURCES = ROOT / "mutants" / "src"
_SURVIVED = 0  # exit statuses of the tests, as mutmut stores them; None until they have run
_WITHOUT_TESTS = 33


def table() -> str:
    """Markdown: mutants with tests, how many were found, and how many no test runs into."""
    counts = {path: _count(path) for path in sorted(_SOURCES.rglob("*.meta"))}
    rows = [
        f"| {path.relative_to(_SOURCES).with_suffix('')} | {_cells(count)} |"
        for path, count in counts.items()
        if count["tested"]
    ]
    total = sum(counts.values(), Counter[str]())
    head = [
        "| Module | Mutants | Found | Score | Without a test |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *rows, f"| all | {_cells(total)} |"])


def _count(path: Path) -> Counter[str]:
    count: Counter[str] = Counter()
    for status in json.loads(path.read_text())["exit_code_by_key"].values():
        if status == _WITHOUT_TESTS:
            count["without"] += 1
        elif status is not None:
            count["tested"] += 1
            count["found"] += status != _SURVIVED
    return count


def _cells(count: Counter[str]) -> str:
    share = f"{count['found'] / count['tested']:.0%}" if count["tested"] else "-"
    return f"{count['tested']} | {count['found']} | {share} | {count['without']}"
