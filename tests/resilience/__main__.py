"""`python -m tests.resilience [NAME …]`: run the proofs whole, and say how each came out."""

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

from tests.resilience.figures import missed
from tests.resilience.nodes import installed
from tests.resilience.table import PROOFS, Proof

_ROOT = Path(__file__).parents[2]
_RESULTS = _ROOT / "prove" / "results.json"
_DOCUMENT = _ROOT / "docs" / "proofs.md"
_MARK = "<!-- python -m tests.resilience --publish -->"


def main() -> int:
    """0 when all of them hold."""
    names = [proof.name for proof in PROOFS]
    parser = argparse.ArgumentParser("python -m tests.resilience", description=__doc__)
    # No choices=: it would refuse that none is named.
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--publish", action="store_true", help="only write docs/proofs.md")
    arguments = parser.parse_args()
    if arguments.publish:
        _publish(json.loads(_RESULTS.read_text()))
        return 0
    chosen = arguments.names or names
    if unknown := {*chosen} - {*names}:
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(names)}")
    console = Console()
    results = _run([proof for proof in PROOFS if proof.name in chosen], console)
    _show(results, console)
    _keep(results)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    return 1 if any(result["missed"] for result in results.values()) else 0


def _run(proofs: list[Proof], console: Console) -> dict[str, dict[str, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    results = {}
    with Progress(*columns, console=console) as progress:
        for proof in proofs:
            task = progress.add_task(proof.claim, total=None)
            results[proof.name] = _result(
                proof, lambda done, of, task=task: progress.update(task, completed=done, total=of)
            )
            progress.remove_task(task)
            result = results[proof.name]
            verdict = "MISSED" if result["missed"] else "ok"
            progress.console.print(f"{verdict:6} {result['took_s']:6.1f} s  {proof.claim}")
    return results


def _result(proof: Proof, tell: Any) -> dict[str, Any]:
    began_at = time.monotonic()
    try:
        with installed() as installation:
            figures = proof.run(installation, tell)
        faults = missed(figures, proof.targets, is_short=False)
    except Exception:
        figures, faults = {}, [traceback.format_exc()]
    return {
        "claim": proof.claim,
        "figures": figures,
        "targets": {target.figure: str(target) for target in proof.targets},
        "missed": faults,
        "took_s": round(time.monotonic() - began_at, 1),
    }


def _show(results: dict[str, dict[str, Any]], console: Console) -> None:
    table = Table("proof", "figure", "must be", "is", "", title="Proofs")
    for name, result in results.items():
        for figure, target in result["targets"].items():
            found = result["figures"].get(figure, "—")
            is_missed = any(fault.startswith(f"{figure} = ") for fault in result["missed"])
            verdict = "MISSED" if is_missed or found == "—" else "ok"
            table.add_row(name, figure, target, _shown(found), verdict)
        table.add_section()
    console.print(table)
    for name, result in results.items():
        for fault in result["missed"]:
            console.print(f"{name}: {fault}", markup=False)


def _shown(found: Any) -> str:
    """Of several the worst: all targets of several are upper bounds."""
    return f"≤ {max(found):g}" if isinstance(found, list) else str(found)


def _keep(results: dict[str, dict[str, Any]]) -> None:
    """What was not run now stays as it was."""
    _RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(_RESULTS.read_text())["proofs"] if _RESULTS.exists() else {}
    at = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    kept.update({name: {**at, **result} for name, result in results.items()})
    machine = {"processors": os.cpu_count(), "python": platform.python_version()}
    _RESULTS.write_text(json.dumps({"machine": machine, "proofs": kept}, indent=2) + "\n")


def _publish(kept: dict[str, Any]) -> None:
    """Write the figures that were kept behind the mark in the document."""
    rows = ["| Proof | Figure | Must be | Is |", "| --- | --- | --- | --- |"]
    for proof in PROOFS:
        result = kept["proofs"].get(proof.name)
        for target in proof.targets if result else ():
            found = _shown(result["figures"].get(target.figure, "—"))
            rows.append(f"| {proof.name} | {_words(target.figure)} | {target} | {found} |")
    at = max(result["at"] for result in kept["proofs"].values())
    told = f"From {at[:10]}, {kept['machine']['processors']} processors, all servers on them."
    head, mark, _ = _DOCUMENT.read_text().partition(_MARK)
    _DOCUMENT.write_text("\n".join([head + mark, "", told, "", *rows, ""]))


def _words(figure: str) -> str:
    """A figure's name for readers: the unit behind a comma."""
    for end, unit in (("_s", ", s"), ("_ms", ", ms")):
        if figure.endswith(end):
            return figure.removesuffix(end).replace("_", " ") + unit
    return figure.replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
