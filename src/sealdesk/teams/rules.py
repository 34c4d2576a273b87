"""Who is given the next ticket of a team; no IO."""

from collections.abc import Sequence

import msgspec

from sealdesk.resources import representation
from sealdesk.teams.types import Member, MemberResponse, TeamResponse

MAX_MEMBERS = 50
# Somebody who reads or writes in a page is heard of each minute, without scripts when they go on.
PRESENT_US = 5 * 60 * 1_000_000

to_response = representation.response_builder(TeamResponse)


def is_present(member: Member, now_us: int) -> bool:
    """Whether a member has used a page lately."""
    return member.seen_at is not None and member.seen_at >= now_us - PRESENT_US


def member_response(member: Member, now_us: int) -> MemberResponse:
    """A member as the API shows them."""
    return MemberResponse(
        member.user_id,
        member.name,
        member.is_active,
        is_present(member, now_us),
        member.away_at is not None,
        member.open_count,
        member.capacity,
    )


def room(member: Member, capacity: int) -> int:
    """How many tickets a member can be given. capacity: of the team."""
    return (member.capacity or capacity) - member.open_count


def available(members: Sequence[Member], capacity: int, now_us: int) -> list[Member]:
    """The members who can be given a ticket now."""
    return [
        each
        for each in members
        if each.is_active
        and each.away_at is None
        and is_present(each, now_us)
        and room(each, capacity) > 0
    ]


def take_turns(members: Sequence[Member], capacity: int, count: int, now_us: int) -> list[str]:
    """The users to whom the next tickets go, one for each ticket, fewer when nobody has room.

    Each goes to who has the most room, of equals to who was given one longest ago.
    """

    def turn(member: Member) -> tuple[int, int, str]:
        return -room(member, capacity), member.last_assigned_at or 0, member.user_id

    waiting = {each.user_id: each for each in available(members, capacity, now_us)}
    turns: list[str] = []
    while waiting and len(turns) < count:
        chosen = min(waiting.values(), key=turn)
        turns.append(chosen.user_id)
        later = now_us + len(turns)
        given = msgspec.structs.replace(
            chosen, open_count=chosen.open_count + 1, last_assigned_at=later
        )
        waiting[given.user_id] = given
        if room(given, capacity) <= 0:
            del waiting[given.user_id]
    return turns
