"""The structs of SLA policies: as requested, as stored, and as shown."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.resources.representation import check_visible
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.ticket.types import Priority, Tag

# business: minutes of the hours of the ticket's team, or of the desk. calendar: by the clock.
Count = Literal["business", "calendar"]
Pausing = Literal["pending", "on_hold"]
PAUSING: tuple[Pausing, ...] = ("pending", "on_hold")

MAX_POLICIES = 50
MAX_MINUTES = 366 * 24 * 60

PolicyName = Annotated[str, Meta(min_length=1, max_length=100, extra={"check": check_visible})]
Position = Annotated[int, Meta(ge=1, le=MAX_POLICIES)]
Minutes = Annotated[int, Meta(ge=1, le=MAX_MINUTES)]
Priorities = Annotated[list[Priority], Meta(max_length=4)]
TeamIds = Annotated[list[str], Meta(max_length=20)]
Tags = Annotated[list[Tag], Meta(max_length=20)]
CustomerText = Annotated[str, Meta(min_length=3, max_length=320, extra={"check": check_visible})]
Customers = Annotated[list[CustomerText], Meta(max_length=50)]
Statuses = Annotated[list[Pausing], Meta(max_length=2)]


class NewPolicy(msgspec.Struct, frozen=True):
    """The body of a request that creates an SLA policy.

    position: its place among the policies, of which the first that matches is used; if it is left
    out, before the first one that matches all of the same tickets, otherwise at the end.
    priorities, team_ids, tags: one of which the ticket has; empty for any.
    customers: e-mail addresses, or domains as in `@example.com`; empty for any.
    first_response_minutes: until the first public reply; null if nothing is promised.
    next_response_minutes: until the reply to each later message of the customer.
    resolution_minutes: until the ticket is resolved or closed.
    counts: whether minutes of the business hours are counted, or all minutes.
    pauses_on: the statuses in which the clocks stand still.
    warning_minutes: how long before a breach the desk warns; 0 for no warning.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "version", "created_at", "updated_at"})
    IS_CLOSED: ClassVar[bool] = True  # a policy whose condition is not read is that of all tickets

    name: PolicyName
    position: Position | None = None
    priorities: Priorities = []
    team_ids: TeamIds = []
    tags: Tags = []
    customers: Customers = []
    first_response_minutes: Minutes | None = None
    next_response_minutes: Minutes | None = None
    resolution_minutes: Minutes | None = None
    counts: Count = "business"
    pauses_on: Statuses = []
    warning_minutes: Annotated[int, Meta(ge=0, le=MAX_MINUTES)] = 0


class PolicyChange(msgspec.Struct, frozen=True):
    """A merge patch of an SLA policy; lists are replaced as a whole."""

    IS_CLOSED: ClassVar[bool] = True

    name: PolicyName | UnsetType = UNSET
    position: Position | UnsetType = UNSET
    priorities: Priorities | UnsetType = UNSET
    team_ids: TeamIds | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    customers: Customers | UnsetType = UNSET
    first_response_minutes: Minutes | UnsetType | None = UNSET
    next_response_minutes: Minutes | UnsetType | None = UNSET
    resolution_minutes: Minutes | UnsetType | None = UNSET
    counts: Count | UnsetType = UNSET
    pauses_on: Statuses | UnsetType = UNSET
    warning_minutes: Annotated[int, Meta(ge=0, le=MAX_MINUTES)] | UnsetType = UNSET


class PolicyFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of an SLA policy that the API shows as they are stored.

    position: its place; the first policy that matches a ticket is used.
    priorities, team_ids, tags, customers: one of which the ticket has; empty for any.
    counts: whether minutes of the business hours are counted, or all minutes.
    pauses_on: the statuses in which the clocks stand still.
    warning_minutes: how long before a breach the desk warns; 0 for no warning.
    version: rises with each change.
    """

    id: Id
    name: str
    position: int
    priorities: tuple[Priority, ...]
    team_ids: tuple[Id, ...]
    tags: tuple[str, ...]
    customers: tuple[str, ...]
    first_response_minutes: int | None
    next_response_minutes: int | None
    resolution_minutes: int | None
    counts: Count
    pauses_on: tuple[Pausing, ...]
    warning_minutes: int
    version: int


class Policy(PolicyFields, frozen=True, kw_only=True):
    """An SLA policy as it is stored."""

    created_at: int
    updated_at: int


class PolicyResponse(PolicyFields, frozen=True, kw_only=True):
    """An SLA policy as the API shows it."""

    created_at: Iso
    updated_at: Iso


class Promises(NamedTuple):
    """The policies of a desk in their order, and the business hours if one counts them.

    hours: of the desk. of_teams: of the asked teams that have their own.
    """

    policies: Sequence[Policy]
    hours: Hours | None
    of_teams: Mapping[str, Hours]
