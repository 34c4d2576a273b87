"""Who is notified of what happens to a ticket, in the transaction of the change."""

from collections.abc import Collection

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.followers import store as followers
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
    """Tell the assignee of what the customer or the mail receiver wrote, those whom a colleague
    mentions, and followers.

    Who is mentioned follows the ticket from then on.
    """
    is_of_customer, mentioned = reply.author.type == "customer", list[str]()
    is_for_assignee = is_of_customer or caller.actor.kind == "system"
    told = [ticket.assignee_id] if ticket.assignee_id and is_for_assignee else []
    if ticket.follower_count and not caller.is_worker:
        told += await _list_followers(tx, caller, ticket)
    if caller.actor.kind == "user" and not is_of_customer and "@" in reply.body:
        mentioned = await _find_mentioned(tx, caller, reply.body)
        for user_id in mentioned:
            await followers.add(tx, caller.tenant_id, ticket.id, user_id)
    name = reply.author.name or caller.actor.name
    kind: Kind = "noted" if reply.is_internal else "replied"
    others = {*told} - {*mentioned}
    tenant_id = caller.tenant_id
    told_of: list[tuple[Kind, Collection[str]]] = [("mentioned", mentioned), (kind, others)]
    for each, user_ids in told_of:
        await store.add(tx, tenant_id, user_ids, each, ticket.id, actor_name=name, now_us=now_us)


async def moved(tx: Tx, caller: Caller, ticket: Ticket, now_us: int) -> None:
    """Tell the followers that somebody else has changed the status; a reply with it tells them."""
    if not ticket.follower_count or ticket.last_message_at == now_us:
        return
    user_ids, name = await _list_followers(tx, caller, ticket), caller.actor.name
    tenant_id = caller.tenant_id
    await store.add(tx, tenant_id, user_ids, "status", ticket.id, actor_name=name, now_us=now_us)


async def _list_followers(tx: Tx, caller: Caller, ticket: Ticket) -> list[str]:
    """The ids of the followers, without the one who does it."""
    listed = await followers.list_followers(tx, caller.tenant_id, ticket.id)
    return [each.id for each in listed if each.id != caller.actor.id]


async def _find_mentioned(tx: Tx, caller: Caller, body: str) -> list[str]:
    people = await assignees.list_assignees(tx, caller.tenant_id, _MAX_PEOPLE)
    names = mentions.index_names((each.id, each.name) for each in people if each.is_active)
    found = {each.user_id for each in mentions.find_mentions(body, names)} - {caller.actor.id}
    return sorted(found)[:_MAX_MENTIONED]
