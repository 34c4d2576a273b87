"""`python -m tests.mutants [TEXT]`: run the tests of every mutant, which must fail.

TEXT: only the mutants whose names contain it.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.catalogue import MUTANTS
from tests.mutants.sandbox import Outcome, apply, copy_sources, run
from tests.servers import servers_of_the_run


def main(text: str) -> int:
    """How many mutants were not found."""
    mutants = [mutant for mutant in MUTANTS if text in mutant.name]
    if not mutants:
        _print(f"no mutant's name contains {text!r}")
        return 1
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    with tempfile.TemporaryDirectory() as directory:
        copy_sources(Path(directory))
        if not _report("no mutant", run(Path(directory), tests), must_pass=True):
            return 1
    missed = 0
    for mutant in mutants:
        with tempfile.TemporaryDirectory() as directory:
            copy_sources(Path(directory))
            apply(Path(directory), mutant)
            missed += not _report(mutant.name, run(Path(directory), mutant.tests), must_pass=False)
    _print(f"{len(mutants) - missed} of {len(mutants)} mutants were found")
    return missed


def _report(name: str, outcome: Outcome, *, must_pass: bool) -> bool:
    is_right = outcome.is_green if must_pass else outcome.is_red
    colour = "green" if outcome.is_green else "red" if outcome.is_red else "broken"
    _print(f"{time.strftime('%H:%M:%S')}  {'ok ' if is_right else 'NOT'}  {colour:6}  {name}")
    if not is_right:
        _print(outcome.text)
    return is_right


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with servers_of_the_run():
        sys.exit(min(main(" ".join(sys.argv[1:])), 1))
