"""`python -m tests.proofs [NAME …]`: run the proofs whole, and say how each came out."""

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

from tests.proofs.figures import missed
from tests.proofs.nodes import installed
from tests.proofs.table import PROOFS, Proof

_ROOT = Path(__file__).parents[2]
_RESULTS = _ROOT / "prove" / "results.json"


def main() -> int:
    """0 when all of them hold."""
    names = [proof.name for proof in PROOFS]
    parser = argparse.ArgumentParser("python -m tests.proofs", description=__doc__)
    # No choices=: it would refuse that none is named.
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    chosen = parser.parse_args().names or names
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
            progress.stop_task(task)
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


if __name__ == "__main__":
    sys.exit(main())
