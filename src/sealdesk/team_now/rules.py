"""Sums and medians of the page "Team now"."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median

from sealdesk.team_now.types import FirstReply, Group, Load, Presence


def loads_by(groups: Sequence[Group], key: Callable[[Group], str | None]) -> dict[str | None, Load]:
    """The loads of the people or the teams of these groups."""
    summed: dict[str | None, list[int]] = defaultdict(lambda: [0, 0, 0])
    for group in groups:
        unassigned = group.open if group.assignee_id is None else 0
        for place, count in enumerate((group.open, group.waiting, unassigned)):
            summed[key(group)][place] += count
    return {name: Load(*counts) for name, counts in summed.items()}


def presence(*, is_present: bool, is_away: bool) -> Presence:
    """Who says to be away is, even where they do something."""
    return "away" if is_away else "present" if is_present else "not_here"


def median_us(replies: Sequence[FirstReply]) -> int | None:
    """The median time to the first reply, None if there was none."""
    times = [each.after_us for each in replies if each.after_us is not None]
    return int(median(times)) if times else None
