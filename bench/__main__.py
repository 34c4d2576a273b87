"""`make bench`: builds the data, measures, and prints the figures."""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from bench.databases import postgres_data, sqlite_data
from bench.databases.postgres_data import PostgresData, PostgresUnavailable
from bench.databases.sqlite_data import Data
from bench.figures import (
    client,
    consumers,
    diagnosis,
    events,
    on_postgres,
    on_sqlite,
    pages,
    receiving,
    report,
    screen,
    sending,
    storage,
)
from bench.figures.figure import Results, merge_results
from bench.load.clients import WrongResponse
from bench.load.rounds import ShowProgress
from bench.peers.django_helpdesk import installation
from bench.peers.django_helpdesk.installation import Helpdesk, HelpdeskUnavailable
from bench.plan import FULL, QUICK, Plan

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.only and arguments.publish:
        parser.error("--publish needs all figures: leave --only out")
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
    parts = arguments.only or _PARTS
    # The data of the quick plan has all tickets that these parts read, and is built in seconds.
    data_plan = QUICK if set(parts) <= _PARTS_OF_LITTLE_DATA else plan
    built = sqlite_data.prepare(data_plan, rebuild=arguments.fresh)
    machine = {"plan": plan.name, **report.describe_machine(built.settings.data_dir)}
    postgres: PostgresData | PostgresUnavailable = PostgresUnavailable("no part measures it")
    if not _ON_POSTGRES.keys().isdisjoint(parts):
        postgres = _prepare_postgres(plan, built, rebuild=arguments.fresh)
    helpdesk: Helpdesk | HelpdeskUnavailable = HelpdeskUnavailable("nothing is compared with it")
    if "requests" in parts:
        helpdesk = _prepare_helpdesk(plan, console, rebuild=arguments.fresh)
    with console.status("") as status:
        results = _measure(
            plan,
            _Prepared(built, postgres, helpdesk),
            parts,
            status.update,
        )
    report.show(results, console)
    report.write_json(_RESULTS, results, plan, machine)
    console.print(f"Written to {_RESULTS.relative_to(_ROOT)}.")
    if arguments.publish:
        report.publish(_ROOT, results, machine)


class _OnPostgres(NamedTuple):
    """A part on PostgreSQL, and its figures where PostgreSQL cannot be measured."""

    measure: Callable[[Plan, Data, PostgresData, ShowProgress], Results]
    not_measured: Callable[[Plan, str], Results]


# The parts by name, in their order; `requests` on SQLite also needs django-helpdesk.
_ON_SQLITE: Mapping[str, Callable[[Plan, Data, ShowProgress], Results]] = {
    "consumers": consumers.measure,
    "diagnosis": diagnosis.measure,
    "storage": storage.on_sqlite,
    "events": events.on_sqlite,
    "pages": pages.on_sqlite,
    "screen": screen.on_sqlite,
    "client": client.on_sqlite,
    "receiving": receiving.on_sqlite,
    "sending": sending.on_sqlite,
}
_ON_POSTGRES: Mapping[str, _OnPostgres] = {
    "requests": _OnPostgres(on_postgres.measure, on_postgres.not_measured),
    "storage": _OnPostgres(storage.on_postgres, storage.not_measured),
    "events": _OnPostgres(events.on_postgres, events.not_measured),
    "pages": _OnPostgres(pages.on_postgres, pages.not_measured),
    "receiving": _OnPostgres(receiving.on_postgres, receiving.not_measured),
    "sending": _OnPostgres(sending.on_postgres, sending.not_measured),
}
_PARTS = ("requests", *_ON_SQLITE)
_PARTS_OF_LITTLE_DATA = {"client", "diagnosis", "receiving", "sending"}


class _Prepared(NamedTuple):
    """What is measured."""

    built: Data
    postgres: PostgresData | PostgresUnavailable
    helpdesk: Helpdesk | HelpdeskUnavailable


def _measure(
    plan: Plan, prepared: _Prepared, parts: Collection[str], show_progress: ShowProgress
) -> Results:
    built, postgres, helpdesk = prepared
    found = []
    if "requests" in parts:
        found.append(on_sqlite.measure(plan, built, helpdesk, show_progress))
    for name in (name for name in _ON_SQLITE if name in parts):
        found.append(_ON_SQLITE[name](plan, built, show_progress))
    for name in (name for name in _ON_POSTGRES if name in parts):
        part = _ON_POSTGRES[name]
        if isinstance(postgres, PostgresUnavailable):
            found.append(part.not_measured(plan, str(postgres)))
        else:
            found.append(part.measure(plan, built, postgres, show_progress))
    return merge_results(*found)


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
    parser.add_argument("--only", action="append", choices=_PARTS, help="a part; may be repeated")
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
