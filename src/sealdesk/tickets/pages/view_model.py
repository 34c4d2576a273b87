"""What the page of a ticket shows, read in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import CustomerResponse
from sealdesk.db.engine import Tx
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.resources.representation import email_identity
from sealdesk.tickets import actions, checks
from sealdesk.tickets.custom_fields import store as custom_field_store
from sealdesk.tickets.followers import store as followers
from sealdesk.tickets.followers.store import Follower
from sealdesk.tickets.held_replies import store as held_replies
from sealdesk.tickets.held_replies.types import HeldReply
from sealdesk.tickets.links import rules as link_rules
from sealdesk.tickets.links import store as links
from sealdesk.tickets.links.types import TicketLinkResponse
from sealdesk.tickets.macros import store as macros
from sealdesk.tickets.macros.types import MacroChoice, Reader
from sealdesk.tickets.pages import custom_values
from sealdesk.tickets.pages.custom_values import CustomValues
from sealdesk.tickets.pages.timeline import Timeline, load_timeline
from sealdesk.tickets.ticket.store import (
    assignees,
    destinations,
    history,
    lists,
    mail,
    replying,
    teams,
)
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.destinations import Acknowledgement, Destination
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.store.history import TicketHistoryEntry
from sealdesk.tickets.ticket.store.mail import Origin
from sealdesk.tickets.ticket.store.teams import TeamOption
from sealdesk.tickets.ticket.types import AttachmentRef, TicketResponse

_CHANGES = 10  # that somebody else may have made while a form was open
OTHER_TICKETS = 5
ASSIGNEES = 1000  # the options of a select
decode = msgspec.json.Decoder(TicketResponse).decode


class TicketPage(NamedTuple):
    """A ticket with everything that its page shows.

    changes: the newest, newest first. names: of users and teams by
    their id, and of custom fields.
    others: the customer's newest other tickets. replying: names of other agents who are writing.
    recipients: the addresses that a reply is sent to by e-mail.
    webhooks: what the endpoints that receive a reply are called. unsent_files: of a reply that was
    not accepted. acknowledgement: of the e-mail that opened it, None for none.
    lacks_recipient: whether it came by e-mail, and nobody can get a reply.
    origins: the e-mails that its messages came by, see `store.mail`.
    held: replies that have not left, or could not.
    """

    ticket: TicketResponse
    etag: str
    customer: CustomerResponse
    timeline: Timeline
    changes: list[TicketHistoryEntry]
    people: list[Assignee]
    teams: list[TeamOption]
    names: dict[str, str]
    others: list[TicketResponse]
    replying: Sequence[str]
    recipients: Sequence[str]
    webhooks: Sequence[str]
    macros: list[MacroChoice]
    followers: Sequence[Follower]
    links: Sequence[TicketLinkResponse]
    held: Sequence[HeldReply]
    unsent_files: tuple[AttachmentRef, ...] = ()
    custom: CustomValues = CustomValues()
    acknowledgement: Acknowledgement | None = None
    origins: Mapping[str, Origin] = {}
    has_mailbox: bool = False
    lacks_recipient: bool = False

    @property
    def texts(self) -> list[str]:
        """What people wrote."""
        return [self.ticket.description, *(reply.body for reply in self.timeline.replies)]

    @property
    def answers_to(self) -> Sequence[str]:
        """Where answers go, if that is elsewhere than to the customer; Reply-To may say so."""
        identities = map(email_identity, self.recipients)
        return () if email_identity(self.customer.email) in identities else self.recipients

    @property
    def has_more_people(self) -> bool:
        return has_more_assignees(self.people)


def has_more_assignees(users: Sequence[Assignee]) -> bool:
    """Whether there are more users than a select shows."""
    return len(users) > ASSIGNEES


def assignee_options(people: Sequence[Assignee], reader: Actor) -> dict[str, str]:
    """id → label of the active users and of the reader, who may be none of the newest."""
    options = {user.id: user.label for user in people if user.is_active}
    options.setdefault(reader.id, reader.name)
    return options


def sort_options(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """(id, name) by name, for a select."""
    return sorted(options.items(), key=lambda option: (option[1].casefold(), option[0]))


async def load_ticket_page(
    tx: Tx, caller: Caller, ticket_id: str, *, before: str | None, now_us: int
) -> TicketPage:
    """before: the id of the entry before which to read, None for the newest. Raises NotFound."""
    tenant_id = caller.tenant_id
    view = await actions.get_view(tx, tenant_id, ticket_id)
    ticket = decode(view.json)
    changes = await history.list_changes(tx, tenant_id, ticket_id, PageRequest(_CHANGES, None))
    users = await assignees.list_assignees(tx, tenant_id, ASSIGNEES)
    names = {user.id: user.name for user in users}
    timeline = await load_timeline(tx, tenant_id, ticket_id, before)
    entries = [*changes, *timeline.changes]
    definitions = await custom_field_store.list_fields(tx, tenant_id)
    names |= custom_values.labels_of(definitions)
    customer = await customers.get_customer(tx, tenant_id, ticket.customer.id)
    return TicketPage(
        ticket,
        view.etag,
        customer_rules.to_response(customer),
        timeline,
        changes,
        users,
        await teams.list_teams(tx, tenant_id),
        names | await list_names(tx, tenant_id, ticket, entries, names),
        await _other_tickets(tx, tenant_id, ticket),
        await replying.list_replying(
            tx, tenant_id, ticket_id, except_id=caller.actor.id, now_us=now_us
        ),
        await destinations.list_recipients(tx, tenant_id, ticket_id),
        [_name(each) for each in await destinations.list_destinations(tx, tenant_id)],
        await macros.list_choices(tx, tenant_id, Reader(caller.actor.id)),
        await followers.list_followers(tx, tenant_id, ticket_id),
        link_rules.in_order(link_rules.show(await links.list_links(tx, tenant_id, ticket_id))),
        await held_replies.list_of_ticket(tx, tenant_id, ticket_id),
        custom=custom_values.show_values(definitions, ticket.custom_fields),
        acknowledgement=await destinations.find_acknowledgement(tx, tenant_id, ticket_id)
        if ticket.source == "email"
        else None,
        origins=await mail.list_origins(tx, tenant_id, ticket_id, now_us),
        has_mailbox=await mail.has_mailbox(tx, tenant_id),
        lacks_recipient=await checks.lacks_recipient(tx, tenant_id, ticket_id, ticket.source),
    )


def _name(endpoint: Destination) -> str:
    """Its description, else its host: a URL may contain a secret, which agents must not see."""
    return endpoint.description or urlsplit(endpoint.url).hostname or ""


async def _other_tickets(tx: Tx, tenant_id: str, ticket: TicketResponse) -> list[TicketResponse]:
    # One more than shown, for the ticket itself may be among them.
    page_request = PageRequest(OTHER_TICKETS + 1, None)
    tickets, _ = await list_of_customer(tx, tenant_id, ticket.customer.id, page_request)
    return [other for other in tickets if other.id != ticket.id][:OTHER_TICKETS]


async def list_of_customer(
    tx: Tx, tenant_id: str, customer_id: str, page_request: PageRequest
) -> tuple[list[TicketResponse], bool]:
    """A customer's tickets, newest first, and whether there are more."""
    filters = Filter(customer_id=customer_id)
    rows = await lists.list_tickets(tx, tenant_id, filters, page_request)
    shown = take_page(rows, page_request, lists.size)
    return [decode(lists.to_json(row)) for row in shown], len(rows) > len(shown)


async def list_names(
    tx: Tx,
    tenant_id: str,
    ticket: TicketResponse,
    entries: Sequence[TicketHistoryEntry],
    known_ids: Collection[str] = (),
) -> dict[str, str]:
    """Of the ticket and its changes, by id. known_ids: of names that are not needed."""
    users = history.named_ids(entries, "assignee_id")
    of_teams = history.named_ids(entries, "team_id")
    users |= {ticket.assignee_id} if ticket.assignee_id else set()
    of_teams |= {ticket.team_id} if ticket.team_id else set()
    names = await assignees.list_names(tx, tenant_id, users.difference(known_ids))
    return names | await teams.list_names(tx, tenant_id, of_teams)
