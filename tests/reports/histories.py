"""Random histories of tickets, and a plain count over all rows afterwards."""

import json
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import datetime
from functools import partial
from random import Random

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError
from sealdesk.mail.ratings import actions as ratings
from sealdesk.mail.ratings import links
from sealdesk.mail.ratings.types import Rating
from sealdesk.reports import sums
from sealdesk.reports.rules import LENGTHS, number_of
from sealdesk.tickets import actions
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.hours.types import Hours, Interval
from sealdesk.tickets.merging import actions as merging
from sealdesk.tickets.merging.types import Merge
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import (
    ENDED,
    STATUSES,
    NewReply,
    NewReplyAuthor,
    NewTicket,
    Source,
    TicketChange,
    TicketCustomer,
)
from tests.support.service import Tenant

HOUR_US = 3600 * 1_000_000
TAGS = ("glaze", "Glaze", "kiln", "shipping")
SOURCES: tuple[Source, ...] = ("api", "dashboard", "email")
PROMISED_MINUTES = 120
CHOICES = ("DHL", "Own van")
_DAY_US = 24 * HOUR_US
_OPENS, _CLOSES = 9, 17  # from Monday to Friday, in UTC
_AT_ONCE = 20
_ALL = "SELECT * FROM tickets WHERE tenant_id = :id ORDER BY id LIMIT 99999"
_SUMS = "SELECT * FROM report_sums WHERE tenant_id = :id ORDER BY dimension, start LIMIT 999999"
# Dimension, length, start and value.
Key = tuple[str, int, int, str]
Plain = dict[str, int]


class History:
    """Acts at random on the tickets of a desk, which promises a first response, and has business
    hours and a custom field with choices.

    seen: which status each ticket had since when, and whether it was reopened then.
    """

    def __init__(self, tenant: Tenant, seed: int, team_ids: list[str], user_ids: list[str]) -> None:
        self.tenant = tenant
        self.random = Random(seed)
        self.ticket_ids: list[str] = []
        self.seen: list[tuple[str, int, str, bool]] = []
        self._teams, self._users = [None, *team_ids], [None, *user_ids]
        promised = {"name": "All", "counts": "calendar", "first_response_minutes": PROMISED_MINUTES}
        field = {"key": "carrier", "label": "Carrier", "type": "choice", "choices": CHOICES}
        assert tenant.admin().post("/api/v1/sla-policies", promised).is_success
        assert tenant.admin().post("/api/v1/custom-fields", field).is_success
        week = ((Interval(_OPENS * 60, _CLOSES * 60),),) * 5 + ((),) * 2
        hours = Hours("UTC", week, frozenset())
        tenant.service.write(lambda tx: hours_store.save(tx, tenant.id, hours, 1))
        actors = [Actor("api_key", "k1", "A"), Actor("api_key", "k2", "B"), Actor("user", "u", "C")]
        self._callers = [Caller(tenant.id, actor, frozenset(), "") for actor in actors]
        self._caller = self._callers[0]
        self._keys: dict[str, str] = {}

    def act(self, count: int) -> None:
        """Act so many times, some of them in one transaction; minutes or hours pass between."""
        service = self.tenant.service
        for _ in range(count // _AT_ONCE):
            service.clock.advance(self.random.expovariate(1 / 900))
            reached = len(self.ticket_ids), len(self.seen)
            service.write(partial(self._act_some, reached=reached))

    async def _act_some(self, tx: Tx, reached: tuple[int, int]) -> None:
        # A transaction may be tried again.
        del self.ticket_ids[reached[0] :], self.seen[reached[1] :]
        for _ in range(_AT_ONCE):
            with suppress(ApiError):  # as of a reply to a closed ticket, or a merge into itself
                await self._act(tx, self.tenant.service.clock.now_us())

    async def _act(self, tx: Tx, now_us: int) -> None:
        if len(self.ticket_ids) < 5 or self.random.random() < 0.25:
            await self._open(tx, now_us)
            return
        ticket_id = self.random.choice(self.ticket_ids[-60:])
        before = await self._status(tx, ticket_id)
        kinds = ["change", "reply", "rate", "merge", "undo"]
        kind = self.random.choices(kinds, [5, 4, 1, 0.5, 0.5])[0]
        if kind == "change":
            change = self._change()
            await actions.change_ticket(
                tx, self._caller, ticket_id, change, if_match=None, now_us=now_us
            )
        elif kind == "reply":
            author = self.random.choice([None, NewReplyAuthor("customer")])
            new = NewReply("text", is_internal=self.random.random() < 0.1, author=author)
            await actions.reply(tx, self._caller, ticket_id, new, now_us=now_us)
        elif kind == "rate":
            opened = links.opened_until(self.tenant.id, ticket_id, now_us)
            given = Rating(self.random.randint(1, 5))
            await ratings.rate(tx, opened, given, self.tenant.service.state.key_ring, now_us)
        elif kind == "merge":
            into = Merge(self.random.choice(self.ticket_ids[-60:]))
            await merging.merge(tx, self._caller, ticket_id, into, now_us=now_us)
        else:
            await merging.undo(tx, self._caller, ticket_id, now_us=now_us)
        after = await self._status(tx, ticket_id)
        is_reopened = before in ENDED and after not in ENDED and kind != "undo"
        self.seen.append((ticket_id, now_us, after, is_reopened))

    async def _open(self, tx: Tx, now_us: int) -> None:
        new = NewTicket(
            "Help",
            "Please",
            TicketCustomer(f"c{self.random.randrange(9)}@example.test"),
            status=self.random.choice(["open", "open", "resolved"]),
            team_id=self.random.choice(self._teams),
            assignee_id=self.random.choice(self._users),
            tags=self.random.sample(TAGS, self.random.randrange(3)),
            custom_fields=self._custom_fields(),
        )
        source, caller = self.random.choice(SOURCES), self.random.choice(self._callers)
        opened = await actions.open_ticket(tx, caller, new, source=source, now_us=now_us)
        self._keys[opened.id] = caller.actor.id if caller.actor.kind == "api_key" else ""
        self.ticket_ids.append(opened.id)
        self.seen.append((opened.id, now_us, new.status, False))

    def _change(self) -> TicketChange:
        match self.random.randrange(5):
            case 0:
                return TicketChange(team_id=self.random.choice(self._teams))
            case 1:
                return TicketChange(assignee_id=self.random.choice(self._users))
            case 2:
                return TicketChange(tags=self.random.sample(TAGS, self.random.randrange(3)))
            case 3:
                return TicketChange(custom_fields=self._custom_fields())
        return TicketChange(status=self.random.choice(STATUSES))

    def _custom_fields(self) -> dict[str, object]:
        return {"carrier": self.random.choice([*CHOICES, None]), "free": self.random.choice(TAGS)}

    async def _status(self, tx: Tx, ticket_id: str) -> str:
        stored = await ticket_store.find(tx, self.tenant.id, ticket_id)
        assert stored is not None
        return stored.ticket.status

    def plain_count(self) -> dict[Key, Plain]:
        """What reports must have, counted over all tickets one by one."""
        found: dict[Key, Counter[str]] = defaultdict(Counter)
        statuses: dict[str, list[tuple[int, str]]] = defaultdict(list)
        reopened: dict[str, list[int]] = defaultdict(list)
        for ticket_id, at, status, is_reopened in self.seen:
            statuses[ticket_id].append((at, status))
            if is_reopened:
                reopened[ticket_id].append(at)
        for row in self.tenant.service.rows(_ALL, id=self.tenant.id):
            if row["merged_into_id"] is not None:
                continue
            values = [("desk", ""), ("source", row["source"])]
            values += [("team", row["team_id"] or ""), ("assignee", row["assignee_id"] or "")]
            values += [("tag", tag) for tag in self._tags(row["id"])]
            values.append(("key", self._keys[row["id"]]))
            carrier = json.loads(row["custom_fields"]).get("carrier")
            values += [("field:carrier", carrier)] if carrier else []
            ended_at = row["resolved_at"] or row["closed_at"]
            happened = [(row["created_at"], "created")]
            happened += [(at, "reopened") for at in reopened[row["id"]]]
            for kind, at in (("a", row["first_response_at"]), ("r", ended_at)):
                if at is not None:
                    happened.append((at, f"{kind}{number_of(at - row['created_at'])}"))
                    worked_us = _worked_us(row["created_at"], at)
                    happened.append((at, f"{kind.upper()}{number_of(worked_us)}"))
            if row["first_response_at"] is not None:
                waited_us = _waited_us(statuses[row["id"]], row["first_response_at"])
                is_kept = waited_us < PROMISED_MINUTES * 60 * 1_000_000
                happened.append((row["first_response_at"], "kept" if is_kept else "missed"))
            if row["rating"] is not None:
                rated_at = datetime.fromisoformat(json.loads(row["satisfaction"])["rated_at"])
                happened.append((round(rated_at.timestamp() * 1_000_000), f"s{row['rating']}"))
            for dimension, value in values:
                for at, key in happened:
                    for length in LENGTHS:
                        start = at // (length * HOUR_US) * length
                        found[dimension, length, start, value][key] += 1
        return {place: dict(sums) for place, sums in found.items()}

    def _tags(self, ticket_id: str) -> list[str]:
        sql = "SELECT tag FROM ticket_tags WHERE tenant_id = :id AND ticket_id = :of LIMIT 99"
        return [
            row["tag"] for row in self.tenant.service.rows(sql, id=self.tenant.id, of=ticket_id)
        ]

    def recorded(self) -> dict[Key, Plain]:
        """What reports have."""
        rows = self.tenant.service.rows(_SUMS, id=self.tenant.id)
        return {
            (row["dimension"], row["length"], row["start"], row["value"]): sums.read(row["sums"])
            for row in rows
        }


def _worked_us(start: int, end: int) -> int:
    """How much of business hours lies between two times."""
    return sum(
        max(0, min(day + _CLOSES * HOUR_US, end) - max(day + _OPENS * HOUR_US, start))
        for day in range(start // _DAY_US * _DAY_US, end, _DAY_US)
        if (day // _DAY_US + 3) % 7 < 5  # 1970-01-01 was a Thursday
    )


def _waited_us(known: list[tuple[int, str]], until: int) -> int:
    """How long a ticket was not ended until a time."""
    ends = [min(at, until) for at, _ in known[1:]] + [until]
    return sum(
        end - start
        for (start, status), end in zip(known, ends, strict=True)
        if status not in ENDED and end > start
    )


def is_counted(tenant: Tenant) -> bool:
    """Whether reports have all events, and are not being rebuilt."""
    sql = """
SELECT 1 FROM event_outbox UNION ALL SELECT 1 FROM events
WHERE log_position > coalesce((SELECT position FROM log_positions WHERE name = 'reports'), 0)
UNION ALL SELECT 1 FROM report_rebuilds WHERE tenant_id = :id
LIMIT 1
"""
    return not tenant.service.rows(sql, id=tenant.id)
