"""`make bench`: build the data, measure, print the table."""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from bench import (
    data,
    machine,
    measure,
    measure_postgres,
    measure_webhooks,
    postgres_data,
    report,
)
from bench.data import Data
from bench.load import WrongAnswer
from bench.plan import FULL, QUICK, Plan
from bench.postgres_data import Cannot, PostgresData
from bench.results import Results, joined
from bench.rounds import Say

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
    stored = _on_postgres(plan, built, fresh=arguments.fresh)
    with console.status("") as status:
        results = _measured(plan, built, stored, status.update)
    report.show(results, console)
    report.write_json(_RESULTS, results, plan, where)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    if arguments.publish:
        report.publish(_ROOT, results, where)


def _measured(plan: Plan, built: Data, stored: PostgresData | Cannot, say: Say) -> Results:
    parts = [measure.measure(plan, built, say), measure_webhooks.on_sqlite(plan, built, say)]
    if isinstance(stored, Cannot):
        parts.append(measure_postgres.not_measured(plan, str(stored)))
        parts.append(measure_webhooks.not_measured(plan, str(stored)))
    else:
        parts.append(measure_postgres.measure(plan, built, stored, say))
        parts.append(measure_webhooks.on_postgres(plan, built, stored, say))
    return joined(*parts)


def _on_postgres(plan: Plan, built: Data, *, fresh: bool) -> PostgresData | Cannot:
    try:
        return postgres_data.ready(plan, built, fresh=fresh)
    except Cannot as reason:
        return reason


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 tickets and short rounds")
    parser.add_argument("--fresh", action="store_true", help="build the data again")
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
