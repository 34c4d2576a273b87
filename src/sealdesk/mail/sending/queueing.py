"""Queues the messages of new public replies: a consumer of the event log."""

from collections.abc import Sequence

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.results import store as results
from sealdesk.mail.sending.store import SendingMailbox
from sealdesk.mail.sending.types import Outcome, OutgoingMessage
from sealdesk.mail.threads import store as threads
from sealdesk.tickets.types import AuthorType

_QUEUED = Outcome("queued", None)


class _Author(msgspec.Struct):
    type: AuthorType


class _Reply(msgspec.Struct):
    """What the object of reply.created says that matters here."""

    id: str
    ticket_id: str
    is_internal: bool
    author: _Author


class MailQueue:
    """Queues each public reply to the participants of its ticket.

    Not what customers wrote, what was imported, and what is older than the mailbox. tenant_id: of
    this tenant, else of all tenants.
    """

    name = "mail"
    batch_size = 500
    reads_objects = False

    def __init__(self, tenant_id: str = "") -> None:
        self.tenant_id = tenant_id

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return bool(await self._list_sending(tx))

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        sending = {each.id: each for each in await self._list_sending(tx)}
        tenants = {each.tenant_id for each in sending.values()}
        for event in events:
            if event.type == "reply.created" and event.tenant_id in tenants:
                await _queue(tx, event, sending, now_us)
        return len(events)

    async def recover(self, tx: Tx) -> None:
        """Nothing: a pruned event is too old to be sent."""

    async def _list_sending(self, tx: Tx) -> list[SendingMailbox]:
        if self.tenant_id:
            return await store.list_sending_of(tx, self.tenant_id)
        return await store.list_sending(tx)


async def _queue(
    tx: Tx, event: LogEvent, sending: dict[str, SendingMailbox], now_us: int
) -> None:  # fmt: skip
    found = await store.find_event(tx, event.tenant_id, event.id)
    if found is None:
        return
    reply = msgspec.json.decode(found, type=_Reply)
    # An imported reply was written at another time than it was recorded.
    is_imported = ids.instant_of(reply.id) != ids.instant_of(event.id)
    if reply.is_internal or reply.author.type == "customer" or is_imported:
        return
    listed = await threads.list_participants(tx, event.tenant_id, reply.ticket_id)
    messages = [
        OutgoingMessage(
            tenant_id=event.tenant_id,
            id=ids.mint(now_us),
            mailbox_id=mailbox.id,
            ticket_id=reply.ticket_id,
            about_id=reply.id,
            kind="reply",
            address=each.address,
            message_id=rules.message_id(reply.id, each.token, mailbox.address),
            state="queued",
            reason=None,
            attempt_count=0,
            created_at=now_us,
            due_at=now_us,
            leased_until=None,
            finished_at=None,
        )
        for each in listed
        if (mailbox := sending.get(each.mailbox_id)) is not None
        and mailbox.created_at <= ids.instant_of(reply.id)
    ]
    if messages:
        await store.add(tx, messages)
        for each in messages:
            await threads.remember_message(tx, each.tenant_id, each.message_id, each.ticket_id)
        await results.set_delivery(tx, messages[0], _QUEUED, now_us)
