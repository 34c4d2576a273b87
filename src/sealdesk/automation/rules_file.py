"""Rules as one file: people by e-mail address, teams by name, macros by shortcut; no IO."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.automation.types import (
    Condition,
    Conditions,
    Hours,
    NewRule,
    Rule,
    RuleActions,
    RuleName,
    Trigger,
)
from sealdesk.errors import Fault, raise_any
from sealdesk.resources.identity import identity

_UNKNOWN = "The desk has no %(kind)s “%(name)s”."
_TWICE = "Another rule of the file has this name."
_OF_FIELD = {"team_id": "team", "assignee_id": "user"}


class FiledRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule of a file, which stands in the order in which they run."""

    name: RuleName
    trigger: Trigger
    actions: RuleActions
    conditions: Conditions = []
    hours: Hours = 0
    is_enabled: bool = False


class RulesFile(msgspec.Struct, frozen=True):
    """All rules of a desk."""

    rules: list[FiledRule]


class Named(NamedTuple):
    """Id → name in files: of users their e-mail addresses, of macros their shortcuts."""

    users: Mapping[str, str]
    teams: Mapping[str, str]
    macros: Mapping[str, str]

    def ids_of(self, kind: str) -> dict[str, str]:
        """Name → id, without regard to case."""
        of: dict[str, Mapping[str, str]] = {
            "user": self.users,
            "team": self.teams,
            "macro": self.macros,
        }
        return {identity(name): each for each, name in of[kind].items()}


def to_file(rules: Sequence[Rule], named: Named) -> dict[str, Any]:
    """The rules as JSON; what is gone keeps its id."""
    filed = [
        FiledRule(
            each.name,
            each.trigger,
            _named_actions(each.actions, named),
            [_named_condition(condition, named) for condition in each.conditions],
            each.hours,
            each.is_enabled,
        )
        for each in rules
    ]
    shown = [msgspec.to_builtins(each) for each in filed]
    for each in shown:
        each["actions"] = {name: value for name, value in each["actions"].items() if value}
    return {"rules": shown}


def _named_actions(actions: RuleActions, named: Named) -> RuleActions:
    everybody = {**named.users, **named.teams}
    return msgspec.structs.replace(
        actions,
        team_id=named.teams.get(actions.team_id or "", actions.team_id),
        assignee_id=named.users.get(actions.assignee_id or "", actions.assignee_id),
        macro_id=named.macros.get(actions.macro_id or "", actions.macro_id),
        notify=[everybody.get(each, each) for each in actions.notify] if actions.notify else None,
    )


def _named_condition(condition: Condition, named: Named) -> Condition:
    if condition.field not in _OF_FIELD:
        return condition
    names = named.teams if condition.field == "team_id" else named.users
    values = [names.get(each, each) for each in condition.values]
    return msgspec.structs.replace(condition, values=values)


def from_file(filed: RulesFile, named: Named) -> list[NewRule]:
    """The rules with ids. Raises ValidationFailed with every name that the desk does not have."""
    faults = list[Fault]()
    wanted, names = list[NewRule](), set[str]()
    for place, each in enumerate(filed.rules):
        reading = _Reading(named, f"/rules/{place}", faults)
        if identity(each.name) in names:
            faults.append(Fault(f"/rules/{place}/name", "taken", _TWICE))
        names.add(identity(each.name))
        wanted.append(
            NewRule(
                each.name,
                each.trigger,
                reading.actions(each.actions),
                [reading.condition(at, one) for at, one in enumerate(each.conditions)],
                each.hours,
                place + 1,
                each.is_enabled,
            )
        )
    raise_any(faults)
    return wanted


class _Reading:
    """Finds the ids of the names in one rule, and notes those that are unknown."""

    def __init__(self, named: Named, pointer: str, faults: list[Fault]) -> None:
        self._ids = {kind: named.ids_of(kind) for kind in ("user", "team", "macro")}
        self._pointer = pointer
        self._faults = faults

    def actions(self, actions: RuleActions) -> RuleActions:
        notify = [
            self._ids["team"].get(identity(each)) or self._find("user", each, f"notify/{place}")
            for place, each in enumerate(actions.notify or ())
        ]
        return msgspec.structs.replace(
            actions,
            team_id=self._optional("team", actions.team_id, "team_id"),
            assignee_id=self._optional("user", actions.assignee_id, "assignee_id"),
            macro_id=self._optional("macro", actions.macro_id, "macro_id"),
            notify=notify or None,
        )

    def condition(self, place: int, condition: Condition) -> Condition:
        kind = _OF_FIELD.get(condition.field)
        if kind is None:
            return condition
        where = f"conditions/{place}"
        values = [each and self._find(kind, each, where) for each in condition.values]
        return msgspec.structs.replace(condition, values=values)

    def _optional(self, kind: str, name: str | None, where: str) -> str | None:
        return None if name is None else self._find(kind, name, f"actions/{where}")

    def _find(self, kind: str, name: str, where: str) -> str:
        found = self._ids[kind].get(identity(name))
        if found is None:
            values = {"kind": kind, "name": name[:64]}
            where = where if where.startswith(("actions", "conditions")) else f"actions/{where}"
            self._faults.append(
                Fault(f"{self._pointer}/{where}", f"unknown_{kind}", _UNKNOWN, values)
            )
        return found or name
