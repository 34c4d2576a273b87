"""`make bench`: build the data, measure, print the table."""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from bench import (
    data,
    measure,
    measure_pages,
    measure_postgres,
    measure_webhooks,
    postgres_data,
    report,
)
from bench.clients import WrongResponse
from bench.data import Data
from bench.plan import FULL, QUICK, Plan
from bench.postgres_data import PostgresData, PostgresUnavailable
from bench.rounds import Results, ShowProgress, merge_results

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    arguments = _parser().parse_args()
    try:
        with data.exclusive_lock():
            _run(arguments)
    except data.AlreadyRunning:
        sys.exit("bench: another one is running here; wait for it")
    except WrongResponse as wrong:
        sys.exit(f"bench: a wrong answer, so there are no figures: {wrong}")


def _run(arguments: argparse.Namespace) -> None:
    plan = QUICK if arguments.quick else FULL
    console = Console()
    built = data.prepare(plan, fresh=arguments.fresh)
    where = report.describe_machine(built.settings.data_dir)
    stored = _prepare_postgres(plan, built, fresh=arguments.fresh)
    with console.status("") as status:
        results = _measure(plan, built, stored, status.update)
    report.show(results, console)
    report.write_json(_RESULTS, results, plan, where)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    if arguments.publish:
        report.publish(_ROOT, results, where)


def _measure(
    plan: Plan, built: Data, stored: PostgresData | PostgresUnavailable, say: ShowProgress
) -> Results:
    parts = [
        measure.measure(plan, built, say),
        measure_webhooks.on_sqlite(plan, built, say),
        measure_pages.on_sqlite(plan, built, say),
    ]
    if isinstance(stored, PostgresUnavailable):
        parts.append(measure_postgres.not_measured(plan, str(stored)))
        parts.append(measure_webhooks.not_measured(plan, str(stored)))
        parts.append(measure_pages.not_measured(plan, str(stored)))
    else:
        parts.append(measure_postgres.measure(plan, built, stored, say))
        parts.append(measure_webhooks.on_postgres(plan, built, stored, say))
        parts.append(measure_pages.on_postgres(plan, built, stored, say))
    return merge_results(*parts)


def _prepare_postgres(
    plan: Plan, built: Data, *, fresh: bool
) -> PostgresData | PostgresUnavailable:
    try:
        return postgres_data.prepare(plan, built, fresh=fresh)
    except PostgresUnavailable as reason:
        return reason


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 tickets and short rounds")
    parser.add_argument("--fresh", action="store_true", help="build the data again")
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
