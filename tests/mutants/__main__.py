"""`python -m tests.mutants [words]`: plant every fault in turn and see its tests go red.

words: only the faults in whose name they stand.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.catalogue import MUTANTS
from tests.mutants.sandbox import Outcome, lay_out, plant, run
from tests.servers import servers_of_the_run


def main(words: str) -> int:
    """How many faults were not seen."""
    plants = [fault for fault in MUTANTS if words in fault.name]
    tests = sorted({test for fault in plants for test in fault.tests})
    with tempfile.TemporaryDirectory() as directory:
        lay_out(Path(directory))
        if not _told("nothing planted", run(Path(directory), tests), green=True):
            return 1
    unseen = 0
    for fault in plants:
        with tempfile.TemporaryDirectory() as directory:
            lay_out(Path(directory))
            plant(Path(directory), fault)
            unseen += not _told(fault.name, run(Path(directory), fault.tests), green=False)
    _say(f"{len(plants) - unseen} of {len(plants)} planted faults were seen")
    return unseen


def _told(name: str, outcome: Outcome, *, green: bool) -> bool:
    is_right = outcome.is_green if green else outcome.is_red
    colour = "green" if outcome.is_green else "red" if outcome.is_red else "broken"
    _say(f"{time.strftime('%H:%M:%S')}  {'ok ' if is_right else 'NOT'}  {colour:6}  {name}")
    if not is_right:
        _say(outcome.text)
    return is_right


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with servers_of_the_run():
        sys.exit(min(main(" ".join(sys.argv[1:])), 1))
