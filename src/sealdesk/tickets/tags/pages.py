"""Settings → Tags: the tags of the desk, another name for one, and suggestions while typing."""

from typing import NamedTuple

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, NotFound, QueryTooSlow, ValidationFailed, gettext_noop, invalid
from sealdesk.records import identities
from sealdesk.resources.identity import identity
from sealdesk.tickets.tags import actions, rules, store
from sealdesk.tickets.tags.actions import Outcome
from sealdesk.tickets.tags.types import CountedTag, NewName, Renaming
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

PATH = "/settings/tags"
NAV_ITEM = NavItem(PATH, gettext_noop("Tags"))
ROOM = Room("tickets.tags", nav_item=NAV_ITEM)
_PER_PAGE = 50
_MAX_COUNT = 1000
_MAX_SUGGESTIONS = 8
# By use among these: all tags of most desks.
_MAX_EXAMINED, _MAX_EXAMINED_COUNT = 150, 100
_NEWEST = 10
_MAX_TOTAL = 1_000_000
_ALIKE_LABELS = {
    "customers": gettext_noop("Customer"),
    "customer_addresses": gettext_noop("Customer"),
    "users": gettext_noop("Person"),
    "mailboxes": gettext_noop("Mailbox"),
    "teams": gettext_noop("Team"),
    "views": gettext_noop("View"),
    "macros": gettext_noop("Macro"),
}
_SAME = gettext_noop("This is its present name.")


class Progress(NamedTuple):
    """A renaming as the page shows it. most: of the bar."""

    renaming: Renaming
    created_at: str
    is_finished: bool
    most: int


class AlikeName(NamedTuple):
    """Something whose name an older one has. name: "" if it is an agent's own, or a team's."""

    label: str
    name: str


@page
async def list_tags(request: Request) -> Response:
    """The tags of the desk with their tickets, in byte order, and other names that are alike."""
    trail = cursor_trail.read(forms.read_query(request), _is_cursor)
    within = rules.range_after(bytes.fromhex(trail[-1]).decode() if trail else "")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[CountedTag], list[Progress], list[AlikeName]]:
        tags = await store.list_tags(tx, tenant_id, within, _PER_PAGE + 1, _MAX_COUNT + 1)
        return tags, await _list_progress(tx, tenant_id), await _list_alike(tx, tenant_id)

    tags, renamings, alike = await request.read(work)
    shown, has_more = tags[:_PER_PAGE], len(tags) > _PER_PAGE
    return await render.page(
        request,
        "tags/tags.html",
        tags=shown,
        max_count=_MAX_COUNT,
        renamings=renamings,
        alike=alike,
        older=cursor_trail.older(trail, shown[-1].identity.encode().hex()) if has_more else None,
        newer=cursor_trail.newer(trail),
    )


async def _list_alike(tx: Tx, tenant_id: str) -> list[AlikeName]:
    found = [await identities.find_note(tx, name) for name in identities.NEXT]
    listed = [each for note in found if note for each in note.alike]
    own = [each for each in listed if each.tenant_id == tenant_id]
    rows = [(each, await identities.find_alike(tx, each)) for each in own]
    return [
        AlikeName(gettext(_ALIKE_LABELS[each.table]), "" if row["owner_id"] else row["name"])
        for each, row in rows
        if row is not None
    ]


@page
async def show_progress(request: Request) -> Response:
    """How far renamings are, as a part of the page."""
    renamings = await request.fetch(_list_progress)
    return await render.page(request, "tags/progress.html", renamings=renamings)


@page
async def suggest_tags(request: Request) -> Response:
    """The most used tags that begin with what was typed, as options."""
    typed = forms.read_query(request).text("q").strip()[: rules.MAX_TAG_LENGTH].replace("\0", "")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> list[CountedTag]:
        within = rules.range_of(identity(typed)) if typed else rules.range_after("")
        return await store.list_tags(tx, tenant_id, within, _MAX_EXAMINED, _MAX_EXAMINED_COUNT)

    tags = rules.most_used(await request.read(work), _MAX_SUGGESTIONS)
    return await render.page(request, "tags/suggestions.html", tags=tags)


@page
async def ask_name(request: Request) -> Response:
    """Asks for the new name of a tag."""
    return await _ask(request, forms.read_query(request).text("tag"), "")


@page
async def rename_tag(request: Request) -> Response:
    """Begin to rename a tag; a second form confirms that two tags become one."""
    form = forms.read(request)
    tag, typed = form.text("tag").replace("\0", ""), form.text("new_tag").strip()
    try:
        new_tag = body.convert({"new_tag": typed}, NewName).new_tag
        if new_tag == tag:
            raise invalid([Fault("/new_tag", "unchanged", _SAME)])
    except ValidationFailed as error:
        return await _ask(request, tag, typed, error=error)
    caller, now_us = request.caller, request.now_us
    total = await _count(request, tag)
    renaming = actions.new_renaming(caller, tag, new_tag, total, now_us)
    is_merge = form.text("merge") == "yes"
    outcome = await request.act(actions.begin_renaming, renaming, is_merge=is_merge, now_us=now_us)
    if outcome != "begun":
        return await _ask(request, tag, typed, outcome=outcome)
    return render.redirect(request, PATH)


async def _ask(
    request: Request,
    tag: str,
    typed: str,
    *,
    outcome: Outcome = "begun",
    error: ValidationFailed | None = None,
) -> Response:
    """The form; with what hinders the renaming. Raises NotFound for a tag of no ticket."""
    total = 0 if "\0" in tag else await _count(request, tag)
    if not total:
        raise NotFound
    statuses = {"busy": 409, "exists": 409, "unknown": 404}
    return await render.page(
        request,
        "tags/rename.html",
        422 if error else statuses.get(outcome, 200),
        tag=tag,
        typed=typed,
        total=total,
        max_total=_MAX_TOTAL,
        outcome=outcome,
        faults={"new_tag": translate(error.faults[0])} if error else {},
    )


async def _count(request: Request, tag: str) -> int:
    tenant_id = request.caller.tenant_id
    try:
        return await request.read_unindexed(
            lambda tx: store.count_tickets(tx, tenant_id, tag, _MAX_TOTAL)
        )
    except QueryTooSlow:
        return _MAX_TOTAL


async def _list_progress(tx: Tx, tenant_id: str) -> list[Progress]:
    return [_progress(each) for each in await store.list_newest(tx, tenant_id, _NEWEST)]


def _progress(renaming: Renaming) -> Progress:
    is_finished = renaming.finished_at is not None
    # Tickets that got the tag meanwhile are changed too.
    most = max(renaming.total, renaming.changed_count)
    return Progress(renaming, clock.iso(renaming.created_at), is_finished, most)


def _is_cursor(text: str) -> bool:
    """A tag in hexadecimal, for it may contain a comma."""
    try:
        return _is_tag(bytes.fromhex(text).decode())
    except ValueError:
        return False


def _is_tag(text: str) -> bool:
    return 0 < len(text) <= rules.MAX_IDENTITY_LENGTH and "\0" not in text
