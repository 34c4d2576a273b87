"""Who is notified of what happens to a ticket, in the transaction of the change."""

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.notifications import store
from sealdesk.tickets.notifications.types import Kind
from sealdesk.tickets.store import assignees
from sealdesk.tickets.text import mentions
from sealdesk.tickets.types import Reply, Ticket

_MAX_PEOPLE = 1000  # who can be mentioned: the newest
_MAX_MENTIONED = 50


async def assigned(tx: Tx, caller: Caller, ticket: Ticket, now_us: int) -> None:
    """Tell the new assignee, unless they have assigned it to themselves."""
    if ticket.assignee_id is None or ticket.assignee_id == caller.actor.id:
        return
    await store.add(
        tx,
        caller.tenant_id,
        [ticket.assignee_id],
        "assigned",
        ticket.id,
        actor_name=caller.actor.name,
        now_us=now_us,
    )


async def woken(tx: Tx, ticket: Ticket, now_us: int) -> None:
    """Tell the assignee that the snooze of a ticket has ended."""
    user_ids = [ticket.assignee_id] if ticket.assignee_id else []
    await store.add(
        tx, ticket.tenant_id, user_ids, "woken", ticket.id, actor_name="", now_us=now_us
    )


async def replied(tx: Tx, caller: Caller, ticket: Ticket, reply: Reply, now_us: int) -> None:
    """Tell the assignee of a reply of the customer, or those whom a colleague mentions."""
    kind: Kind = "replied"
    user_ids = [ticket.assignee_id] if ticket.assignee_id else []
    if reply.author.type != "customer":
        if caller.actor.kind != "user" or "@" not in reply.body:
            return
        kind, user_ids = "mentioned", await _find_mentioned(tx, caller, reply.body)
    name = reply.author.name or caller.actor.name
    await store.add(tx, caller.tenant_id, user_ids, kind, ticket.id, actor_name=name, now_us=now_us)


async def _find_mentioned(tx: Tx, caller: Caller, body: str) -> list[str]:
    people = await assignees.list_assignees(tx, caller.tenant_id, _MAX_PEOPLE)
    names = mentions.index_names((each.id, each.name) for each in people if each.is_active)
    found = {each.user_id for each in mentions.find_mentions(body, names)} - {caller.actor.id}
    return sorted(found)[:_MAX_MENTIONED]
