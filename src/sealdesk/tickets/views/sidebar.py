"""The views beside a list: their names, links and counts."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.store import counts, mail
from sealdesk.tickets.store.counts import Count
from sealdesk.tickets.views import current, rules, store
from sealdesk.tickets.views.inbox_query import PATH
from sealdesk.tickets.views.types import DESK, View
from sealdesk.web.pages.i18n import gettext, number

_KEPT_US = 30 * 24 * 3600 * 1_000_000  # how long e-mails wait
_MOST_SHOWN = 99


class SidebarLink(NamedTuple):
    """A view in the sidebar. total: of its tickets as text, "" where they are not counted."""

    key: str
    name: str
    path: str
    total: str


class Sidebar(NamedTuple):
    """The views that a user sees: the built-in ones, those of the desk, and their own ones.

    held: the page of the e-mails that wait, None if none does. are_counted: otherwise the script of
    the page asks for the counts.
    """

    built_in: list[SidebarLink]
    desk: list[SidebarLink]
    own: list[SidebarLink]
    held: SidebarLink | None
    are_counted: bool = True


class _Entry(NamedTuple):
    key: str
    name: str
    query: str
    owner_id: str | None


async def load_sidebar(tx: Tx, caller: Caller, now_us: int) -> Sidebar:
    """All views of a user with their counts, which are read at once."""
    user_id = caller.actor.id
    built_in = [_Entry(each.key, gettext(each.label), each.query, None) for each in rules.BUILT_IN]
    saved = [_entry(view) for view in await store.list_views(tx, caller.tenant_id, user_id)]
    entries = [*built_in, *saved]
    numbers = await _count(tx, caller, entries, now_us)
    links = [(each, _link(each, numbers.get(each.key))) for each in entries]
    return Sidebar(
        [link for each, link in links if each.owner_id is None],
        [link for each, link in links if each.owner_id == DESK],
        [link for each, link in links if each.owner_id == user_id],
        await _find_held(tx, caller.tenant_id, now_us),
    )


async def list_sidebar(tx: Tx, caller: Caller) -> Sidebar:
    """All views of a user without their counts."""
    saved = await store.list_views(tx, caller.tenant_id, caller.actor.id)
    links = [(view.owner_id, _link(_entry(view), None)) for view in saved]
    return Sidebar(
        [
            SidebarLink(each.key, gettext(each.label), f"{PATH}?view={each.key}", "")
            for each in rules.BUILT_IN
        ],
        [link for owner_id, link in links if owner_id == DESK],
        [link for owner_id, link in links if owner_id == caller.actor.id],
        None,
        are_counted=False,
    )


async def _find_held(tx: Tx, tenant_id: str, now_us: int) -> SidebarLink | None:
    waiting = await mail.count_waiting(tx, tenant_id, ids.lowest(now_us - _KEPT_US))
    held = waiting["held"]
    text = "99+" if held > _MOST_SHOWN else number(held) if held else ""
    found = SidebarLink("held", gettext("Held and spam"), "/held-messages", text)
    return found if any(waiting.values()) else None


def _entry(view: View) -> _Entry:
    return _Entry(view.id, view.name, view.query, view.owner_id)


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
    text = "" if count is None else f"{number(count.number)}{'' if count.is_exact else '+'}"
    return SidebarLink(entry.key, entry.name, f"{PATH}?view={entry.key}", text)
