"""Checks that a ticket is given to an active user and an existing team of its tenant."""

from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, invalid
from sealdesk.tickets.store import assignees, teams
from sealdesk.tickets.types import NewTicket, Ticket


async def check_new(tx: Tx, tenant_id: str, new: NewTicket) -> None:
    """Raises ValidationFailed."""
    await _check_assignee(tx, tenant_id, new.assignee_id)
    await _check_team(tx, tenant_id, new.team_id)


async def check_changed(tx: Tx, before: Ticket, after: Ticket) -> None:
    """Those that a change sets; the others may be gone. Raises ValidationFailed."""
    if after.assignee_id != before.assignee_id:
        await _check_assignee(tx, after.tenant_id, after.assignee_id)
    if after.team_id != before.team_id:
        await _check_team(tx, after.tenant_id, after.team_id)


async def _check_assignee(tx: Tx, tenant_id: str, user_id: str | None) -> None:
    if user_id is None or await assignees.is_assignable(tx, tenant_id, user_id):
        return
    message = "There is no such active agent; GET /api/v1/external/agents lists them."
    raise invalid([Fault("/assignee_id", "unknown_assignee", message)])


async def _check_team(tx: Tx, tenant_id: str, team_id: str | None) -> None:
    if team_id is None or await teams.is_team(tx, tenant_id, team_id):
        return
    message = "There is no such team; GET /api/v1/external/teams lists them."
    raise invalid([Fault("/team_id", "unknown_team", message)])
