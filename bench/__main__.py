"""`make bench`: builds the data, measures, and prints the figures."""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from bench.databases import postgres_data, sqlite_data
from bench.databases.postgres_data import PostgresData, PostgresUnavailable
from bench.databases.sqlite_data import Data
from bench.figures import consumers, events, on_postgres, on_sqlite, pages, report, storage
from bench.figures.figure import Results, merge_results
from bench.load.clients import WrongResponse
from bench.load.rounds import ShowProgress
from bench.peers.django_helpdesk import installation
from bench.peers.django_helpdesk.installation import Helpdesk, HelpdeskUnavailable
from bench.plan import FULL, QUICK, Plan

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    arguments = _parser().parse_args()
    try:
        with sqlite_data.exclusive_lock():
            _run(arguments)
    except sqlite_data.AlreadyRunning:
        sys.exit("bench: another benchmark is running here; wait until it has ended")
    except WrongResponse as error:
        sys.exit(f"bench: a response was wrong, so there are no figures: {error}")


def _run(arguments: argparse.Namespace) -> None:
    plan = QUICK if arguments.quick else FULL
    console = Console()
    built = sqlite_data.prepare(plan, rebuild=arguments.fresh)
    machine = {"plan": plan.name, **report.describe_machine(built.settings.data_dir)}
    postgres = _prepare_postgres(plan, built, rebuild=arguments.fresh)
    helpdesk = _prepare_helpdesk(plan, console, rebuild=arguments.fresh)
    with console.status("") as status:
        results = _measure(plan, _Prepared(built, postgres, helpdesk), status.update)
    report.show(results, console)
    report.write_json(_RESULTS, results, plan, machine)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    if arguments.publish:
        report.publish(_ROOT, results, machine)


class _Prepared(NamedTuple):
    """What is measured."""

    built: Data
    postgres: PostgresData | PostgresUnavailable
    helpdesk: Helpdesk | HelpdeskUnavailable


def _measure(plan: Plan, prepared: _Prepared, show_progress: ShowProgress) -> Results:
    built, postgres, helpdesk = prepared
    parts = [
        on_sqlite.measure(plan, built, helpdesk, show_progress),
        consumers.measure(plan, built, show_progress),
        storage.on_sqlite(plan, built, show_progress),
        events.on_sqlite(plan, built, show_progress),
        pages.on_sqlite(plan, built, show_progress),
    ]
    if isinstance(postgres, PostgresUnavailable):
        parts.append(on_postgres.not_measured(plan, str(postgres)))
        parts.append(storage.not_measured(plan, str(postgres)))
        parts.append(events.not_measured(plan, str(postgres)))
        parts.append(pages.not_measured(plan, str(postgres)))
    else:
        parts.append(on_postgres.measure(plan, built, postgres, show_progress))
        parts.append(storage.on_postgres(plan, built, postgres, show_progress))
        parts.append(events.on_postgres(plan, built, postgres, show_progress))
        parts.append(pages.on_postgres(plan, built, postgres, show_progress))
    return merge_results(*parts)


def _prepare_postgres(
    plan: Plan, built: Data, *, rebuild: bool
) -> PostgresData | PostgresUnavailable:
    try:
        return postgres_data.prepare(plan, built, rebuild=rebuild)
    except PostgresUnavailable as reason:
        return reason


def _prepare_helpdesk(
    plan: Plan, console: Console, *, rebuild: bool
) -> Helpdesk | HelpdeskUnavailable:
    try:
        with console.status(f"django-helpdesk with {plan.peer_tickets:,} tickets"):
            return installation.prepare(plan, rebuild=rebuild)
    except HelpdeskUnavailable as reason:
        return reason


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 tickets and short rounds")
    parser.add_argument("--fresh", action="store_true", help="build the data again")
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
