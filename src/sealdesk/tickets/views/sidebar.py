"""The views and teams beside each page: their names, links and counts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store import counts, mail, teams
from sealdesk.tickets.ticket.store.counts import Count
from sealdesk.tickets.views import current, rules, store
from sealdesk.tickets.views.inbox_query import PATH
from sealdesk.tickets.views.types import DESK
from sealdesk.web.pages.i18n import gettext, number

_KEPT_US = 30 * 24 * 3600 * 1_000_000  # how long e-mails wait
_MOST_SHOWN = 99
_MAX_TEAMS = 8


class SidebarLink(NamedTuple):
    """A view in the sidebar. total: of its tickets as text, "" where they are not counted."""

    key: str
    name: str
    path: str
    total: str


class Section(NamedTuple):
    """Links below a title. icon: "" where the key of each names its own."""

    title: str
    icon: str
    links: list[SidebarLink]


class Sidebar(NamedTuple):
    """What stands beside every page: the views and teams that a user sees.

    current: the key of the shown view. has_saved: whether there are views to edit. are_counted:
    otherwise the script of the page asks for the counts.
    """

    sections: list[Section]
    current: str
    has_saved: bool
    are_counted: bool


class _Entry(NamedTuple):
    key: str
    name: str
    query: str


class _Entries(NamedTuple):
    """The views of a user, by what they belong to. teams: the user's own ones are the first."""

    built_in: list[_Entry]
    teams: list[_Entry]
    desk: list[_Entry]
    own: list[_Entry]


async def load_sidebar(tx: Tx, caller: Caller, now_us: int, current: str = "") -> Sidebar:
    """All views of a user with their counts, which are read at once."""
    entries = await _list_entries(tx, caller)
    numbers = await _count(tx, caller, [each for group in entries for each in group], now_us)
    held = await _find_held(tx, caller.tenant_id, now_us)
    return _sidebar(entries, numbers, held, current, are_counted=True)


async def list_sidebar(tx: Tx, caller: Caller, now_us: int) -> Sidebar:
    """All views of a user without their counts."""
    entries = await _list_entries(tx, caller)
    held = await _find_held(tx, caller.tenant_id, now_us)
    return _sidebar(entries, {}, held, "", are_counted=False)


async def _list_entries(tx: Tx, caller: Caller) -> _Entries:
    user_id = caller.actor.id
    near = await teams.list_near(tx, caller.tenant_id, user_id, _MAX_TEAMS)
    saved = await store.list_views(tx, caller.tenant_id, user_id)
    return _Entries(
        [_Entry(each.key, gettext(each.label), each.query) for each in rules.BUILT_IN],
        [_Entry(each.id, each.name, rules.team_query(each.id)) for each in near],
        [_Entry(each.id, each.name, each.query) for each in saved if each.owner_id == DESK],
        [_Entry(each.id, each.name, each.query) for each in saved if each.owner_id == user_id],
    )


def _sidebar(
    entries: _Entries,
    numbers: Mapping[str, Count],
    held: SidebarLink | None,
    current: str,
    *,
    are_counted: bool,
) -> Sidebar:
    built_in, near, desk, own = (
        [_link(each, numbers.get(each.key)) for each in group] for group in entries
    )
    sections = [
        Section("", "", built_in),
        Section(gettext("E-mail"), "i-mail", [held] if held else []),
        Section(gettext("Teams"), "i-teams", near),
        Section(gettext("Everybody's views"), "i-filter", desk),
        Section(gettext("My views"), "i-filter", own),
    ]
    shown = [each for each in sections if each.links]
    return Sidebar(shown, current, bool(desk or own), are_counted)


async def _find_held(tx: Tx, tenant_id: str, now_us: int) -> SidebarLink | None:
    waiting = await mail.count_waiting(tx, tenant_id, ids.lowest(now_us - _KEPT_US))
    held = waiting["held"]
    text = "99+" if held > _MOST_SHOWN else number(held) if held else ""
    found = SidebarLink("held", gettext("Held and spam"), "/held-messages", text)
    return found if any(waiting.values()) else None


async def _count(
    tx: Tx, caller: Caller, entries: Sequence[_Entry], now_us: int
) -> dict[str, Count]:
    """The counts by the key of the view; of a search there is none."""
    queries = {each.key: await current.parse(tx, caller.tenant_id, each.query) for each in entries}
    filters = {
        key: query.filter(caller.actor.id, now_us)
        for key, query in queries.items()
        if query.is_countable()
    }
    found = await counts.count_lists(tx, caller.tenant_id, [*filters.values()])
    return dict(zip(filters, found, strict=False))


def _link(entry: _Entry, count: Count | None) -> SidebarLink:
    text = (
        f"{number(count.number)}{'' if count.is_exact else '+'}" if count and count.number else ""
    )
    return SidebarLink(entry.key, entry.name, f"{PATH}?view={entry.key}", text)
