"""`sealdesk rules`: automation rules of a tenant, which can live in a file of a repository."""

import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from sealdesk import clock
from sealdesk.automation import dry_run as trials
from sealdesk.automation import importing, rules, rules_file, store
from sealdesk.automation.importing import Difference
from sealdesk.automation.rules import to_tried_ticket
from sealdesk.automation.rules_file import Named, RulesFile
from sealdesk.automation.types import Outcome, Rule, Trial
from sealdesk.caller import SYSTEM, without_rights
from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import Installation, open_installation
from sealdesk.cli.output import JsonOption, format_json, print_json, print_table, printable
from sealdesk.cli.progress import show_progress
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ConfigurationError, ValidationFailed
from sealdesk.identity import store as identity
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.macros import store as macros
from sealdesk.tickets.ticket.store import teams

cli = command_group("List, test, export and import automation rules.")
TenantOption = Annotated[
    str, typer.Option("--tenant", metavar="ID", help="The tenant whose rules these are.")
]
RuleArgument = Annotated[str, typer.Argument(metavar="RULE", help="The rule's name, or its ID.")]
_MAX_BYTES = 16 * 1024 * 1024
_PAGE_ROWS = 500
_MARKS = {"added": "+", "changed": "~", "deleted": "-", "unchanged": "="}


@cli.command("list")
def list_rules(tenant: TenantOption, json: JsonOption = False) -> None:
    """List a tenant's rules in the order in which they run."""
    with open_installation() as installation:
        listed = _read(installation, tenant)
    if json:
        print_json([rules.to_response(each) for each in listed])
        return
    rows = [(each.name, each.trigger, _state(each), each.version, each.id) for each in listed]
    print_table(("NAME", "WHEN", "STATE", "VERSION", "ID"), rows)


@cli.command()
def show(rule: RuleArgument, tenant: TenantOption) -> None:
    """Print one rule as JSON, as a file has it."""
    with open_installation() as installation:
        found = _find_rule(installation, tenant, rule)
        named = installation.fetch(tenant, _list_named)
    print(format_json(rules_file.to_file([found], named)["rules"][0]))


@cli.command(epilog='Example: sealdesk rules test "VIP first" 1042 --tenant ID')
def test(
    rule: RuleArgument,
    ticket: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's number or ID.")],
    tenant: TenantOption,
) -> None:
    """Print what a rule would do to one ticket as it is now. Nothing is changed."""
    with open_installation() as installation:
        found = _find_rule(installation, tenant, rule)
        _test_on(installation, found, ticket)


@cli.command()
def dry_run(rule: RuleArgument, tenant: TenantOption, json: JsonOption = False) -> None:
    """Print what a rule would have done in the last 30 days. Nothing is changed."""
    with open_installation() as installation:
        found = _find_rule(installation, tenant, rule)
        _dry_run(installation, found, is_json=json)


@cli.command(epilog="Example: sealdesk rules export --tenant ID > rules.json")
def export(tenant: TenantOption) -> None:
    """Print all rules as one JSON file, with names instead of IDs."""
    with open_installation() as installation:
        listed = _read(installation, tenant)
        named = installation.fetch(tenant, _list_named)
    print(format_json(rules_file.to_file(listed, named)))


@cli.command(
    "import",
    epilog="""\b
Examples:
  sealdesk rules import rules.json --tenant ID --dry-run
  sealdesk rules import rules.json --tenant ID --delete-others""",
)
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of export; - for stdin.")],
    tenant: TenantOption,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be changed.")
    ] = False,
    delete_others: Annotated[
        bool, typer.Option("--delete-others", help="Delete rules that are not in the file.")
    ] = False,
) -> None:
    """Add and change rules by their names, all or none, in the order of the file.

    Rules that are not in the file run after those, unless they are deleted.
    """
    # 35 ms to import, with the metrics and the HTTP client, which other commands do not need.
    from sealdesk.web import body

    document = _read_file(file)
    caller = without_rights(tenant, SYSTEM)

    async def work(tx: Tx) -> list[Difference]:
        filed = body.convert_closed(document, RulesFile)
        wanted = rules_file.from_file(filed, await _list_named(tx, tenant))
        return await importing.import_rules(
            tx,
            caller,
            wanted,
            deletes_others=delete_others,
            is_dry_run=dry_run,
            now_us=now_us,
        )

    with open_installation() as installation:
        installation.get_tenant(tenant)
        now_us = installation.clock.now_us()
        try:
            differences = installation.write(work, tenant)
        except ValidationFailed as error:
            found = "; ".join(f"{each.pointer}: {printable(each.detail)}" for each in error.faults)
            raise ConfigurationError(f"nothing was imported: {found}") from error
    _print_differences(differences, is_dry_run=dry_run)


def _print_differences(differences: list[Difference], *, is_dry_run: bool) -> None:
    for each in differences:
        print(f"{_MARKS[each.kind]} {printable(each.name)}")
        for name, (old, new) in each.changes.items():
            print(f"    {name}: {_compact(old)} → {_compact(new)}")
    if is_dry_run:
        print("Nothing was changed.", file=sys.stderr)


def _compact(value: Any) -> str:
    return printable(msgspec.json.encode(value).decode())


def _read(installation: Installation, tenant_id: str) -> list[Rule]:
    installation.get_tenant(tenant_id)
    return installation.fetch(tenant_id, store.list_rules)


def _state(rule: Rule) -> str:
    if not rule.is_enabled:
        return "off"
    return f"paused: {rule.paused_because}" if rule.paused_because else "on"


def _read_file(path: str) -> dict[str, Any]:
    """Raises ConfigurationError."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(_MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as stream:
                data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise ConfigurationError(f"{path} has more than 16 MiB")
    try:
        return msgspec.json.decode(data.removeprefix(BOM_UTF8), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not a file of rules: {error}") from error


async def _list_named(tx: Tx, tenant_id: str) -> Named:
    users = dict[str, str]()
    last: list[Any] | None = None
    while listed := await identity.list_users(tx, tenant_id, PageRequest(_PAGE_ROWS, last)):
        users |= {each.id: each.email for each in listed}
        last = [listed[-1].id]
    of_teams = {each.id: each.name for each in await teams.list_teams(tx, tenant_id)}
    choices = await macros.list_choices(tx, tenant_id)
    return Named(users, of_teams, {each.id: each.shortcut for each in choices})


def _find_rule(installation: Installation, tenant_id: str, wanted: str) -> Rule:
    """The rule with this id, or name. Raises ConfigurationError."""
    listed = _read(installation, tenant_id)
    found = [each for each in listed if wanted == each.id]
    found = found or [each for each in listed if each.name == wanted]
    if not found:
        raise ConfigurationError("there is no such rule; sealdesk rules list shows them")
    if len(found) > 1:
        raise ConfigurationError("several rules have this name; give the ID of one")
    return found[0]


def _test_on(installation: Installation, rule: Rule, ticket: str) -> None:
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


def _dry_run(installation: Installation, rule: Rule, *, is_json: bool) -> None:
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
