"""Makes the rules of a desk those of a file: all of them, or none."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sealdesk.automation import actions, rules, store
from sealdesk.automation.errors import TOO_MANY_RULES
from sealdesk.automation.types import NewRule, Rule, RuleChange
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, raise_any
from sealdesk.event_log.events import Changes
from sealdesk.resources.identity import identity

_AMBIGUOUS = "The desk has several rules of this name. Rename them first."


class Difference(NamedTuple):
    """What an import does to one rule. changes: field → (old, new)."""

    kind: Literal["added", "changed", "deleted", "unchanged"]
    name: str
    changes: Changes


class _Step(NamedTuple):
    difference: Difference
    wanted: NewRule | RuleChange | None
    rule_id: str


async def import_rules(
    tx: Tx,
    caller: Caller,
    wanted: Sequence[NewRule],
    *,
    deletes_others: bool,
    is_dry_run: bool,
    now_us: int,
) -> list[Difference]:
    """Add and change rules by their names; the others are left behind them, or deleted.

    Nothing is written before all of them are checked. Raises ValidationFailed, Conflict.
    """
    existing = await store.list_rules(tx, caller.tenant_id)
    steps = await _plan(tx, caller, wanted, existing, now_us)
    names = {identity(each.name) for each in wanted}
    others = [each for each in existing if identity(each.name) not in names]
    for place, each in enumerate(others, len(wanted) + 1):
        if deletes_others:
            steps.append(_Step(Difference("deleted", each.name, {}), None, each.id))
        else:
            steps.append(_changed(each, RuleChange(position=place), now_us))
    if len(wanted) + (0 if deletes_others else len(others)) > rules.MAX_RULES:
        raise Conflict(TOO_MANY_RULES, limit=rules.MAX_RULES)
    if not is_dry_run:
        # Deleted ones first, so that there never are too many.
        for step in sorted(steps, key=lambda each: each.difference.kind != "deleted"):
            await _take(tx, caller, step, now_us)
    return [step.difference for step in steps]


async def _plan(
    tx: Tx, caller: Caller, wanted: Sequence[NewRule], existing: Sequence[Rule], now_us: int
) -> list[_Step]:
    steps, faults = list[_Step](), list[Fault]()
    for place, new in enumerate(wanted):
        found = [each for each in existing if identity(each.name) == identity(new.name)]
        if len(found) > 1:
            faults.append(Fault(f"/rules/{place}/name", "ambiguous", _AMBIGUOUS))
            continue
        if found:
            fields = {name: getattr(new, name) for name in rules.CHANGED}
            change = RuleChange(**fields)
            rule = rules.changed(found[0], change, now_us)
            steps.append(_changed(found[0], change, now_us))
        else:
            rule = actions.new_rule(caller.tenant_id, new, place + 1, now_us)
            steps.append(_Step(Difference("added", new.name, {}), new, ""))
        faults += [
            each._replace(pointer=f"/rules/{place}{each.pointer}")
            for each in await actions.find_faults(tx, rule)
        ]
    raise_any(faults)
    return steps


def _changed(rule: Rule, change: RuleChange, now_us: int) -> _Step:
    changes = rules.differences(rule, rules.changed(rule, change, now_us))
    kind: Literal["changed", "unchanged"] = "changed" if changes else "unchanged"
    return _Step(Difference(kind, rule.name, changes), change, rule.id)


async def _take(tx: Tx, caller: Caller, step: _Step, now_us: int) -> None:
    if step.wanted is None:
        await actions.delete_rule(tx, caller, step.rule_id, now_us=now_us)
    elif isinstance(step.wanted, NewRule):
        await actions.create_rule(tx, caller, step.wanted, now_us=now_us)
    elif step.difference.changes:
        await actions.change_rule(tx, caller, step.rule_id, step.wanted, now_us=now_us)
