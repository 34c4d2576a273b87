"""The filters of a search: those of its list, and those that were typed among the words."""

import msgspec

from sealdesk import ids
from sealdesk.customers import actions as customer_actions
from sealdesk.errors import gettext_noop
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket import listing
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.views import search_words
from sealdesk.tickets.views.inbox_query import ME, NOBODY, InboxQuery
from sealdesk.tickets.views.search_words import Problem, SearchWords
from sealdesk.web.request import Request

_MAX_CUSTOMERS = 20  # whose tickets from: finds
_MAX_ASSIGNEES = 1000  # among whom a name is looked up
_NO_PERSON = gettext_noop(
    "Nobody is called “%(value)s”. Write assignee:me, assignee:nobody or a name."
)
_NO_TEAM = gettext_noop("No team is called “%(value)s”.")
_NO_FOLLOWER = gettext_noop("Nobody is called “%(value)s”. Write follower:me or a name.")
_NO_CUSTOMER = gettext_noop(
    "No customer matches “%(value)s”. Write from: and a name or an e-mail address."
)


async def read_filters(
    request: Request, query: InboxQuery, words: SearchWords
) -> tuple[Filter, list[Problem]]:
    """The filters of the list and of the words, which come first, and what is wrong with them."""
    problems = [*words.problems]
    reader_id = request.caller.actor.id
    filters = msgspec.structs.replace(
        query.filter(reader_id, request.now_us),
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
    options = await request.fetch(teams.list_teams)
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
    people = await request.fetch(assignees.list_assignees, _MAX_ASSIGNEES)
    return search_words.find_named(typed, [(each.id, each.name) for each in people])


async def _with_customers(
    request: Request, filters: Filter, typed: str, problems: list[Problem]
) -> Filter:
    if typed == filters.customer_id and ids.is_canonical(typed):
        return filters
    # It also compares phone numbers and companies, which tickets do not show.
    listing.check_reads_customers(request.caller)
    page = PageRequest(_MAX_CUSTOMERS, None)
    found = await customer_actions.find_customers(
        request.state, request.caller.tenant_id, typed, page
    )
    if not found:
        problems.append(Problem(_NO_CUSTOMER, {"value": typed}))
    customer_ids = tuple(customer.id for customer in found[:_MAX_CUSTOMERS])
    return msgspec.structs.replace(filters, customer_id=None, customer_ids=customer_ids)
