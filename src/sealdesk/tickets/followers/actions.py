"""Following a ticket, which says something about a person and leaves the ticket as it is."""

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, gettext_noop, invalid
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.followers import store
from sealdesk.tickets.followers.errors import TOO_MANY_FOLLOWERS
from sealdesk.tickets.followers.types import FollowerResponse
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.store import tickets as ticket_store

_NO_USER = gettext_noop("There is no such active user.")


async def list_followers(tx: Tx, tenant_id: str, ticket_id: str) -> list[FollowerResponse]:
    """All followers, deactivated users too, by their id. Raises NotFound."""
    await _check_ticket(tx, tenant_id, ticket_id)
    return await store.list_all(tx, tenant_id, ticket_id)


async def follow(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> FollowerResponse:
    """A user who follows already stays one. Raises NotFound, Conflict, ValidationFailed."""
    await checks.check_not_merged(tx, (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket)
    user = await assignees.find_assignee(tx, tenant_id, user_id)
    if user is None or not user.is_active:
        raise invalid([Fault("/user_id", "unknown_user", _NO_USER)])
    if not await store.add(tx, tenant_id, ticket_id, user_id):
        raise Conflict(TOO_MANY_FOLLOWERS, limit=store.MAX_FOLLOWERS)
    return FollowerResponse(user.id, user.name, user.is_active)


async def unfollow(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> None:
    """Who does not follow the ticket stays so. Raises NotFound."""
    await _check_ticket(tx, tenant_id, ticket_id)
    await store.remove(tx, tenant_id, ticket_id, user_id)


async def _check_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> None:
    if not await ticket_store.has_ticket(tx, tenant_id, ticket_id):
        raise NotFound
