"""The view that the inbox shows: its query, and which of its filters no longer exist."""

from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.views import actions, inbox_query, rules
from sealdesk.tickets.views.inbox_query import ME, NOBODY, InboxQuery
from sealdesk.tickets.views.types import View
from sealdesk.web.form import Form
from sealdesk.web.pages.i18n import gettext, gettext_noop

_NO_ASSIGNEE = gettext_noop("The person of this view no longer exists. No ticket can match.")
_NO_TEAM = gettext_noop("The team of this view was deleted, and gets no further tickets.")
_NO_CUSTOMER = gettext_noop("The customer of this view no longer exists. No ticket can match.")
_UNKNOWN = gettext_noop("This view has a filter that no longer exists: %(filter)s. It is left out.")
_INACTIVE = gettext_noop("%(name)s of this view is deactivated, and gets no further tickets.")


class CurrentView(NamedTuple):
    """The view of a list. saved: None for a built-in one or a team's.

    is_changed: the list has other filters. problems: messages about filters that no longer exist.
    """

    key: str
    name: str
    saved: View | None
    is_changed: bool
    problems: list[str]


async def load_query(tx: Tx, caller: Caller, form: Form) -> tuple[InboxQuery, CurrentView | None]:
    """The query of a list, and the view that it began with. Raises NotFound.

    A status in the form means that the form has all filters; without one they are the view's.
    """
    typed = await _lasting(tx, caller.tenant_id, inbox_query.read_inbox_query(form))
    if not typed.view:
        return typed, None
    built_in = rules.find_built_in(typed.view)
    of_team = {} if built_in else await teams.list_names(tx, caller.tenant_id, [typed.view])
    if built_in is not None:
        name, saved, stored = gettext(built_in.label), None, built_in.query
    elif of_team:
        name, saved, stored = of_team[typed.view], None, rules.team_query(typed.view)
    else:
        saved = await actions.get_view(tx, caller.tenant_id, caller.actor.id, typed.view)
        name, stored = saved.name, saved.query
    own = await parse(tx, caller.tenant_id, stored)
    query = typed if form.text("status") or form.text("q") else inbox_query.continued(own, form)
    is_changed = query.stored() != own.stored()
    problems = await _list_problems(tx, caller.tenant_id, stored, own)
    return query, CurrentView(typed.view, name, saved, is_changed, problems)


async def parse(tx: Tx, tenant_id: str, stored: str) -> InboxQuery:
    """The query that a saved view stores."""
    return await _lasting(tx, tenant_id, inbox_query.parse_stored(stored))


async def _lasting(tx: Tx, tenant_id: str, query: InboxQuery) -> InboxQuery:
    """The query with the one whom its customer was merged into."""
    if not ids.is_canonical(query.customer):
        return query
    customer_id = await customers.find_lasting_id(tx, tenant_id, query.customer)
    return msgspec.structs.replace(query, customer=customer_id)


async def _list_problems(tx: Tx, tenant_id: str, stored: str, own: InboxQuery) -> list[str]:
    problems = [
        gettext(_UNKNOWN) % {"filter": name} for name in inbox_query.unknown_filters(stored)
    ]
    if own.assignee not in ("", ME, NOBODY):
        person = await assignees.find_assignee(tx, tenant_id, own.assignee)
        if person is None:
            problems.append(gettext(_NO_ASSIGNEE))
        elif not person.is_active:
            problems.append(gettext(_INACTIVE) % {"name": person.name})
    if own.team and not await teams.is_team(tx, tenant_id, own.team):
        problems.append(gettext(_NO_TEAM))
    is_customer = ids.is_canonical(own.customer)
    if is_customer and await customers.find(tx, tenant_id, own.customer) is None:
        problems.append(gettext(_NO_CUSTOMER))
    return problems
