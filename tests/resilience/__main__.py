"""`python -m tests.resilience [NAME …]`: run the resilience scenarios and report each result."""

import argparse
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.resilience.figures import missed_targets
from tests.resilience.nodes import new_installation
from tests.resilience.scenarios import SCENARIOS, Scenario
from tests.support.code import hash_of

_ROOT = Path(__file__).parents[2]
_RESULTS = _ROOT / "prove" / "results.json"
_DOCUMENT = _ROOT / "docs" / "resilience.md"
_MARK = "<!-- python -m tests.resilience --publish -->"


def main() -> int:
    """0 when every figure meets its target."""
    names = [scenario.name for scenario in SCENARIOS]
    parser = argparse.ArgumentParser("python -m tests.resilience", description=__doc__)
    # No choices=: argparse would refuse an empty list.
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--list", action="store_true", help="only list the scenarios")
    parser.add_argument(
        "--only", choices=("alone", "others"), help="those that compare latencies, or the others"
    )
    parser.add_argument("--go-on", action="store_true", help="without what this code has passed")
    parser.add_argument("--publish", action="store_true", help="only write docs/resilience.md")
    arguments = parser.parse_args()
    if arguments.publish:
        _publish(json.loads(_RESULTS.read_text()))
        return 0
    if arguments.list:
        _list(Console())
        return 0
    chosen = arguments.names or names
    if unknown := {*chosen} - {*names}:
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(names)}")
    console = Console()
    scenarios = [
        scenario
        for scenario in SCENARIOS
        if scenario.name in chosen
        and arguments.only in (None, "alone" if scenario.is_alone else "others")
    ]
    if arguments.go_on:
        scenarios = _without_passed(scenarios, console)
    results = _run(scenarios, console)
    _show(results, console)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    return 1 if any(result["missed"] for result in results.values()) else 0


def _without_passed(scenarios: list[Scenario], console: Console) -> list[Scenario]:
    """Those that this code has not passed; says how long they took last time."""
    saved, code = _load(), hash_of(".")
    passed = {
        name for name, each in saved.items() if each.get("code") == code and not each["missed"]
    }
    left = [scenario for scenario in scenarios if scenario.name not in passed]
    minutes = sum(saved[each.name]["took_s"] for each in left if each.name in saved) / 60
    console.print(f"{len(left)} of {len(scenarios)} scenarios; they took {minutes:.0f} minutes.")
    return left


def _load() -> dict[str, Any]:
    """The last result of each scenario by name."""
    return dict(json.loads(_RESULTS.read_text())["scenarios"]) if _RESULTS.exists() else {}


def _list(console: Console) -> None:
    """Show the scenarios, and the seconds that the last run of each took here."""
    saved = _load()
    table = Table("scenario", "claim", "last took, s")
    for scenario in SCENARIOS:
        took_s = saved[scenario.name]["took_s"] if scenario.name in saved else "-"
        table.add_row(scenario.name, scenario.claim, str(took_s))
    console.print(table)


def _run(scenarios: list[Scenario], console: Console) -> dict[str, dict[str, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    results = {}
    with Progress(*columns, console=console) as progress:
        for scenario in scenarios:
            task = progress.add_task(scenario.claim, total=None)
            results[scenario.name] = _result(
                scenario,
                lambda done, of, task=task: progress.update(task, completed=done, total=of),
            )
            progress.remove_task(task)
            result = results[scenario.name]
            _save({scenario.name: result})
            verdict = "MISSED" if result["missed"] else "ok"
            progress.console.print(f"{verdict:6} {result['took_s']:6.1f} s  {scenario.claim}")
    return results


def _result(scenario: Scenario, progress: Any) -> dict[str, Any]:
    began_at = time.monotonic()
    try:
        with new_installation() as installation:
            figures = scenario.run(installation, progress)
        errors = missed_targets(figures, scenario.targets, is_short=False)
    except Exception:
        figures, errors = {}, [traceback.format_exc()]
    return {
        "claim": scenario.claim,
        "figures": figures,
        "targets": {target.figure: str(target) for target in scenario.targets},
        "missed": errors,
        "took_s": round(time.monotonic() - began_at, 1),
    }


def _show(results: dict[str, dict[str, Any]], console: Console) -> None:
    table = Table("scenario", "figure", "must be", "is", "", title="Resilience")
    for name, result in results.items():
        for figure, target in result["targets"].items():
            found = result["figures"].get(figure, "—")
            is_missed = any(error.startswith(f"{figure} = ") for error in result["missed"])
            verdict = "MISSED" if is_missed or found == "—" else "ok"
            table.add_row(name, figure, target, _format(found), verdict)
        table.add_section()
    console.print(table)
    for name, result in results.items():
        for error in result["missed"]:
            console.print(f"{name}: {error}", markup=False)


def _format(found: Any) -> str:
    """A figure as text; of several values the worst, since their targets are upper bounds."""
    return f"≤ {max(found):g}" if isinstance(found, list) else str(found)


def _save(results: dict[str, dict[str, Any]]) -> None:
    """Save these results as they come; those of other scenarios stay as they were."""
    _RESULTS.parent.mkdir(exist_ok=True)
    saved = _load()
    at = {"code": hash_of("."), "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    saved.update({name: {**at, **result} for name, result in results.items()})
    machine = {"processors": os.cpu_count(), "python": platform.python_version()}
    _RESULTS.write_text(json.dumps({"machine": machine, "scenarios": saved}, indent=2) + "\n")


def _publish(saved: dict[str, Any]) -> None:
    """Write the saved figures into the document, after its mark."""
    rows = ["| Scenario | Figure | Must be | Is |", "| --- | --- | --- | --- |"]
    for scenario in SCENARIOS:
        result = saved["scenarios"].get(scenario.name)
        for target in scenario.targets if result else ():
            found = _format(result["figures"].get(target.figure, "—"))
            rows.append(f"| {scenario.name} | {_label(target.figure)} | {target} | {found} |")
    at = max(result["at"] for result in saved["scenarios"].values())
    summary = f"From {at[:10]}, {saved['machine']['processors']} processors, all servers on them."
    head, mark, _ = _DOCUMENT.read_text().partition(_MARK)
    _DOCUMENT.write_text("\n".join([head + mark, "", summary, "", *rows, ""]))


def _label(figure: str) -> str:
    """A figure's name with its unit after a comma."""
    for end, unit in (("_s", ", s"), ("_ms", ", ms")):
        if figure.endswith(end):
            return figure.removesuffix(end).replace("_", " ") + unit
    return figure.replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
