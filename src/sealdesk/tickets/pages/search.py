"""The search of the inbox: words and filters together, and what is marked in its results."""

import asyncio
from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.customers import actions as customer_actions
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import QueryTooSlow, gettext_noop
from sealdesk.paging import PageRequest
from sealdesk.search import actions as search
from sealdesk.search import highlighting, rules
from sealdesk.search.actions import SearchResult
from sealdesk.search.highlighting import Part
from sealdesk.search.rules import MAX_RESULTS, Term
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.store import assignees, lists, replies, teams
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.selection import Filter
from sealdesk.tickets.views import search_words
from sealdesk.tickets.views.inbox_query import ME, NOBODY, InboxQuery
from sealdesk.tickets.views.search_words import Problem, SearchWords
from sealdesk.web.request import Request

# Of so many newest tickets with the words, those that match the filters are shown.
_MAX_NARROWED = 2000
_READ_AT_ONCE = 250
_MAX_CUSTOMERS = 20  # whose tickets from: finds
_NO_PERSON = gettext_noop(
    "Nobody is called “%(value)s”. Write assignee:me, assignee:nobody or a name."
)
_NO_TEAM = gettext_noop("No team is called “%(value)s”.")
_NO_FOLLOWER = gettext_noop("Nobody is called “%(value)s”. Write follower:me or a name.")
_NO_CUSTOMER = gettext_noop(
    "No customer matches “%(value)s”. Write from: and a name or an e-mail address."
)


class Hit(NamedTuple):
    """A found ticket: its subject in parts, and the part of its texts with the words."""

    subject: list[Part]
    snippet: list[Part]


class Results(NamedTuple):
    """The result of a search. hits: by the id of the ticket. corrected: the query that found them.

    has_more: there may be more tickets than these. problems: of filters, which then find nothing.
    """

    rows: Sequence[Row] = ()
    has_more: bool = False
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
    """The newest tickets with the words and filters of a search."""
    words = await _read_words(request, query)
    try:
        filters, problems = await _filters(request, query, words)
        if problems:
            return Results(problems=problems)
        if not (words.text or words.tags or words.fields):
            return await _list(request, filters)
        return await _search(request, words, filters)
    except QueryTooSlow:
        return Results(is_too_slow=True)


async def _read_words(request: Request, query: InboxQuery) -> SearchWords:
    """The words and filters that were typed, with the custom field that was chosen."""
    keys: set[str] = set()
    if ":" in query.q:
        tenant_id = request.caller.tenant_id
        fields = await request.read(lambda tx: custom_fields.list_active(tx, tenant_id))
        keys = {field.key.lower() for field in fields}
    words = search_words.parse(query.q, keys)
    key, _, value = query.field.partition(":")
    return words._replace(fields=(*words.fields, (key, value))) if key else words


async def _list(request: Request, filters: Filter) -> Results:
    page = PageRequest(MAX_RESULTS, None)
    tenant_id = request.caller.tenant_id
    rows = await request.read_unindexed(lambda tx: lists.list_inbox(tx, tenant_id, filters, page))
    return Results(rows[:MAX_RESULTS], len(rows) > MAX_RESULTS)


async def _search(request: Request, words: SearchWords, filters: Filter) -> Results:
    tenant_id = request.caller.tenant_id
    is_narrowed = filters != Filter()
    limit = _MAX_NARROWED if is_narrowed else MAX_RESULTS
    besides = [*map(rules.tag_term, words.tags), *starmap(rules.field_term, words.fields)]
    matches = await search.find_tickets(
        request.state, tenant_id, words.text, besides=besides, limit=limit
    )
    if not matches.ticket_ids and words.text:
        matches = await search.find_corrected(
            request.state, tenant_id, words.text, besides=besides, limit=limit
        )

    async def work(tx: Tx) -> tuple[list[Row], list[list[str]]]:
        rows = await _read(tx, tenant_id, matches, filters)
        numbered = await _list_numbered(tx, tenant_id, words, filters)
        known = {row["id"] for row in numbered}
        rows = [*numbered, *(row for row in rows if row["id"] not in known)]
        shown_ids = [row["id"] for row in rows[:MAX_RESULTS]]
        return rows, await replies.list_newest_texts(tx, tenant_id, shown_ids)

    rows, texts = await request.read(work)
    shown = rows[:MAX_RESULTS]
    # Splitting the texts of 50 tickets takes up to 50 ms: not in the event loop.
    hits = await asyncio.to_thread(_hits, shown, texts, matches.terms)
    has_more = matches.has_more or len(rows) > len(shown)
    return Results(shown, has_more, corrected=matches.corrected, hits=hits)


async def _read(tx: Tx, tenant_id: str, matches: SearchResult, filters: Filter) -> list[Row]:
    """The rows that match the filters, one more than are shown."""
    rows: list[Row] = []
    for first in range(0, len(matches.ticket_ids), _READ_AT_ONCE):
        some = matches.ticket_ids[first : first + _READ_AT_ONCE]
        rows += await lists.list_by_ids(tx, tenant_id, some, filters)
        if len(rows) > MAX_RESULTS:
            break
    return rows[: MAX_RESULTS + 1]


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


async def _filters(
    request: Request, query: InboxQuery, words: SearchWords
) -> tuple[Filter, list[Problem]]:
    """The filters of the list and of the words, which come first, and what is wrong with them."""
    problems = [*words.problems]
    reader_id = request.caller.actor.id
    filters = msgspec.structs.replace(
        query.filter(reader_id),
        sort_by="created_at",
        newest_first=True,
        created_before=words.before,
        created_after=words.after,
    )
    if query.sort == "waiting":
        filters = msgspec.structs.replace(filters, is_waiting=True)
    if words.statuses:
        filters = msgspec.structs.replace(filters, status=words.statuses)
    if words.priorities:
        filters = msgspec.structs.replace(filters, priority=words.priorities)
    for typed in words.assignees[:1]:
        filters = await _with_assignee(request, filters, typed, problems)
    for typed in words.teams[:1]:
        filters = await _with_team(request, filters, typed, problems)
    for typed in words.followers[:1]:
        filters = await _with_follower(request, filters, typed, problems)
    for typed in words.customers[:1] or ((query.customer,) if query.customer else ()):
        filters = await _with_customers(request, filters, typed, problems)
    return filters, problems


async def _with_assignee(
    request: Request, filters: Filter, typed: str, problems: list[Problem]
) -> Filter:
    if typed.lower() == NOBODY:
        return msgspec.structs.replace(filters, assignee_id=None, is_unassigned=True)
    found = await _find_people(request, typed)
    if not found:
        problems.append(Problem(_NO_PERSON, {"value": typed}))
        return filters
    return msgspec.structs.replace(filters, assignee_id=found[0], is_unassigned=False)


async def _with_team(
    request: Request, filters: Filter, typed: str, problems: list[Problem]
) -> Filter:
    options = await request.read(lambda tx: teams.list_teams(tx, request.caller.tenant_id))
    found = search_words.find_named(typed, options)
    if not found:
        problems.append(Problem(_NO_TEAM, {"value": typed}))
        return filters
    return msgspec.structs.replace(filters, team_id=found[0])


async def _with_follower(
    request: Request, filters: Filter, typed: str, problems: list[Problem]
) -> Filter:
    found = await _find_people(request, typed)
    if not found:
        problems.append(Problem(_NO_FOLLOWER, {"value": typed}))
        return filters
    return msgspec.structs.replace(filters, follower_id=found[0])


async def _find_people(request: Request, typed: str) -> list[str]:
    """The ids of the users whose name was typed, or of the reader."""
    caller = request.caller
    if typed.lower() == ME:
        return [caller.actor.id]
    people = await request.read(
        lambda tx: assignees.list_assignees(tx, caller.tenant_id, view_model.ASSIGNEES)
    )
    return search_words.find_named(typed, [(each.id, each.name) for each in people])


async def _with_customers(
    request: Request, filters: Filter, typed: str, problems: list[Problem]
) -> Filter:
    if typed == filters.customer_id and ids.is_canonical(typed):
        return filters
    page = PageRequest(_MAX_CUSTOMERS, None)
    found = await customer_actions.find_customers(
        request.state, request.caller.tenant_id, typed, page
    )
    if not found:
        problems.append(Problem(_NO_CUSTOMER, {"value": typed}))
    customer_ids = tuple(customer.id for customer in found[:_MAX_CUSTOMERS])
    return msgspec.structs.replace(filters, customer_id=None, customer_ids=customer_ids)
