"""Queues outgoing messages: replies, what participants write, acknowledgements, ratings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.event_log.events import is_history
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.types import Outcome, OutgoingMessage, SendingMailbox
from sealdesk.mail.threads import store as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.addresses import is_read
from sealdesk.tickets.ticket.types import AuthorType, Reply

_QUEUED = Outcome("queued", None)
# What events of changed statuses ask of customers, at a time.
Questions = Callable[
    [Tx, Sequence[LogEvent], Mapping[str, SendingMailbox], int], Awaitable[list[OutgoingMessage]]
]


class _Author(msgspec.Struct):
    type: AuthorType


class _Reply(msgspec.Struct):
    """What the object of reply.created says that matters here."""

    id: str
    ticket_id: str
    is_internal: bool
    author: _Author


class MailQueue:
    """Queues each public reply to the participants of its ticket, and questions for ratings.

    Not what customers wrote, what was imported, and what is older than the mailbox. list_questions:
    the messages for changed statuses. tenant_id: of this tenant, else of all tenants.
    """

    name = "mail"
    batch_size = 500
    reads_objects = False

    def __init__(self, list_questions: Questions, tenant_id: str = "") -> None:
        self._list_questions = list_questions
        self.tenant_id = tenant_id

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return bool(await self._list_sending(tx))

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        sending = {each.id: each for each in await self._list_sending(tx)}
        tenants = {each.tenant_id for each in sending.values()}
        for event in events:
            if event.type == "reply.created" and event.tenant_id in tenants:
                await _queue(tx, event, sending, now_us)
        changed = [
            each
            for each in events
            if each.type == "ticket.status_changed"
            and each.tenant_id in tenants
            and not is_history(each.id, each.happened_at)
        ]
        if changed:
            await _add(tx, await self._list_questions(tx, changed, sending, now_us))
        return len(events)

    async def recover(self, tx: Tx) -> None:
        """Nothing: a pruned event is too old to be sent."""

    async def _list_sending(self, tx: Tx) -> list[SendingMailbox]:
        if self.tenant_id:
            return await store.list_sending_of(tx, self.tenant_id)
        return await store.list_sending(tx)


async def acknowledge(
    tx: Tx, mailbox: Mailbox, ticket_id: str, address_identity: str, now_us: int
) -> bool:
    """Answer the person whose message has opened a ticket; whether that is done.

    Not if the mailbox has no text for it, if they are no participant, as a mailbox of the desk is
    none, if they have called a message spam, and if they had one a short time ago: a robot that
    does not say that it is one would answer each.
    """
    if not mailbox.acknowledgement or not mailbox.sends:
        return False
    tenant_id = mailbox.tenant_id
    person = await threads.find_participant(tx, tenant_id, ticket_id, address_identity)
    since_us = now_us - rules.ACKNOWLEDGED_DAY_US
    sent = await store.list_acknowledged(tx, tenant_id, address_identity, since_us)
    if person is None or not is_read(person.address) or not rules.may_acknowledge(sent, now_us):
        return False
    if await store.has_complained(tx, tenant_id, address_identity):
        return False
    message = OutgoingMessage.queued(
        mailbox,
        ticket_id=ticket_id,
        about_id=ticket_id,
        kind="acknowledgement",
        address=person.address,
        message_id=rules.message_id(ticket_id, person.token, mailbox.address),
        now_us=now_us,
    )
    await _add(tx, [message])
    return True


async def share(
    tx: Tx, tenant_id: str, reply: Reply, people: Sequence[Participant], now_us: int
) -> None:
    """Queue what a participant has written to other participants of the ticket."""
    readers = [each for each in people if is_read(each.address)]
    if not readers:
        return
    sending = {each.id: each for each in await store.list_sending_of(tx, tenant_id)}
    ticket_id, reply_id = reply.ticket_id, reply.id
    await _add(tx, _messages(readers, sending, ticket_id, reply_id, "shared", now_us))


async def _queue(tx: Tx, event: LogEvent, sending: dict[str, SendingMailbox], now_us: int) -> None:
    found = await store.find_event(tx, event.tenant_id, event.id)
    if found is None:
        return
    reply = msgspec.json.decode(found, type=_Reply)
    # An imported reply was written at another time than it was recorded.
    is_imported = ids.instant_of(reply.id) != ids.instant_of(event.id)
    if reply.is_internal or reply.author.type == "customer" or is_imported:
        return
    listed = await threads.list_recipients(tx, event.tenant_id, reply.ticket_id)
    messages = _messages(listed, sending, reply.ticket_id, reply.id, "reply", now_us)
    if messages:
        await _add(tx, messages)
        await store.set_delivery(tx, messages[0], _QUEUED, now_us)


def _messages(
    people: Sequence[Participant],
    sending: Mapping[str, SendingMailbox],
    ticket_id: str,
    reply_id: str,
    kind: str,
    now_us: int,
) -> list[OutgoingMessage]:
    """A message with a reply to each of these people whose mailbox sends."""
    return [
        OutgoingMessage.queued(
            mailbox,
            ticket_id=ticket_id,
            about_id=reply_id,
            kind=kind,
            address=each.address,
            message_id=rules.message_id(reply_id, each.token, mailbox.address),
            now_us=now_us,
        )
        for each in people
        if (mailbox := sending.get(each.mailbox_id)) is not None
        and mailbox.created_at <= ids.instant_of(reply_id)
    ]


async def _add(tx: Tx, messages: Sequence[OutgoingMessage]) -> None:
    await store.add(tx, messages)
    for each in messages:
        await threads.remember_message(tx, each.tenant_id, each.message_id, each.ticket_id)
