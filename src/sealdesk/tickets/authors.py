"""Who a reply is by: the caller, the customer of the ticket, or an agent in whose name it is."""

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, invalid
from sealdesk.tickets import importing
from sealdesk.tickets.importing import FromMail
from sealdesk.tickets.new_replies import NewReply, NewReplyAuthor
from sealdesk.tickets.store import assignees
from sealdesk.tickets.store.assignees import Assignee
from sealdesk.tickets.store.tickets import TicketAndCustomer
from sealdesk.tickets.types import Author, AuthorType


async def author_of(
    tx: Tx, caller: Caller, wanted: NewReplyAuthor | None, stored: TicketAndCustomer
) -> Author:
    """The author of a new reply on this ticket. Raises Forbidden, ValidationFailed."""
    if wanted is not None and wanted.type == "customer":
        return Author("customer", stored.ticket.customer_id, stored.customer_name)
    if wanted is not None and wanted.type == "agent":
        importing.check_may_import(caller)
        agent = await _get_agent(tx, caller.tenant_id, wanted.id or "")
        return Author("agent", agent.id, agent.name)
    actor = caller.actor
    if actor.kind == "customer":
        return Author("customer", actor.id, actor.name or None)
    kind: AuthorType = "api_key" if actor.kind == "api_key" else "agent"
    return Author(kind, actor.id, actor.name)


def find_mail(caller: Caller, new: NewReply) -> FromMail | None:
    """What a reply has to do with e-mail that arrived, which a closed ticket takes too."""
    if caller.actor.kind not in ("customer", "system"):
        return None
    if new.created_at is not None:
        return "history"
    return "note" if new.is_internal else None


async def _get_agent(tx: Tx, tenant_id: str, user_id: str) -> Assignee:
    """The user whose name a reply gets, active or not. Raises ValidationFailed."""
    found = await assignees.find_assignees(tx, tenant_id, [user_id])
    if user_id in found:
        return found[user_id]
    message = "There is no such agent; GET /api/v1/external/agents lists the active ones."
    raise invalid([Fault("/author/id", "unknown_agent", message)])
