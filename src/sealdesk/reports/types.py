"""What reports count: of a ticket, and in an hour."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import msgspec

from sealdesk.tickets.ticket.types import Satisfaction

# By what tickets are told apart: one of these, or a custom field as "field:carrier". "desk" is all
# of them.
Dimension = str
DIMENSIONS = ("desk", "team", "assignee", "source", "tag", "key")
FIELD = "field:"
# What happened to a ticket, or what it is now, for lists of the tickets behind a number.
Happening = Literal[
    "created", "answered", "resolved", "reopened", "kept", "missed", "rated", "unfinished"
]
HAPPENINGS: tuple[Happening, ...] = get_args(Happening)


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is counted of a ticket, with times in microseconds.

    answered_at: of the first public reply that was not the customer's. answered_work,
    resolved_work: how much of business hours that took, as the number of a duration; None if there
    were none. tags: their identities.
    key_id: of the API key that created it. fields: chosen values of custom fields, by dimension.
    reopened_at: each time that the ticket was reopened. answered_in_time, resolved_in_time: as its
    SLA policy promises, None without a promise. rating: from 1 to 5.
    """

    created_at: int
    source: str
    team_id: str = ""
    assignee_id: str = ""
    tags: tuple[str, ...] = ()
    answered_at: int | None = None
    resolved_at: int | None = None
    reopened_at: tuple[int, ...] = ()
    answered_in_time: bool | None = None
    resolved_in_time: bool | None = None
    rating: int = 0
    rated_at: int | None = None
    key_id: str = ""
    fields: dict[str, str] = {}
    answered_work: int | None = None
    resolved_work: int | None = None


class FieldChoices(NamedTuple):
    """A custom field that is counted. choices: by their identities."""

    dimension: Dimension
    label: str
    choices: Mapping[str, str]


class RatedTicket(NamedTuple):
    """A ticket with the rating of its customer."""

    id: str
    number: int
    subject: str
    team_id: str | None
    assignee_id: str | None
    satisfaction: Satisfaction


class Place(NamedTuple):
    """A row of sums: of a value of a dimension, in so many hours since a start.

    start: in hours since 1970, in UTC; a multiple of the length.
    """

    dimension: Dimension
    length: int
    start: int
    value: str


class Range(NamedTuple):
    """Adjacent rows of one length, from the first start up to the end."""

    length: int
    first: int
    end: int


# How often each thing happened: "created", "reopened", "kept" and "missed" for promises of SLA
# policies, "a" or "r" with the number of a duration for an answer or a resolution that took so
# long, "A" or "R" with that of the business hours in it, and "s" with a rating.
Sums = Counter[str]


class Selection(NamedTuple):
    """The tickets behind a number: those to which something happened from a time up to another.

    dimension, value: whose tickets they are.
    """

    happening: Happening
    first: int
    end: int
    dimension: Dimension = "desk"
    value: str = ""


class Age(NamedTuple):
    """How long ago a ticket was created: at least so many days, and less than so many."""

    days: int
    end: int | None


AGES = (Age(0, 1), Age(1, 3), Age(3, 7), Age(7, 30), Age(30, None))


class Rebuild(NamedTuple):
    """How far the rebuild of a desk's reports is. is_clearing: old rows are deleted first.

    ticket_id: up to which the tickets are counted.
    """

    is_clearing: bool
    ticket_id: str
