"""What `sealdesk rules` tries: a rule on one ticket, or on the last 30 days."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk import clock
from sealdesk.cli.installation import Installation
from sealdesk.cli.output import print_json, print_table, printable
from sealdesk.cli.progress import show_progress
from sealdesk.db.engine import Work
from sealdesk.errors import ConfigurationError
from sealdesk.tickets.automation import dry_run as trials
from sealdesk.tickets.automation.rules import to_tried_ticket
from sealdesk.tickets.automation.types import Outcome, Rule, Trial


def find_rule(listed: Sequence[Rule], wanted: str) -> Rule:
    """The rule with this id, or name. Raises ConfigurationError."""
    found = [each for each in listed if wanted == each.id]
    found = found or [each for each in listed if each.name == wanted]
    if not found:
        raise ConfigurationError("there is no such rule; sealdesk rules list shows them")
    if len(found) > 1:
        raise ConfigurationError("several rules have this name; give the ID of one")
    return found[0]


def test_on(installation: Installation, rule: Rule, ticket: str) -> None:
    """Print what a rule would do to a ticket."""
    now_us = installation.clock.now_us()
    tried = installation.read(
        lambda tx: trials.try_on_ticket(tx, rule, ticket, now_us), rule.tenant_id
    )
    if tried is None:
        raise ConfigurationError("there is no such ticket")
    if tried.outcome is not None:
        _print_outcome(tried.outcome)
    elif tried.missed is None:
        print("The rule holds and would change nothing.")
    else:
        values = " or ".join(each or "empty" for each in tried.missed.values)
        print(f"The rule does not hold: {tried.missed.field} {tried.missed.operator} {values}")


def dry_run(installation: Installation, rule: Rule, *, is_json: bool) -> None:
    """Print what a rule would have done, with the progress on stderr."""
    now_us, outcomes = installation.clock.now_us(), list[Outcome]()
    trial: Trial | None = None
    with show_progress("events") as progress:
        while trial is None or trial.reached < trial.last:
            before = trial.reached if trial else 0
            trial = installation.read(_part(rule, before, now_us), rule.tenant_id)
            if not before:
                before = trial.first
                progress.begin("dry run", "", 0, trial.last - before)
            progress.advance(trial.reached - before)
            outcomes += trial.outcomes
    if is_json:
        print_json(msgspec.to_builtins([to_tried_ticket(each) for each in outcomes]))
        return
    rows = [
        (each.number, clock.iso(each.at), printable(each.subject), _summary(each))
        for each in outcomes
    ]
    print_table(("TICKET", "AT", "SUBJECT", "WHAT IT WOULD HAVE DONE"), rows)


def _part(rule: Rule, after: int, now_us: int) -> Work[Trial]:
    return lambda tx: trials.run_part(tx, rule, after, now_us)


def _print_outcome(outcome: Outcome) -> None:
    for each in outcome.causes:
        print(f"because {each.field} {each.operator} {printable(each.value) or 'empty'}")
    print(_summary(outcome))


def _summary(outcome: Outcome) -> str:
    changes = [
        f"{name}: {_text(old)} → {_text(new)}" for name, (old, new) in outcome.changes.items()
    ]
    return "; ".join([*changes, *outcome.others])


def _text(value: Any) -> str:
    return printable(value if isinstance(value, str) else msgspec.json.encode(value).decode())
