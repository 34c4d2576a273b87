"""`python -m tests.mutants [TEXT]`: mutation testing, which goes on where it was stopped.

mutmut makes its mutants of the modules that pyproject.toml names. Then the hand-written mutants
follow. TEXT: only the hand-written ones whose names contain it. What was found is tried again only
when its file or a file of its tests has changed; `rm -r mutants` forgets it.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import found, score
from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.sandbox import ROOT, Outcome, apply, copy_sources, run
from tests.servers import servers_of_the_run

_PROCESSES = 2
_MUTMUT = (sys.executable, "-m", "mutmut", "run", f"--max-children={_PROCESSES}")


def main(text: str) -> int:
    """The exit status: 1 unless every hand-written mutant is found."""
    if not text:
        if subprocess.run(_MUTMUT, cwd=ROOT, check=False).returncode:
            return 1
        _print(score.table())
    return 1 if _try(text) else 0


def _try(text: str) -> int:
    """How many hand-written mutants were not found."""
    known = found.load()
    named = [mutant for mutant in MUTANTS if text in mutant.name]
    mutants = [mutant for mutant in named if found.key(mutant) not in known]
    if not _is_green_without_a_mutant(mutants):
        return 1
    missed = 0
    with ThreadPoolExecutor(_PROCESSES) as pool:
        outcomes = pool.map(_outcome, mutants)
        for count, (mutant, outcome) in enumerate(zip(mutants, outcomes, strict=True), 1):
            _print(f"{count}/{len(mutants)}  {'ok ' if outcome.is_red else 'NOT'}  {mutant.name}")
            if outcome.is_red:
                found.add(mutant)
            else:
                missed += 1
                _print(outcome.text)
    _print(f"{len(named) - missed} of {len(named)} hand-written mutants were found")
    return missed


def _is_green_without_a_mutant(mutants: list[Mutant]) -> bool:
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    if not tests:
        return True
    _print(f"{len(tests)} tests without a mutant")
    with tempfile.TemporaryDirectory() as directory:
        copy_sources(Path(directory))
        outcome = run(Path(directory), tests)
    if not outcome.is_green:
        _print(outcome.text)
    return outcome.is_green


def _outcome(mutant: Mutant) -> Outcome:
    with tempfile.TemporaryDirectory() as directory:
        copy_sources(Path(directory))
        apply(Path(directory), mutant)
        return run(Path(directory), mutant.tests)


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with servers_of_the_run():
        sys.exit(main(" ".join(sys.argv[1:])))
