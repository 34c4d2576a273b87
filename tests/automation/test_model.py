"""Random histories of tickets under random rules end as a plain model of rules says."""

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import (
    PRIORITIES,
    NewReply,
    NewReplyAuthor,
    NewTicket,
    TicketChange,
    TicketCustomer,
)
from tests.automation.test_running import RULES, wait_until_run
from tests.support.databases import ONE_LOG, SQLITE_FIRST
from tests.support.service import Service

_STATUSES = ("open", "pending", "on_hold", "resolved")
_TAGS = ("glaze", "kiln", "vip")
_PLANS = ("gold", "silver", None)
_SUBJECTS = ("Refund of a bowl", "A bowl is broken", "Where is it")
_FIELDS: dict[str, tuple[Any, ...]] = {
    "status": _STATUSES,
    "priority": PRIORITIES,
    "tag": (*_TAGS, ""),
    "custom_fields.plan": ("gold", "silver", ""),
    "last_reply_by": ("api_key", "customer", ""),
    "subject": _SUBJECTS,
}
_RULE_COUNT = 10
_TRIGGERS = ("created", "changed", "changed", "replied")
_AT_ONCE = 100
_EFFECTS = """
SELECT ticket_id, rule_id FROM automation_effects WHERE tenant_id = :id
ORDER BY ticket_id, first_version LIMIT 999999
"""
_TICKETS = "SELECT * FROM tickets WHERE tenant_id = :id ORDER BY id LIMIT 99999"
State = dict[str, Any]


class PlainDesk:
    """What rules do to tickets, one condition and one action after the other."""

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        self._rules = rules
        self.effects: list[tuple[str, str]] = []

    def happened(self, trigger: str, ticket: State) -> None:
        for rule in self._rules:
            if rule["trigger"] != trigger or not all(
                _holds(ticket, each) for each in rule["conditions"]
            ):
                continue
            before = deepcopy(ticket)
            _apply(ticket, rule["actions"])
            if ticket != before:
                self.effects.append((ticket["id"], rule["id"]))


def _holds(ticket: State, condition: dict[str, Any]) -> bool:
    field, operator = condition["field"], condition["operator"]
    if field == "tag":
        having = ticket["tags"] or [""]
    elif field.startswith("custom_fields."):
        having = [ticket["plan"] or ""]
    else:
        having = [ticket[field] or ""]
    for value in condition["values"]:
        for each in having:
            if value.lower() == each.lower() and operator in ("is", "is_not"):
                return bool(operator == "is")
            if value.lower() in each.lower() and operator in ("contains", "lacks"):
                return bool(operator == "contains")
    return operator in ("is_not", "lacks")


def _apply(ticket: State, done: dict[str, Any]) -> None:
    ticket["status"] = done["status"] or ticket["status"]
    ticket["priority"] = done["priority"] or ticket["priority"]
    if done["raise_priority"]:
        ticket["priority"] = PRIORITIES[min(PRIORITIES.index(ticket["priority"]) + 1, 3)]
    for tag in done["remove_tags"] or ():
        ticket["tags"] = [each for each in ticket["tags"] if each != tag]
    for tag in done["add_tags"] or ():
        ticket["tags"] = [*ticket["tags"], *([tag] if tag not in ticket["tags"] else [])]
    if done["custom_fields"] is not None:
        ticket["plan"] = done["custom_fields"]["plan"]


def _random_rule(random: Random, number: int) -> dict[str, Any]:
    conditions = []
    for field in random.sample([*_FIELDS], random.choice([0, 1, 1, 2])):
        operator = random.choice(["is", "is", "is_not", "contains", "lacks"])
        values = random.sample(_FIELDS[field], random.randint(1, 2))
        if operator in ("contains", "lacks"):
            values = [each[: random.randint(2, 5)] for each in values if each] or ["o"]
        conditions.append({"field": field, "operator": operator, "values": values})
    every = {
        "status": random.choice(_STATUSES),
        "priority": random.choice(PRIORITIES),
        "raise_priority": True,
        "add_tags": random.sample(_TAGS, random.randint(1, 2)),
        "remove_tags": random.sample(_TAGS, 1),
        "custom_fields": {"plan": random.choice(_PLANS)},
    }
    done = {name: every[name] for name in random.sample([*every], random.randint(1, 2))}
    fields = {"trigger": random.choice(_TRIGGERS), "conditions": conditions, "actions": done}
    return {"name": f"Rule {number}", "is_enabled": True, **fields}


class Histories:
    """Tickets of a desk with random rules, and of the plain one with the same."""

    def __init__(self, service: Service, seed: int) -> None:
        self.service, self._random = service, Random(seed)
        self.tenant = service.tenant()
        admin = self.tenant.admin()
        field = {"key": "plan", "label": "Plan", "type": "choice", "choices": ["gold", "silver"]}
        assert admin.post("/api/v1/custom-fields", field).is_success
        rules: list[dict[str, Any]] = []
        while len(rules) < _RULE_COUNT:  # what can never hold is refused
            answer = admin.post(RULES, _random_rule(self._random, len(rules)))
            rules += [answer.json()["data"]] if answer.is_success else []
        self.plain = PlainDesk(rules)
        self.tickets: list[State] = []
        self._caller = Caller(self.tenant.id, Actor("api_key", "k", "Shop"), frozenset(), "")

    def open(self, count: int) -> None:
        for some in _batches(range(count)):
            opened = [self._new() for _ in some]
            ids = self.service.write(lambda tx: self._open_some(tx, opened))  # noqa: B023
            for state, ticket_id in zip(opened, ids, strict=True):
                state["id"] = ticket_id
                self.tickets.append(state)
        wait_until_run(self.service)
        for each in self.tickets:
            self.plain.happened("created", each)

    def _new(self) -> State:
        tags = self._random.sample(_TAGS, self._random.randrange(3))
        subject, plan = self._random.choice(_SUBJECTS), self._random.choice(_PLANS)
        status, priority = self._random.choice(_STATUSES), self._random.choice(PRIORITIES)
        fields = {"subject": subject, "tags": tags, "plan": plan, "status": status}
        return {**fields, "priority": priority, "last_reply_by": None}

    async def _open_some(self, tx: Tx, states: list[State]) -> list[str]:
        now_us, ids = self.service.clock.now_us(), []
        for each in states:
            new = NewTicket(
                each["subject"],
                "Please",
                TicketCustomer("a@b.test"),
                status=each["status"],
                priority=each["priority"],
                tags=each["tags"],
                custom_fields={"plan": each["plan"]} if each["plan"] else {},
            )
            opened = await actions.open_ticket(tx, self._caller, new, source="api", now_us=now_us)
            ids.append(opened.id)
        return ids

    def act(self) -> None:
        """Change or answer each ticket once."""
        self.service.clock.advance(2 * 3600)  # rules may have 20 effects on a ticket in an hour
        happened: list[tuple[str, State]] = []
        for some in _batches(self.tickets):
            acts = [(each, self._random_act(each)) for each in some]
            self.service.write(lambda tx: self._act_some(tx, acts))  # noqa: B023
            for ticket, done in acts:
                before = deepcopy(ticket)
                ticket.update(done)
                trigger = "replied" if "last_reply_by" in done else "changed"
                if trigger == "replied" or ticket != before:
                    happened.append((trigger, ticket))
        wait_until_run(self.service)
        for trigger, ticket in happened:
            self.plain.happened(trigger, ticket)

    def _random_act(self, ticket: State) -> State:
        match self._random.randrange(6):
            case 0:
                return {"status": self._random.choice(_STATUSES)}
            case 1:
                return {"priority": self._random.choice(PRIORITIES)}
            case 2:
                return {"tags": self._random.sample(_TAGS, self._random.randrange(3))}
            case 3:
                return {"plan": self._random.choice(_PLANS)}
            case 4 if ticket["status"] == "open":  # others would be opened by it
                return {"last_reply_by": "customer"}
        return {"last_reply_by": "api_key"}

    async def _act_some(self, tx: Tx, acts: list[tuple[State, State]]) -> None:
        now_us = self.service.clock.now_us()
        for ticket, done in acts:
            if by := done.get("last_reply_by"):
                author = NewReplyAuthor("customer") if by == "customer" else None
                new = NewReply("Hello", author=author)
                await actions.reply(tx, self._caller, ticket["id"], new, now_us=now_us)
                continue
            given = {"custom_fields": {"plan": done["plan"]}} if "plan" in done else done
            change = TicketChange(**given)
            await actions.change_ticket(
                tx, self._caller, ticket["id"], change, if_match=None, now_us=now_us
            )

    def check(self) -> None:
        """Each ticket, and each effect, is what the plain desk says."""
        found: dict[str, list[str]] = {}
        for row in self.service.rows(_EFFECTS, id=self.tenant.id):
            found.setdefault(row["ticket_id"], []).append(row["rule_id"])
        wanted: dict[str, list[str]] = {}
        for ticket_id, rule_id in self.plain.effects:
            wanted.setdefault(ticket_id, []).append(rule_id)
        assert found == wanted
        assert len(self.plain.effects) > len(self.tickets) / 2
        shown = {each["id"]: each for each in _list_all(self.tenant.key())}
        for each in self.tickets:
            having = shown[each["id"]]
            plan = having["custom_fields"].get("plan")
            assert {**{name: having[name] for name in each if name != "plan"}, "plan": plan} == each


def _batches(items: Any) -> Iterator[Any]:
    for first in range(0, len(items), _AT_ONCE):
        yield items[first : first + _AT_ONCE]


def _list_all(key: Any) -> Iterator[dict[str, Any]]:
    cursor = ""
    while cursor is not None:
        query = f"&cursor={cursor}" if cursor else ""
        page = key.get(f"/api/v1/external/tickets?per_page=100{query}").json()
        yield from page["data"]
        cursor = page["meta"]["next_cursor"]


def check(service: Service, seed: int, count: int, rounds: int) -> None:
    histories = Histories(service, seed)
    histories.open(count)
    for _ in range(rounds):
        histories.act()
    histories.check()


@SQLITE_FIRST
def test_random_histories_agree_with_a_plain_model(own_service: Service) -> None:
    check(own_service, 3, 40, 2)


@ONE_LOG
@pytest.mark.prove
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(10))
def test_many_random_histories_agree_with_a_plain_model(own_service: Service, seed: int) -> None:
    check(own_service, seed, 1_000, 3)
