"""The built-in views, and who may change saved ones; no IO."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sealdesk.errors import gettext_noop
from sealdesk.tickets.views.types import DESK, View

MAX_VIEWS = 50  # of one owner: a sidebar of 105 views is already a list to search in
Direction = Literal["up", "down"]


class BuiltIn(NamedTuple):
    """A view that every desk has. label: a message. query: of the inbox, as its URL says it."""

    key: str
    label: str
    query: str


BUILT_IN = (
    BuiltIn("mine", gettext_noop("Mine"), "assignee=me"),
    BuiltIn("unassigned", gettext_noop("Unassigned"), "assignee=nobody"),
    BuiltIn("waiting", gettext_noop("Waiting for us"), "status=all&sort=waiting"),
    BuiltIn("urgent", gettext_noop("Urgent"), "priority=urgent"),
    BuiltIn("followed", gettext_noop("Followed by me"), "followed=yes"),
    BuiltIn("snoozed", gettext_noop("Snoozed"), "status=all&snoozed=yes"),
    BuiltIn("closed", gettext_noop("Recently closed"), "status=closed"),
)


def find_built_in(key: str) -> BuiltIn | None:
    return next((each for each in BUILT_IN if each.key == key), None)


def team_query(team_id: str) -> str:
    """The view that each team has: its open tickets."""
    return f"team={team_id}"


def changeable_owners(user_id: str, *, is_administrator: bool) -> tuple[str, ...]:
    """Whose views a user may change: their own ones, and as an administrator those of the desk."""
    return (user_id, DESK) if is_administrator else (user_id,)


def move(views: Sequence[View], view_id: str, direction: Direction) -> list[str]:
    """The ids of an owner's views in their order, after one has changed places with the next."""
    ordered = [view.id for view in views]
    if view_id not in ordered:
        return ordered
    place = ordered.index(view_id)
    other = place + (1 if direction == "down" else -1)
    if 0 <= other < len(ordered):
        ordered[place], ordered[other] = ordered[other], ordered[place]
    return ordered
