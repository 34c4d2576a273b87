"""`make bench`: builds the data, measures, and prints the figures.

A run that was stopped goes on with the parts that it had not completed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
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
from bench.measured import Measured
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
    chosen = [part for part in _PARTS if not arguments.only or part.name in arguments.only]
    # The data of the quick plan has all tickets that these parts read, and is built in seconds.
    has_little_data = all(part.name in _PARTS_OF_LITTLE_DATA for part in chosen)
    data_plan = QUICK if has_little_data else plan
    built = sqlite_data.prepare(data_plan, rebuild=arguments.fresh)
    machine = {"plan": plan.name, **report.describe_machine(built.settings.data_dir)}
    measured = Measured(sqlite_data.DATA_DIR, plan, machine)
    goes_on = not (arguments.only or arguments.fresh)
    missing = [part for part in chosen if not goes_on or measured.find(part.title) is None]
    console.print(_announce(chosen, missing, measured))
    prepared = _prepare(plan, built, missing, console, rebuild=arguments.fresh)
    _measure(plan, prepared, missing, measured, console)
    results = merge_results(*filter(None, (measured.find(part.title) for part in chosen)))
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


class _Part(NamedTuple):
    """A part of a run. name: of `--only`, which chooses what it measures on both databases."""

    name: str
    is_on_postgres: bool
    measure: Callable[[Plan, _Prepared, ShowProgress], Results]

    @property
    def title(self) -> str:
        return f"{self.name} on {'PostgreSQL' if self.is_on_postgres else 'SQLite'}"


def _on_sqlite(name: str, measure: Callable[[Plan, Data, ShowProgress], Results]) -> _Part:
    return _Part(name, False, lambda plan, prepared, show: measure(plan, prepared.built, show))


def _on_postgres(
    name: str,
    measure: Callable[[Plan, Data, PostgresData, ShowProgress], Results],
    not_measured: Callable[[Plan], Results],
) -> _Part:
    def run(plan: Plan, prepared: _Prepared, show_progress: ShowProgress) -> Results:
        if isinstance(prepared.postgres, PostgresUnavailable):
            return not_measured(plan).because(prepared.postgres)
        return measure(plan, prepared.built, prepared.postgres, show_progress)

    return _Part(name, True, run)


def _requests(plan: Plan, prepared: _Prepared, show_progress: ShowProgress) -> Results:
    return on_sqlite.measure(plan, prepared.built, prepared.helpdesk, show_progress)


_PARTS = (
    _Part("requests", False, _requests),
    _on_sqlite("consumers", consumers.measure),
    _on_sqlite("diagnosis", diagnosis.measure),
    _on_sqlite("storage", storage.on_sqlite),
    _on_sqlite("events", events.on_sqlite),
    _on_sqlite("pages", pages.on_sqlite),
    _on_sqlite("screen", screen.on_sqlite),
    _on_sqlite("client", client.on_sqlite),
    _on_sqlite("receiving", receiving.on_sqlite),
    _on_sqlite("sending", sending.on_sqlite),
    _on_postgres("requests", on_postgres.measure, on_postgres.not_measured),
    _on_postgres("storage", storage.on_postgres, storage.not_measured),
    _on_postgres("events", events.on_postgres, events.not_measured),
    _on_postgres("pages", pages.on_postgres, pages.not_measured),
    _on_postgres("receiving", receiving.on_postgres, receiving.not_measured),
    _on_postgres("sending", sending.on_postgres, sending.not_measured),
)
_PARTS_OF_LITTLE_DATA = {"client", "diagnosis", "receiving", "sending"}


def _announce(chosen: Sequence[_Part], missing: Sequence[_Part], measured: Measured) -> str:
    """What a run does and how long that took last time, in one sentence or two."""
    kept = len(chosen) - len(missing)
    if not missing:
        return f"All {kept} parts were measured by this code on this machine (--fresh: again)."
    known = [measured.took_s(part.title) for part in missing]
    parts = f"{len(missing)} of {len(chosen)} parts are measured"
    already = f"; {kept} were, by this code on this machine (--fresh: again)" if kept else ""
    if None in known:
        return f"{parts}{already}. How long it takes is known after the first run."
    return f"{parts}{already}. They took {sum(filter(None, known)) / 60:.0f} minutes last time."


def _measure(
    plan: Plan,
    prepared: _Prepared,
    missing: Sequence[_Part],
    measured: Measured,
    console: Console,
) -> None:
    """Measure these parts, and store each when it is complete."""
    with console.status("") as status:
        for number, part in enumerate(missing, 1):
            place = f"part {number} of {len(missing)}, {part.title}"

            def show(text: str, place: str = place) -> None:
                status.update(f"{place}: {text}")

            started = time.monotonic()
            results = part.measure(plan, prepared, show)
            took_s = time.monotonic() - started
            measured.keep(part.title, results, took_s)
            console.print(f"{part.title}: {took_s / 60:.1f} minutes")


def _prepare(
    plan: Plan, built: Data, parts: Sequence[_Part], console: Console, *, rebuild: bool
) -> _Prepared:
    """Build what these parts need; nothing of PostgreSQL or django-helpdesk for no part."""
    postgres: PostgresData | PostgresUnavailable = PostgresUnavailable("no part measures it")
    if any(part.is_on_postgres for part in parts):
        postgres = _prepare_postgres(plan, built, rebuild=rebuild)
    helpdesk: Helpdesk | HelpdeskUnavailable = HelpdeskUnavailable("nothing is compared with it")
    if any(part.measure is _requests for part in parts):
        helpdesk = _prepare_helpdesk(plan, console, rebuild=rebuild)
    return _Prepared(built, postgres, helpdesk)


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
    parser.add_argument("--fresh", action="store_true", help="build the data and measure again")
    names = list(dict.fromkeys(part.name for part in _PARTS))
    parser.add_argument(
        "--only", action="append", choices=names, help="measure a part again; may be repeated"
    )
    parser.add_argument("--publish", action="store_true", help="write docs/figures.md and README")
    return parser


if __name__ == "__main__":
    main()
