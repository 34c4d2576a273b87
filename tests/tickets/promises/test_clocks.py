"""The clocks of tickets in random histories, against a slow plain model that counts minutes."""

from datetime import date
from random import Random
from typing import Any, Literal

import pytest

from sealdesk.tickets.hours.types import Hours, Interval
from sealdesk.tickets.promises import rules
from sealdesk.tickets.promises.types import PAUSING, Policy, Promises
from sealdesk.tickets.ticket import clocks
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket.clocks import TARGETS, Alert, Target
from sealdesk.tickets.ticket.types import PRIORITIES, Author, Reply, Ticket, TicketChange

MINUTE_US = rules.MINUTE_US
DAY = 24 * 60
# Monday, 2027-03-22; the holiday is the Wednesday.
START = 1_805_673_600 // 60
OFFICE = (Interval(9 * 60, 12 * 60), Interval(13 * 60, 17 * 60))
HOURS = Hours("UTC", (*[OFFICE] * 5, (), ()), frozenset({date(2027, 3, 24)}))
DAYS = 9


def is_open(minute: int) -> bool:
    """Whether a minute since the epoch is one of the business hours."""
    day, of_day = (minute - START) // DAY, minute % DAY
    is_office = 9 * 60 <= of_day < 12 * 60 or 13 * 60 <= of_day < 17 * 60
    return is_office and day % 7 < 5 and day != 2


class PlainClock:
    """Counts the minutes of one target, one by one."""

    def __init__(self, minutes: int) -> None:
        self.minutes, self.used, self.is_told = minutes, 0, False
        self.runs = self.is_ended = False

    def promise(self, minutes: int) -> None:
        if self.runs and minutes != self.minutes and self.used < minutes:
            self.is_told = False
        self.minutes = minutes

    def set_status(self, status: str, policy: Policy) -> None:
        self.is_ended = status in ("resolved", "closed")
        is_late = self.used >= self.minutes
        was_running, is_paused = self.runs, status in policy.pauses_on
        self.runs = not self.is_ended and (not is_paused or (is_late and was_running))
        if was_running and not self.runs:
            self.used = min(self.used, self.minutes)

    def pass_minute(self, minute: int, policy: Policy) -> bool:
        """Whether it is late from the end of this minute on."""
        if not self.runs or (policy.counts == "business" and not is_open(minute)):
            return False
        self.used += 1
        return self.is_now_late()

    def is_now_late(self) -> bool:
        """Whether it is late, and that was not said."""
        is_news = self.runs and self.used >= self.minutes and not self.is_told
        self.is_told |= is_news
        return is_news


class PlainDesk:
    """What the policies of one ticket would have announced."""

    def __init__(self) -> None:
        self.clocks: dict[Target, PlainClock] = {}
        self.breaches: list[tuple[Target, int]] = []

    def see(self, ticket: Ticket, policy: Policy, now: int) -> None:
        """The ticket after a change."""
        answered, waits = ticket.first_response_at is not None, ticket.waiting_since is not None
        if ticket.status in ("resolved", "closed") and ticket.last_reply_by == "customer":
            waits = "next_response" in self.clocks
        wanted = {
            "first_response": not answered,
            "next_response": answered and waits,
            "resolution": True,
        }
        for target in TARGETS:
            minutes = rules.minutes_of(policy, target)
            if minutes is None or not wanted[target]:
                self.clocks.pop(target, None)
                continue
            if target not in self.clocks:
                self.clocks[target] = PlainClock(minutes)
                self.clocks[target].runs = True
            clock = self.clocks[target]
            clock.promise(minutes)
            if clock.is_now_late():
                self.breaches.append((target, now))
            clock.set_status(ticket.status, policy)
            if clock.is_now_late():
                self.breaches.append((target, now))

    def pass_minute(self, minute: int, policy: Policy) -> None:
        for target, clock in self.clocks.items():
            if clock.pass_minute(minute, policy):
                self.breaches.append((target, minute + 1))


def random_policies(random: Random) -> list[Policy]:
    """One for each priority that promises the same targets, so that clocks go on."""
    targets = random.sample(TARGETS, random.randint(1, 3))
    counts: Literal["business", "calendar"] = random.choice(["business", "calendar"])
    pauses = tuple(random.sample(PAUSING, random.randint(0, 2)))
    return [
        Policy(
            id=f"policy-{priority}",
            name=priority,
            position=place,
            priorities=(priority,),
            team_ids=(),
            tags=(),
            customers=(),
            **{
                f"{each}_minutes": random.choice([7, 45, 200, 480, 900])
                if each in targets
                else None
                for each in TARGETS
            },
            counts=counts,
            pauses_on=pauses,
            warning_minutes=random.choice([0, 5]),
            version=1,
            created_at=0,
            updated_at=0,
        )
        for place, priority in enumerate(PRIORITIES, 1)
    ]


class Desk:
    """The same as the service does it: in the transactions of changes, and by the worker."""

    def __init__(self, policies: list[Policy]) -> None:
        self.promises = Promises(tuple(policies), HOURS, {})
        self.alerts: list[Alert] = []
        self.breaches: list[tuple[Target, int]] = []
        self._late_by_change: dict[Target, int] = {}

    def keep(self, ticket: Ticket, now: int) -> Ticket:
        found = rules.clocks_at(ticket, "a@b.test", self.promises, now * MINUTE_US)
        assert found is not None
        for target, each in found.each():
            if each.told < clocks.BREACHED and each.due_us and each.due_us <= now * MINUTE_US:
                self._late_by_change.setdefault(target, now)
        return rules.with_clocks(ticket, found)

    def announce(self, ticket: Ticket, now: int) -> Ticket:
        assert ticket.clocks is not None
        told, alerts = clocks.told(ticket.clocks, now * MINUTE_US)
        self.alerts += alerts
        for each in alerts:
            if each.kind == "ticket.sla_breached":
                at = self._late_by_change.pop(each.target, each.due_us // MINUTE_US)
                self.breaches.append((each.target, at))
        return rules.with_clocks(ticket, told)


def new_ticket(random: Random, now: int) -> Ticket:
    fields: dict[str, Any] = dict.fromkeys(Ticket.__struct_fields__)
    fields |= {"tags": (), "custom_fields": {}, "attachments": (), "version": 1, "reply_count": 0}
    at = now * MINUTE_US
    fields |= {"id": "t", "status": random.choice(["open", "pending"]), "priority": "medium"}
    return Ticket(**fields | dict.fromkeys(("created_at", "updated_at", "waiting_since"), at))


def changed(random: Random, ticket: Ticket, now: int) -> Ticket:
    """The ticket after something happened to it."""
    at = now * MINUTE_US
    kind = random.choice(["status", "status", "priority", "customer", "agent", "note"])
    if kind == "status":
        allowed = ticket_rules.TRANSITIONS[ticket.status]
        return ticket_rules.apply_change(
            ticket, TicketChange(status=random.choice(allowed)), at
        ).after
    if kind == "priority":
        change = TicketChange(priority=random.choice(PRIORITIES))
        return ticket_rules.apply_change(ticket, change, at).after
    if ticket.status == "closed":
        return ticket
    author = Author("customer" if kind == "customer" else "agent", "a", None)
    reply = Reply("", "t", "r", "Text", kind == "note", author, at)
    return ticket_rules.apply_reply(ticket, reply, at).after


def live(seed: int) -> tuple[Desk, PlainDesk]:
    """A random history of nine days."""
    random = Random(seed)
    policies = random_policies(random)
    desk, plain = Desk(policies), PlainDesk()
    begin = START + random.randrange(2 * DAY)
    policy_of = dict(zip(PRIORITIES, policies, strict=True))
    ticket = desk.keep(new_ticket(random, begin), begin)
    plain.see(ticket, policy_of[ticket.priority], begin)
    for now in range(begin, START + DAYS * DAY):
        while random.random() < 1 / 600:
            after = changed(random, desk.announce(ticket, now), now)
            if after.version != ticket.version:
                ticket = desk.keep(after, now)
                plain.see(ticket, policy_of[ticket.priority], now)
            else:
                ticket = after
        if random.random() < 1 / 300:  # the worker comes by
            ticket = desk.announce(ticket, now)
        plain.pass_minute(now, policy_of[ticket.priority])
    desk.announce(ticket, START + DAYS * DAY)
    return desk, plain


def agree(seed: int) -> int:
    """How many breaches there were, in both alike."""
    desk, plain = live(seed)
    assert sorted(desk.breaches) == sorted(plain.breaches), seed
    return len(desk.breaches)


def test_random_histories_agree_with_a_plain_model() -> None:
    assert sum(agree(seed) for seed in range(60)) > 60


@pytest.mark.prove
def test_many_random_histories_agree_with_a_plain_model() -> None:
    assert sum(agree(seed) for seed in range(10_000)) > 10_000
