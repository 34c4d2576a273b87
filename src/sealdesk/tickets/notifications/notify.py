"""Who is notified of what happens to a ticket, in the transaction of the change."""

from collections.abc import Collection

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.followers import store as followers
from sealdesk.tickets.notifications import store
from sealdesk.tickets.notifications.types import Kind
from sealdesk.tickets.text import markdown, mentions
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.types import Reply, Ticket

_MAX_PEOPLE = 1000  # who can be mentioned: the newest
_MAX_MENTIONED = 50
_MAX_RESPONSIBLE = 50


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


async def reminded(tx: Tx, ticket: Ticket, kind: Kind, now_us: int) -> None:
    """Tell the assignee what time has brought: the end of a snooze, or a due time."""
    user_ids = [ticket.assignee_id] if ticket.assignee_id else []
    await store.add(tx, ticket.tenant_id, user_ids, kind, ticket.id, actor_name="", now_us=now_us)


async def replied(
    tx: Tx, caller: Caller, ticket: Ticket, reply: Reply, now_us: int, *, author_id: str = ""
) -> None:
    """Tell the assignee of what the customer or the mail receiver wrote, those whom a colleague
    mentions, and followers.

    Who is mentioned follows the ticket from then on. author_id: of the user whose reply a note is
    about, who is told too.
    """
    is_of_customer, mentioned = reply.author.type == "customer", list[str]()
    is_for_assignee = is_of_customer or caller.actor.kind == "system"
    recipients = [ticket.assignee_id] if ticket.assignee_id and is_for_assignee else []
    recipients += [author_id] if author_id else []
    if not recipients and is_for_assignee and _is_out_of_sight(ticket, reply):
        recipients = await _list_responsible(tx, caller, ticket)
    if ticket.follower_count and not caller.is_worker:
        recipients += await _list_followers(tx, caller, ticket)
    if caller.actor.kind == "user" and not is_of_customer:
        mentioned = await _find_mentioned(tx, caller, reply.body)
        await _add_followers(tx, ticket, mentioned)
    name = reply.author.name or caller.actor.name
    kind: Kind = "noted" if reply.is_internal else "replied"
    others = {*recipients} - {*mentioned}
    tenant_id = caller.tenant_id
    by_kind: list[tuple[Kind, Collection[str]]] = [("mentioned", mentioned), (kind, others)]
    for each, user_ids in by_kind:
        await store.add(tx, tenant_id, user_ids, each, ticket.id, actor_name=name, now_us=now_us)


async def edited(
    tx: Tx, caller: Caller, ticket: Ticket, before: str, text: str, now_us: int
) -> None:
    """Tell those whom an edited note mentions, and did not mention before."""
    known = await _find_mentioned(tx, caller, before)
    added = [each for each in await _find_mentioned(tx, caller, text) if each not in known]
    await _add_followers(tx, ticket, added)
    name, tenant_id = caller.actor.name, caller.tenant_id
    await store.add(tx, tenant_id, added, "mentioned", ticket.id, actor_name=name, now_us=now_us)


async def moved(tx: Tx, caller: Caller, ticket: Ticket, now_us: int) -> None:
    """Tell the followers that somebody else has changed the status; a reply with it tells them."""
    if not ticket.follower_count or ticket.last_message_at == now_us or caller.is_worker:
        return
    user_ids, name = await _list_followers(tx, caller, ticket), caller.actor.name
    tenant_id = caller.tenant_id
    await store.add(tx, tenant_id, user_ids, "status", ticket.id, actor_name=name, now_us=now_us)


def _is_out_of_sight(ticket: Ticket, reply: Reply) -> bool:
    """Whether nobody would look: a note reopens nothing."""
    return reply.is_internal and ticket.status != "open"


async def _list_responsible(tx: Tx, caller: Caller, ticket: Ticket) -> list[str]:
    """The team of a ticket without an assignee; without a team the newest users."""
    if caller.is_worker:
        return []
    if ticket.team_id is not None:
        members = await teams.list_member_ids(tx, caller.tenant_id, ticket.team_id)
        if members:
            return members
    people = await assignees.list_assignees(tx, caller.tenant_id, _MAX_RESPONSIBLE)
    return [each.id for each in people if each.is_active]


async def _list_followers(tx: Tx, caller: Caller, ticket: Ticket) -> list[str]:
    """The ids of the followers, without the one who does it."""
    listed = await followers.list_followers(tx, caller.tenant_id, ticket.id)
    return [each.id for each in listed if each.id != caller.actor.id]


async def _add_followers(tx: Tx, ticket: Ticket, user_ids: Collection[str]) -> None:
    for user_id in user_ids:
        await followers.add(tx, ticket.tenant_id, ticket.id, user_id)


async def _find_mentioned(tx: Tx, caller: Caller, body: str) -> list[str]:
    if "@" not in body:
        return []
    people = await assignees.list_assignees(tx, caller.tenant_id, _MAX_PEOPLE)
    names = mentions.index_names((each.id, each.label) for each in people if each.is_active)
    found = {*markdown.mentioned_ids(body, names)} - {caller.actor.id}
    return sorted(found)[:_MAX_MENTIONED]
