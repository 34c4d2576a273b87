"""Who is given the next tickets of a team."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sealdesk.teams import rules
from sealdesk.teams.rules import PRESENT_US
from sealdesk.teams.types import Member

NOW = 10**15


def member(
    user_id: str,
    open_count: int = 0,
    *,
    last: int | None = None,
    seen: int | None = NOW,
    is_active: bool = True,
    capacity: int | None = None,
) -> Member:
    return Member(user_id, user_id, is_active, seen, last, open_count, capacity=capacity)


def test_a_ticket_goes_to_who_has_the_most_room() -> None:
    assert rules.take_turns([member("a", 2), member("b", 1), member("c", 3)], 5, 1, NOW) == ["b"]


def test_the_room_of_a_member_is_by_their_own_capacity() -> None:
    members = [member("part time", 1, capacity=2), member("a", 3), member("b", 9, capacity=12)]
    assert rules.take_turns(members, 5, 9, NOW) == ["b", "a", "b", "part time", "a", "b"]


def test_of_equals_it_goes_to_who_was_given_one_longest_ago() -> None:
    members = [member("a", last=9), member("b", last=5), member("c", last=7)]
    assert rules.take_turns(members, 5, 3, NOW) == ["b", "c", "a"]
    assert rules.take_turns([*members, member("d")], 5, 1, NOW) == ["d"]


def test_tickets_go_round() -> None:
    members = [member("a"), member("b"), member("c")]
    assert rules.take_turns(members, 9, 7, NOW) == ["a", "b", "c", "a", "b", "c", "a"]


def test_a_full_absent_or_deactivated_member_is_given_none() -> None:
    members = [
        member("full", 2),
        member("never"),
        member("gone", seen=NOW - PRESENT_US - 1),
        member("off", is_active=False),
        member("last", seen=NOW - PRESENT_US),
    ]
    members[1] = member("never", seen=None)
    assert rules.take_turns(members, 2, 9, NOW) == ["last", "last"]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(0, 9)), max_size=6),
    st.integers(1, 5),
    st.integers(0, 20),
)
def test_nobody_gets_more_than_the_capacity_and_room_is_used(
    loads: list[tuple[int, int | None]], capacity: int, count: int
) -> None:
    members = [member(str(n), load, last=last) for n, (load, last) in enumerate(loads)]
    given_to = Counter(rules.take_turns(members, capacity, count, NOW))
    room = {each.user_id: max(0, capacity - each.open_count) for each in members}
    assert all(number <= room[user] for user, number in given_to.items())
    assert sum(given_to.values()) == min(count, sum(room.values()))
    # Fair: nobody who got one has now two more than somebody who had room left.
    after = {each.user_id: each.open_count + given_to[each.user_id] for each in members}
    spare = [after[user] for user in room if given_to[user] < room[user]]
    assert not spare or all(after[user] <= min(spare) + 1 for user in given_to)
