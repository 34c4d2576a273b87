"""One step of an erasure: some rows of one stage, in one transaction."""

from collections.abc import Awaitable, Callable

import msgspec

from sealdesk.customers import rules as customers
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.tickets.erasing.steps import conversations, indexes, store
from sealdesk.tickets.erasing.steps.logs import actions as logs
from sealdesk.tickets.erasing.steps.mail import actions as mail
from sealdesk.tickets.erasing.types import Done, Erasure

Stage = Callable[[Tx, Erasure], Awaitable[Done]]
# In this order. Participants first, so that nothing more is sent to them. Replies before their
# ticket, so that its last one is not shown again; the events behind everything that an event could
# still tell.
STAGES: dict[str, Stage] = {
    "customer": indexes.update_customer,
    "earlier": logs.find_earlier,
    "participants": mail.erase_participants,
    "outgoing": mail.erase_outgoing,
    "received": mail.erase_received,
    "submissions": mail.erase_submissions,
    "replies": conversations.erase_replies,
    "changes": conversations.erase_changes,
    "tickets": conversations.erase_tickets,
    "merged": conversations.erase_merged,
    "search": indexes.update_tickets,
    "outbox": logs.wait_for_events,
    "events": logs.erase_events,
    "attempts": logs.erase_attempts,
    "responses": logs.erase_responses,
    "refusals": logs.erase_refusals,
    "audit": logs.erase_audit,
    "views": logs.erase_views,
    "notifications": logs.erase_notifications,
    "words": indexes.purge_words,
}
_NAMES = (*STAGES, "")


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Continue the desk's erasure that had no step for the longest time; 0 if nothing can be done.

    What it has erased and how far it is are committed together, so a step that is interrupted
    runs again as a whole.
    """
    await tx.set_tenant(tenant_id)
    erasure = await store.claim_erasure(tx, tenant_id, now_us)
    if erasure is None:
        return 0
    done = await STAGES[erasure.stage](tx, erasure)
    await store.store_step(tx, await _after(tx, erasure, done, now_us))
    return 0 if done.is_waiting else 1


async def _after(tx: Tx, erasure: Erasure, done: Done, now_us: int) -> Erasure:
    count = erasure.erased_ticket_count + done.tickets
    stage = erasure.stage if done.cursor is not None else _NAMES[_NAMES.index(erasure.stage) + 1]
    after = msgspec.structs.replace(
        erasure,
        stage=stage,
        cursor=done.cursor or "",
        texts=done.texts or erasure.texts,
        erased_ticket_count=count,
        stepped_at=now_us,
    )
    if stage:
        return after
    await _tell(tx, erasure, now_us)
    return msgspec.structs.replace(after, texts=(), finished_at=now_us)


async def _tell(tx: Tx, erasure: Erasure, now_us: int) -> None:
    """Record the event; without one for a customer who was deleted meanwhile."""
    customer = await store.find_customer(tx, erasure)
    if customer is not None:
        await events.record(
            tx,
            erasure.tenant_id,
            "customer.erased",
            customers.to_json(customer),
            events.NO_CHANGES,
            now_us,
        )
