"""The names of users and teams that a page shows in place of their ids."""

from collections.abc import Collection, Sequence

from sealdesk.db.engine import Tx
from sealdesk.tickets.store import assignees, history, teams
from sealdesk.tickets.store.history import TicketHistoryEntry
from sealdesk.tickets.types import TicketResponse


async def list_names(
    tx: Tx,
    tenant_id: str,
    ticket: TicketResponse,
    entries: Sequence[TicketHistoryEntry],
    known_ids: Collection[str] = (),
) -> dict[str, str]:
    """Of the ticket and its changes, by id. known_ids: of names that are not needed."""
    users, of_teams = history.assignee_ids(entries), history.team_ids(entries)
    users |= {ticket.assignee_id} if ticket.assignee_id else set()
    of_teams |= {ticket.team_id} if ticket.team_id else set()
    names = await assignees.list_names(tx, tenant_id, users.difference(known_ids))
    return names | await teams.list_names(tx, tenant_id, of_teams)
