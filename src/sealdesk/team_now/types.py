"""What the page "Team now" counts and lists."""

from typing import Literal, NamedTuple

import msgspec

from sealdesk.tickets.ticket.clocks import Due
from sealdesk.tickets.ticket.types import Priority

Presence = Literal["present", "away", "not_here"]


class Load(msgspec.Struct, frozen=True):
    """Open tickets of a person or a team, those asleep left out.

    waiting: those whose customer waits for a reply. unassigned: those that nobody has.
    """

    open: int = 0
    waiting: int = 0
    unassigned: int = 0


class Group(NamedTuple):
    """Open tickets with the same person and team. waiting: of them."""

    assignee_id: str | None
    team_id: str | None
    open: int
    waiting: int


class Waiting(NamedTuple):
    """A ticket whose customer waits. since_us: for a reply. due: by an SLA policy."""

    id: str
    number: int
    subject: str
    priority: Priority
    assignee_id: str | None
    team_id: str | None
    since_us: int
    due: Due | None


class FirstReply(NamedTuple):
    """A ticket of the last 24 hours. after_us: how long its first reply took; None without one."""

    id: str
    number: int
    assignee_id: str | None
    team_id: str | None
    after_us: int | None


class Person(NamedTuple):
    """A user with their load and their first replies of 24 hours."""

    id: str
    name: str
    presence: Presence
    load: Load
    replies: list[FirstReply]
    median_us: int | None


class TeamLoad(NamedTuple):
    """A team with its load and the median time of its first replies of 24 hours.

    due_us: when something is due first.
    """

    id: str
    name: str
    load: Load
    reply_count: int
    median_us: int | None
    due_us: int | None
