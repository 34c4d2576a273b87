"""What somebody who opens a ticket sees, read at one instant."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk.caller import Caller
from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import CustomerResponse
from sealdesk.db.engine import Tx
from sealdesk.identity import store as people
from sealdesk.identity.rules import User
from sealdesk.paging import PageRequest
from sealdesk.tickets import actions, rules
from sealdesk.tickets.store import history, lists
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.history import Changed
from sealdesk.tickets.store.lists import Filter
from sealdesk.tickets.types import ReplyResponse, TicketResponse

REPLIES = 50
CHANGES = 10
OTHERS = 5
PEOPLE = PageRequest(1000, None)  # as many as a choice of them shows
decode = msgspec.json.Decoder(TicketResponse).decode


class Conversation(NamedTuple):
    """Some replies in reading order, and whether there are any before them."""

    replies: list[ReplyResponse]
    has_earlier: bool

    @property
    def newest_id(self) -> str:
        """Of the last one, "" when there is none."""
        return self.replies[-1].id if self.replies else ""


class View(NamedTuple):
    """A ticket with all that stands beside it.

    names: of people by their id. others: the customer's newest other tickets. answering: the names
    of who else has an answer begun. changes: newest first, one more than CHANGES when there are
    more.
    """

    ticket: TicketResponse
    etag: str
    customer: CustomerResponse
    conversation: Conversation
    changes: list[Changed]
    people: list[User]
    names: dict[str, str]
    others: list[TicketResponse]
    answering: Sequence[str]

    @property
    def has_more_people(self) -> bool:
        return are_more(self.people)


def are_more(users: Sequence[User]) -> bool:
    """Whether there are more people than a choice of them shows."""
    return len(users) > PEOPLE.per_page


async def view(tx: Tx, caller: Caller, ticket_id: str, *, before: str | None, now_us: int) -> View:
    """before: the reply behind which to read back, None for the newest. Raises Missing."""
    tenant_id = caller.tenant_id
    shown = await actions.get_shown(tx, tenant_id, ticket_id)
    ticket = decode(shown.document)
    changes = await history.list_changes(tx, tenant_id, ticket_id, PageRequest(CHANGES, None))
    users = await people.list_users(tx, tenant_id, PEOPLE)
    names = {user.id: user.name for user in users}
    mentioned = history.assignees(changes)
    if ticket.assignee_id is not None:
        mentioned.add(ticket.assignee_id)
    return View(
        ticket,
        shown.etag,
        customer_rules.shown(await customers.get_customer(tx, tenant_id, ticket.customer.id)),
        await _conversation(tx, tenant_id, ticket_id, before),
        changes,
        users,
        names | await ticket_store.list_names(tx, tenant_id, mentioned - names.keys()),
        await _others(tx, tenant_id, ticket),
        await history.list_answering(
            tx, tenant_id, ticket_id, but_for=caller.actor.id, now_us=now_us
        ),
    )


async def _conversation(tx: Tx, tenant_id: str, ticket_id: str, before: str | None) -> Conversation:
    page = PageRequest(REPLIES, [before] if before else None)
    found = await ticket_store.list_replies(
        tx, tenant_id, ticket_id, page, is_internal=None, newest_first=True
    )
    shown = [rules.reply_shown(reply) for reply in reversed(found[:REPLIES])]
    return Conversation(shown, len(found) > REPLIES)


async def _others(tx: Tx, tenant_id: str, ticket: TicketResponse) -> list[TicketResponse]:
    # One more than wanted, for the ticket itself may be among them.
    found = await list_of_customer(tx, tenant_id, ticket.customer.id, PageRequest(OTHERS, None))
    return [other for other in found if other.id != ticket.id][:OTHERS]


async def list_of_customer(
    tx: Tx, tenant_id: str, customer_id: str, page: PageRequest
) -> list[TicketResponse]:
    """A customer's tickets, newest first; one more than the page when there are more."""
    wanted = Filter(customer_id=customer_id)
    rows = await lists.list_tickets(tx, tenant_id, wanted, page)
    return [decode(lists.show(row)) for row in rows]
