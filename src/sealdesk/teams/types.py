"""The structs of teams and their members: as requested, as stored, and as shown."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.resources.representation import check_visible

Assignment = Literal["by_hand", "round_robin"]
# Counting the open tickets of a member reads as many entries of an index.
MAX_CAPACITY = 100
TeamName = Annotated[str, Meta(min_length=1, max_length=64, extra={"check": check_visible})]
Capacity = Annotated[int, Meta(ge=1, le=MAX_CAPACITY)]


class NewTeam(msgspec.Struct, frozen=True):
    """The body of a request that creates a team.

    name: different from those of the other teams, regardless of case.
    assignment: `round_robin` gives each ticket of the team to a member who is there and has room.
    capacity: the most open tickets that a member has before round robin gives them none.
    """

    name: TeamName
    assignment: Assignment = "by_hand"
    capacity: Capacity = 10


class TeamChange(msgspec.Struct, frozen=True):
    """The body of a request that changes a team; omitted fields do not change."""

    name: TeamName | UnsetType = UNSET
    assignment: Assignment | UnsetType = UNSET
    capacity: Capacity | UnsetType = UNSET


class NewMember(msgspec.Struct, frozen=True):
    """The body of a request that adds a member to a team.

    user_id: an active user of the tenant; GET /api/v1/external/agents lists them.
    capacity: in place of that of the team; null for that of the team. A member who is added again
    gets it, and keeps theirs if it is left out.
    """

    user_id: str
    capacity: Capacity | UnsetType | None = UNSET


class Team(msgspec.Struct, frozen=True):
    """A team as it is stored. deleted_at: tickets still name it."""

    tenant_id: str
    id: str
    name: str
    assignment: Assignment
    capacity: int
    created_at: int
    deleted_at: int | None


class Member(msgspec.Struct, frozen=True):
    """A user in a team. open_count: of their open tickets, at most MAX_CAPACITY.

    seen_at: when they last did something in a page, None if unknown. last_assigned_at: by round
    robin. away_at: since when they are away by their own word, None if they are not. capacity: in
    place of the team's, None for that of the team.
    """

    user_id: str
    name: str
    is_active: bool
    seen_at: int | None
    last_assigned_at: int | None
    open_count: int
    away_at: int | None = None
    capacity: int | None = None


class TeamResponse(msgspec.Struct, frozen=True):
    """A team.

    name: shown on tickets.
    assignment: `by_hand`, or `round_robin` by free capacity.
    capacity: the most open tickets that a member has before round robin gives them none.
    deleted_at: null unless it was deleted; its tickets still name it.
    """

    id: Id
    name: str
    assignment: Assignment
    capacity: int
    created_at: Iso
    deleted_at: Iso | None


class MemberResponse(msgspec.Struct, frozen=True):
    """A member of a team.

    id: of the user.
    is_active: deactivated users are given no tickets.
    is_present: whether they did something in a page within the last five minutes.
    is_away: whether they said so: round robin gives them none until they are back.
    open_ticket_count: how many open tickets they have, of any team; 100 stands for more.
    capacity: their own, in place of that of the team; null for that of the team.
    """

    id: Id
    name: str
    is_active: bool
    is_present: bool
    is_away: bool
    open_ticket_count: int
    capacity: int | None


class TeamRef(msgspec.Struct, frozen=True):
    """A team that tickets can be given to."""

    id: Id
    name: str
