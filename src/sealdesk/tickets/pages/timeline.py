"""The timeline of a ticket: its replies, notes and changes in one order."""

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.resources.paging import PageRequest, Position, take_page
from sealdesk.sandbox.pool import Pool
from sealdesk.tickets.text import kept_html
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.kept_html import NO_TEXT, ShownText
from sealdesk.tickets.text.mentions import index_names
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store import history, replies
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.history import TicketHistoryEntry
from sealdesk.tickets.ticket.types import ReplyResponse
from sealdesk.web.pages.i18n import gettext

ENTRIES = 50
COLOURS = 6  # of avatars
_MAX_BYTES = 128 * 1024  # of replies; as HTML they can be twelve times as long


class Timeline(NamedTuple):
    """Some replies and changes in reading order, and whether there are earlier ones.

    first_id: where the earlier ones end. newest_reply_id: "" when there is none.
    """

    replies: list[ReplyResponse]
    changes: list[TicketHistoryEntry]
    has_earlier: bool
    first_id: str
    newest_reply_id: str


class Entry(NamedTuple):
    """A reply with its text, or changes that follow each other."""

    reply: ReplyResponse | None
    text: ShownText
    changes: list[TicketHistoryEntry]


class Avatar(NamedTuple):
    """What stands for a person. colour: below COLOURS."""

    initials: str
    colour: int


async def load_timeline(tx: Tx, tenant_id: str, ticket_id: str, before: str | None) -> Timeline:
    """The newest entries, or those before the entry with an id."""
    position: Position | None = [before] if before else None
    page = PageRequest(ENTRIES, position, _MAX_BYTES)
    newest = await replies.list_replies(
        tx, tenant_id, ticket_id, page, is_internal=None, newest_first=True
    )
    changes = await history.list_changes(tx, tenant_id, ticket_id, page)
    fitting = take_page(newest, page, lambda reply: len(reply.body.encode()))
    own, others = [reply.id for reply in fitting], [change.id for change in changes]
    ids = sorted([*own, *others], reverse=True)[:ENTRIES]
    if len(fitting) < len(newest):  # what is older than those that were left out is left out too
        ids = [each for each in ids if each >= fitting[-1].id]
    shown = {*ids}
    return Timeline(
        [documents.to_reply_response(reply) for reply in reversed(fitting) if reply.id in shown],
        [change for change in reversed(changes) if change.id in shown],
        len(shown) < len(newest) + len(changes),
        ids[-1] if ids else "",
        newest[0].id if newest else "",
    )


async def render_entries(
    sandbox: Pool, timeline: Timeline, look: Look, *, is_mail: bool
) -> list[Entry]:
    """Replies with their HTML, and changes that follow each other as one entry.

    is_mail: whether the ticket came by e-mail; otherwise only customers' replies are folded.
    """
    texts = await kept_html.render_all(
        sandbox,
        ((reply.body, is_mail or reply.author.type == "customer") for reply in timeline.replies),
        look,
    )
    entries = [Entry(*pair, []) for pair in zip(timeline.replies, texts, strict=True)]
    changes, merged = list(timeline.changes), list[Entry]()
    for entry in entries:
        earlier = [change for change in changes if entry.reply and change.id < entry.reply.id]
        merged += [_changes(earlier), entry] if earlier else [entry]
        changes = changes[len(earlier) :]
    return [*merged, _changes(changes)] if changes else merged


def look_of(texts: Iterable[str], people: Sequence[Assignee], root: str) -> Look:
    """How texts are shown on a page of this tenant; names are needed only where there is an "@"."""
    is_needed = any("@" in text for text in texts)
    active = ((user.id, user.label) for user in people if user.is_active)
    names = index_names(active) if is_needed else {}
    return Look(root=root, names=names, quote_label=gettext("Quoted text"))


def avatar(name: str, person_id: str) -> Avatar:
    """The initials of the first and the last word of a name, and a colour that stays the same."""
    own = name.partition("@")[0].partition(" (")[0]
    words = ["".join(filter(str.isalnum, word)) for word in own.split()[:20]]
    known = [word for word in words if word]
    initials = "".join(word[0] for word in ([known[0], known[-1]] if known[1:] else known))
    return Avatar(initials.upper()[:4] or "?", zlib.crc32(person_id.encode()) % COLOURS)


def _changes(changes: list[TicketHistoryEntry]) -> Entry:
    return Entry(None, NO_TEXT, changes)
