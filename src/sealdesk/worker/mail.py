"""The tasks of e-mail: queue the messages of new replies, and send what is due."""

import asyncio
from collections.abc import Callable

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.mail.contact_form import actions, confirmation
from sealdesk.mail.sending import store
from sealdesk.mail.sending.deliverer import MailDeliverer
from sealdesk.mail.sending.queueing import MailQueue
from sealdesk.state import AppState
from sealdesk.worker.attempts import attempt
from sealdesk.worker.log_tasks import ConsumerTask, wait_for

LOOK_EVERY_S = 0.5
_COMPOSERS = {actions.CONFIRMATION: confirmation.compose}
_REST_S = 0.025  # between two looks, as for webhooks


class MailQueueTask(ConsumerTask):
    """Queues the messages of new replies: at once if a mailbox sends, otherwise at leisure.

    On SQLite each step takes the one writer, and most installations have no mailbox.
    """

    def __init__(self, on_progress: Callable[[], None]) -> None:
        super().__init__(MailQueue(), on_progress)

    async def run(self, state: AppState) -> None:
        """Queue until cancelled."""
        state.database.listeners.append(lambda _: self.wakeup.set())
        while True:
            await wait_for(self.wakeup, LOOK_EVERY_S)
            while await attempt(self._step, state, "mail queue"):
                pass
            is_sending = await attempt(_count_sending, state, "mail queue")
            await asyncio.sleep(_REST_S if is_sending else LOOK_EVERY_S)

    async def _step(self, state: AppState) -> int:
        # On SQLite an empty step would still take the writer.
        return await self._run_step(state) if await state.database.read(_has_events) else 0


async def keep_sending(state: AppState, wakeup: asyncio.Event) -> None:
    """Send what is due until cancelled. wakeup: set when messages were queued."""
    deliverer = MailDeliverer(state, _COMPOSERS)
    # On SQLite one process sends: a lease that exists at its start is of a killed process.
    if not state.settings.has_worker_process:
        await attempt(_end_leases, state, "mail")
    try:
        while True:
            await attempt(deliverer.run_step, state, "mail")
            await asyncio.sleep(_REST_S)
            await wait_for(wakeup, LOOK_EVERY_S)
    finally:
        await deliverer.end()


async def _has_events(tx: Tx) -> bool:
    return bool(await consumers.find_lags(tx, [MailQueue.name]))


async def _count_sending(state: AppState) -> int:
    return len(await state.database.read(lambda tx: store.list_sending(tx, 1)))


async def _end_leases(state: AppState) -> int:
    await state.database.write(store.end_all_leases)
    return 0
