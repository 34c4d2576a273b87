"""The SQL that counts the tickets of several lists at once, each up to a bound.

A list that one index serves reads at most MAX_COUNT + 1 entries of it. Of another list, the newest
tickets of its most selective filter are examined. So a count costs the same however many tickets
there are.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store import selection
from sealdesk.tickets.ticket.store.filters import MEMBERSHIPS, Filter

MAX_COUNT = 100
_MAX_EXAMINED = 1000  # of all lists together
_FACTOR = _MAX_EXAMINED + 1
_PARAMETER = re.compile(r":(?!tenant_id\b)(\w+)")
_OF_TENANT = "t.tenant_id = :tenant_id"
# The filters by which tickets may be examined, the most selective ones first.
_LEADING = """
    is_snoozed is_waiting external_id customer_id tag follower_id assignee_id team_id priority
    status
""".split()


class Count(NamedTuple):
    """How many tickets a list has. is_exact: otherwise there are at least so many."""

    number: int
    is_exact: bool


async def count_lists(tx: Tx, tenant_id: str, lists: Sequence[Filter]) -> list[Count]:
    """The count of each list, in one statement."""
    params: dict[str, object] = {"tenant_id": tenant_id}
    lists = [_without_order(each) for each in lists]
    examined = _MAX_EXAMINED // max(1, sum(not _has_index(each) for each in lists))
    columns = [_column(place, each, params, examined) for place, each in enumerate(lists)]
    row = await tx.fetch_one(f"SELECT {', '.join(columns)}", params) if columns else None
    if row is None:
        return []
    return [_count(row[place], each, examined) for place, each in enumerate(lists)]


def _without_order(filters: Filter) -> Filter:
    """The same tickets in the default order; the order by waiting has only those who wait."""
    is_waiting = True if filters.sort_by == "waiting_since" else filters.is_waiting
    return msgspec.structs.replace(
        filters, sort_by="created_at", newest_first=True, is_waiting=is_waiting, index=None
    )


def _has_index(filters: Filter) -> bool:
    """Whether the entries of one index are the tickets of the list, in whatever order."""
    if filters.is_snoozed is False and (filters.tag or filters.follower_id):
        return False
    names = {name for name in _LEADING if getattr(filters, name)}
    if filters.is_unassigned:
        names.add("is_unassigned")
    return len(names) <= 1 or names in _SHARED or _is_urgent_in_status(filters, names)


_SHARED = (
    {"status", "assignee_id"},
    {"status", "is_unassigned"},
    {"status", "is_snoozed"},
    {"status", "team_id"},
)


def _is_urgent_in_status(filters: Filter, names: set[str]) -> bool:
    return names == {"status", "priority"} and filters.priority == ("urgent",)


def _column(place: int, filters: Filter, params: dict[str, object], examined: int) -> str:
    """A column that counts one list.

    Where tickets are examined: how many were, times _FACTOR, and how many of them match.
    """
    own: dict[str, object] = {}
    if _has_index(filters):
        own["limit"] = MAX_COUNT + 1
        sql = f"(SELECT count(*) FROM ({_ids(filters, own)}) x)"
    else:
        own["limit"] = examined
        is_few = filters.is_waiting or filters.is_snoozed
        leading = _leading(filters)
        newest = (
            selection.newest_ids(leading, own)
            if leading.assignee_id
            else _ids(leading, own, "" if is_few else " ORDER BY 1 DESC")
        )
        matches = selection.conditions(filters, own)
        sql = (
            f"(SELECT count(*) * {_FACTOR}"
            f" + coalesce(sum(CASE WHEN {matches} THEN 1 ELSE 0 END), 0)"
            f" FROM ({newest}) x JOIN tickets t ON {_OF_TENANT} AND t.id = x.id)"
        )
    params.update({f"v{place}_{name}": value for name, value in own.items()})
    named = _PARAMETER.sub(rf":v{place}_\1", sql)
    return f"{named} AS v{place}"


def _ids(filters: Filter, params: dict[str, object], order: str = "") -> str:
    """The ids of a list, up to :limit of them."""
    name = next((each for each in MEMBERSHIPS if getattr(filters, each)), None)
    if name is not None:
        table, column = MEMBERSHIPS[name]
        params[name] = getattr(filters, name)
        chosen = f"ticket_id AS id FROM {table} t WHERE {_OF_TENANT} AND t.{column} = :{name}"
    else:
        matching = selection.conditions(filters, params)
        chosen = f"t.id FROM tickets t WHERE {_OF_TENANT} AND {matching}"
    return f"SELECT {chosen}{order} LIMIT :limit"


def _leading(filters: Filter) -> Filter:
    """The list of one index, of which the newest tickets are examined."""
    name = next((name for name in _LEADING if getattr(filters, name)), None)
    if name == "assignee_id":
        return Filter(assignee_id=filters.assignee_id, status=filters.status)
    return Filter(**{name: getattr(filters, name)}) if name else Filter()


def _count(number: int, filters: Filter, most_examined: int) -> Count:
    if _has_index(filters):
        return Count(min(number, MAX_COUNT), number <= MAX_COUNT)
    examined, matches = divmod(number, _FACTOR)
    return Count(min(matches, MAX_COUNT), examined < most_examined and matches <= MAX_COUNT)
