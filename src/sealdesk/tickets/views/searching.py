"""The search for tickets: words and filters together, and what is marked in its results."""

from collections.abc import Sequence
from functools import partial
from itertools import starmap
from typing import NamedTuple

import msgspec

from sealdesk.db import threads
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.resources.paging import LAST_ID, PageRequest, Position, seal_cursor
from sealdesk.search import actions as search
from sealdesk.search import highlighting, rules
from sealdesk.search.actions import SearchResult
from sealdesk.search.highlighting import Part
from sealdesk.search.rules import MAX_RESULTS, Term
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.ticket.store import lists, replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.views import search_words
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.tickets.views.search_filters import read_filters
from sealdesk.tickets.views.search_words import Problem, SearchWords
from sealdesk.web.pagination import ListRequest
from sealdesk.web.request import Request

# A page looks at so many tickets with the words for those that match the filters.
_MAX_NARROWED = 2000
_READ_AT_ONCE = 250


class Hit(NamedTuple):
    """A found ticket: its subject in parts, and the part of its texts with the words."""

    subject: list[Part]
    snippet: list[Part]


class Results(NamedTuple):
    """The result of a search. hits: by the id of the ticket. corrected: the query that found them.

    has_more: there may be more tickets than these. resumes_at: the id of the last ticket that was
    looked at, if the most were before the page was full; the next page goes on there. numbered_id:
    of the ticket with the number that was typed, which comes first. problems: of filters, which
    then find nothing.
    """

    rows: Sequence[Row] = ()
    has_more: bool = False
    resumes_at: str = ""
    numbered_id: str = ""
    is_too_slow: bool = False
    corrected: str = ""
    hits: dict[str, Hit] = {}  # noqa: RUF012 - never changed
    problems: Sequence[Problem] = ()


class _Text(msgspec.Struct, frozen=True):
    """What of a ticket is searched for the words."""

    id: str
    subject: str
    description: str


_decode_text = msgspec.json.Decoder(_Text).decode


async def find_tickets(request: Request, query: InboxQuery) -> Results:
    """A page of the tickets with the words and filters of a search, newest first."""
    try:
        return await find_page(request, query, PageRequest(MAX_RESULTS, query.after()))
    except QueryTooSlow:
        return Results(is_too_slow=True)


async def find_page(request: Request, query: InboxQuery, page: PageRequest) -> Results:
    """A page of the tickets with the words and filters of a search, newest first.

    A ticket whose number is all that was typed is the first one. Raises QueryTooSlow.
    """
    words = await _read_words(request, query)
    filters, problems = await read_filters(request, query, words)
    if problems:
        return Results(problems=problems)
    if not (words.text or words.tags or words.fields):
        return await _list(request, filters, page)
    return await _search(request, words, filters, page)


async def list_by_fields(
    request: Request, fields: Sequence[tuple[str, str]], filters: Filter, page: PageRequest
) -> Results:
    """A page of the tickets with the values of custom fields, newest first. Raises QueryTooSlow.

    fields: keys with their values.
    """
    words = search_words.parse("")._replace(fields=tuple(fields))
    limit = page.per_page if filters == Filter() else _MAX_NARROWED
    matches = await _find_matches(request, words, page.before, limit)
    rows = await request.fetch(_read, matches.ticket_ids, filters, page)
    return _results(matches, rows, page)


def next_cursor(
    request: Request, list_request: ListRequest, found: Results, shown_count: int
) -> str | None:
    """The cursor of the next page, when so many of the results are shown; None behind the last."""
    shown = found.rows[:shown_count]
    if len(shown) == len(found.rows) and not found.has_more:
        return None
    position: Position = [position_id(found, shown, list_request.page)]
    return seal_cursor(request.state.key_ring, list_request.listing, position)


def position_id(found: Results, shown: Sequence[Row], page: PageRequest) -> str:
    """The id behind which the next page begins, when these of the results were shown."""
    if found.resumes_at and len(shown) == len(found.rows):
        return found.resumes_at
    last_id = str(shown[-1]["id"])
    if last_id != found.numbered_id:
        return last_id
    return page.before


async def _read_words(request: Request, query: InboxQuery) -> SearchWords:
    """The words and filters that were typed, with the custom field that was chosen."""
    keys: set[str] = set()
    if ":" in query.q:
        fields = await request.fetch(custom_fields.list_active)
        keys = {field.key.lower() for field in fields}
    words = search_words.parse(query.q, keys)
    key, _, value = query.field.partition(":")
    return words._replace(fields=(*words.fields, (key, value))) if key else words


async def _list(request: Request, filters: Filter, page: PageRequest) -> Results:
    tenant_id = request.caller.tenant_id
    rows = await request.read_unindexed(lambda tx: lists.list_inbox(tx, tenant_id, filters, page))
    return Results(rows[: page.per_page], len(rows) > page.per_page)


async def _search(
    request: Request, words: SearchWords, filters: Filter, page: PageRequest
) -> Results:
    tenant_id = request.caller.tenant_id
    limit = page.per_page if filters == Filter() else _MAX_NARROWED
    matches = await _find_matches(request, words, page.before, limit)

    async def work(tx: Tx) -> tuple[str, list[Row], list[list[str]]]:
        rows = await _read(tx, tenant_id, matches.ticket_ids, filters, page)
        numbered = await _list_numbered(tx, tenant_id, words, filters)
        first_id = numbered[0]["id"] if numbered else ""
        rows = [row for row in rows if row["id"] != first_id]
        if page.after is None:
            rows = [*numbered, *rows]
        shown_ids = [row["id"] for row in rows[: page.per_page]]
        return first_id, rows, await replies.list_newest_texts(tx, tenant_id, shown_ids)

    first_id, rows, texts = await request.read(work)
    shown = rows[: page.per_page]
    # Splitting the texts of 50 tickets takes up to 50 ms: not in the event loop.
    hits = await threads.run_in(None, _hits, shown, texts, matches.terms)
    found = _results(matches, rows, page)
    return found._replace(numbered_id=first_id, corrected=matches.corrected, hits=hits)


def _results(matches: SearchResult, rows: Sequence[Row], page: PageRequest) -> Results:
    is_full = len(rows) > page.per_page
    resumes_at = matches.ticket_ids[-1] if matches.has_more and not is_full else ""
    return Results(rows[: page.per_page], is_full or matches.has_more, resumes_at)


async def _find_matches(
    request: Request, words: SearchWords, before: str, limit: int
) -> SearchResult:
    find = partial(
        search.find_tickets,
        request.state,
        request.caller.tenant_id,
        words.text,
        besides=[*map(rules.tag_term, words.tags), *starmap(rules.field_term, words.fields)],
    )
    matches = await find(before=before, limit=limit)
    if matches.ticket_ids or not words.text:
        return matches
    if before != LAST_ID and (await find(limit=1)).ticket_ids:
        return matches  # the pages before had the words as they were typed
    correct = partial(search.find_corrected, *find.args, **find.keywords)
    return await correct(before=before, limit=limit)


async def _read(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], filters: Filter, page: PageRequest
) -> list[Row]:
    """The rows that match the filters, one more than are shown."""
    rows: list[Row] = []
    for first in range(0, len(ticket_ids), _READ_AT_ONCE):
        some = ticket_ids[first : first + _READ_AT_ONCE]
        rows += await lists.list_by_ids(tx, tenant_id, some, filters)
        # What is larger than a page ends early, and the rows behind it are of the next page.
        if len(rows) > page.per_page or sum(map(lists.size, rows)) > page.max_bytes:
            break
    return rows[: page.per_page + 1]


async def _list_numbered(
    tx: Tx, tenant_id: str, words: SearchWords, filters: Filter
) -> Sequence[Row]:
    """The ticket with the number that is all that was typed."""
    ticket_id = None
    if words.number is not None:
        ticket_id = await ticket_store.find_id(tx, tenant_id, words.number)
    return await lists.list_by_ids(tx, tenant_id, [ticket_id], filters) if ticket_id else []


def _hits(
    rows: Sequence[Row], replies_of: Sequence[Sequence[str]], terms: Sequence[Term]
) -> dict[str, Hit]:
    hits = {}
    for row, bodies in zip(rows, replies_of, strict=True):
        ticket = _decode_text(row["document"])
        snippets = (highlighting.snippet(text, terms) for text in (ticket.description, *bodies))
        snippet = next((each for each in snippets if each), [])
        hits[ticket.id] = Hit(highlighting.mark(ticket.subject, terms), snippet)
    return hits
