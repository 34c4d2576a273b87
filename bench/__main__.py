"""`make bench`: build the data, measure, print the table."""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from bench import data, machine, report
from bench.load import WrongAnswer
from bench.measure import measure
from bench.plan import FULL, QUICK

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    arguments = _parser().parse_args()
    try:
        with data.alone():
            _run(arguments)
    except data.Busy:
        sys.exit("bench: another one is running here; wait for it")
    except WrongAnswer as wrong:
        sys.exit(f"bench: a wrong answer, so there are no figures: {wrong}")


def _run(arguments: argparse.Namespace) -> None:
    plan = QUICK if arguments.quick else FULL
    console = Console()
    built = data.ready(plan, fresh=arguments.fresh)
    where = machine.describe(built.settings.data_dir)
    with console.status("") as status:
        results = measure(plan, built, status.update)
    report.show(results, console)
    report.write_json(_RESULTS, results, plan, where)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    if arguments.publish:
        report.publish(_ROOT, results, where)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 tickets and short rounds")
    parser.add_argument("--fresh", action="store_true", help="build the data again")
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
