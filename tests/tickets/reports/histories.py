"""Random histories of tickets, and a plain count over all rows afterwards."""

import json
from collections import Counter, defaultdict
from contextlib import suppress
from random import Random

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError
from sealdesk.tickets import actions
from sealdesk.tickets.merging import actions as merging
from sealdesk.tickets.merging.types import Merge
from sealdesk.tickets.reports.rules import LENGTHS, number_of
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.types import (
    ENDED,
    STATUSES,
    NewReply,
    NewReplyAuthor,
    NewTicket,
    Source,
    TicketChange,
    TicketCustomer,
)
from tests.support.service import Service, Tenant

HOUR_US = 3600 * 1_000_000
TAGS = ("glaze", "Glaze", "kiln", "shipping")
SOURCES: tuple[Source, ...] = ("api", "dashboard", "email")
_AT_ONCE = 20
_ALL = "SELECT * FROM tickets WHERE tenant_id = :id ORDER BY id LIMIT 99999"
_SUMS = "SELECT * FROM report_sums WHERE tenant_id = :id ORDER BY dimension, start LIMIT 999999"
# Dimension, length, start and value.
Key = tuple[str, int, int, str]
Plain = dict[str, int]


class History:
    """Acts at random on the tickets of a desk. reopened: when each ticket was, as seen here."""

    def __init__(self, tenant: Tenant, seed: int, team_ids: list[str], user_ids: list[str]) -> None:
        self.tenant = tenant
        self.random = Random(seed)
        self.ticket_ids: list[str] = []
        self.reopened: dict[str, list[int]] = defaultdict(list)
        self._teams, self._users = [None, *team_ids], [None, *user_ids]
        self._caller = Caller(tenant.id, Actor("api_key", "k", "test"), frozenset(), "")

    def act(self, count: int) -> None:
        """Act so many times, some of them in one transaction; minutes or hours pass between."""
        service = self.tenant.service
        for _ in range(count // _AT_ONCE):
            service.clock.advance(self.random.expovariate(1 / 900))
            service.write(self._act_some)

    async def _act_some(self, tx: Tx) -> None:
        for _ in range(_AT_ONCE):
            with suppress(ApiError):  # as of a reply to a closed ticket, or a merge into itself
                await self._act(tx, self.tenant.service.clock.now_us())

    async def _act(self, tx: Tx, now_us: int) -> None:
        if len(self.ticket_ids) < 5 or self.random.random() < 0.25:
            await self._open(tx, now_us)
            return
        ticket_id = self.random.choice(self.ticket_ids[-60:])
        before = await self._status(tx, ticket_id)
        kind = self.random.choices(["change", "reply", "merge", "undo"], [5, 4, 0.5, 0.5])[0]
        if kind == "change":
            change = self._change()
            await actions.change_ticket(
                tx, self._caller, ticket_id, change, if_match=None, now_us=now_us
            )
        elif kind == "reply":
            author = self.random.choice([None, NewReplyAuthor("customer")])
            new = NewReply("text", is_internal=self.random.random() < 0.1, author=author)
            await actions.reply(tx, self._caller, ticket_id, new, now_us=now_us)
        elif kind == "merge":
            into = Merge(self.random.choice(self.ticket_ids[-60:]))
            await merging.merge(tx, self._caller, ticket_id, into, now_us=now_us)
        else:
            await merging.undo(tx, self._caller, ticket_id, now_us=now_us)
            return
        after = await self._status(tx, ticket_id)
        if before in ENDED and after not in ENDED:
            self.reopened[ticket_id].append(now_us)

    async def _open(self, tx: Tx, now_us: int) -> None:
        new = NewTicket(
            "Help",
            "Please",
            TicketCustomer(f"c{self.random.randrange(9)}@example.test"),
            status=self.random.choice(["open", "open", "resolved"]),
            team_id=self.random.choice(self._teams),
            assignee_id=self.random.choice(self._users),
            tags=self.random.sample(TAGS, self.random.randrange(3)),
        )
        source = self.random.choice(SOURCES)
        opened = await actions.open_ticket(tx, self._caller, new, source=source, now_us=now_us)
        self.ticket_ids.append(opened.id)

    def _change(self) -> TicketChange:
        match self.random.randrange(4):
            case 0:
                return TicketChange(team_id=self.random.choice(self._teams))
            case 1:
                return TicketChange(assignee_id=self.random.choice(self._users))
            case 2:
                return TicketChange(tags=self.random.sample(TAGS, self.random.randrange(3)))
        return TicketChange(status=self.random.choice(STATUSES))

    async def _status(self, tx: Tx, ticket_id: str) -> str:
        stored = await ticket_store.find(tx, self.tenant.id, ticket_id)
        assert stored is not None
        return stored.ticket.status

    def plain_count(self) -> dict[Key, Plain]:
        """What reports must have, counted over all tickets one by one."""
        found: dict[Key, Counter[str]] = defaultdict(Counter)
        for row in self.tenant.service.rows(_ALL, id=self.tenant.id):
            if row["merged_into_id"] is not None:
                continue
            values = [("desk", ""), ("source", row["source"])]
            values += [("team", row["team_id"] or ""), ("assignee", row["assignee_id"] or "")]
            values += [("tag", tag) for tag in self._tags(row["id"])]
            ended_at = row["resolved_at"] or row["closed_at"]
            happened = [(row["created_at"], "created")]
            happened += [(at, "reopened") for at in self.reopened[row["id"]]]
            for kind, at in (("a", row["first_response_at"]), ("r", ended_at)):
                if at is not None:
                    happened.append((at, f"{kind}{number_of(at - row['created_at'])}"))
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
            (row["dimension"], row["length"], row["start"], row["value"]): json.loads(row["sums"])
            for row in rows
        }


def is_counted(service: Service) -> bool:
    """Whether reports have all events."""
    sql = """
SELECT 1 FROM event_outbox UNION ALL SELECT 1 FROM events
WHERE log_position > coalesce((SELECT position FROM log_positions WHERE name = 'reports'), 0)
LIMIT 1
"""
    return not service.rows(sql)
