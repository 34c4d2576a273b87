"""The tasks of e-mail: queue the messages of new replies, and send what is due."""

import asyncio
from collections.abc import Awaitable, Callable

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.event_log.consumers import Consumer
from sealdesk.mail.contact_form import actions, confirmation
from sealdesk.mail.ratings import asking
from sealdesk.mail.sending import store
from sealdesk.mail.sending.deliverer import MailDeliverer
from sealdesk.mail.sending.queueing import MailQueue
from sealdesk.mail.weekly_reports import actions as weekly
from sealdesk.mail.weekly_reports import composing as weekly_composing
from sealdesk.state import AppState
from sealdesk.worker.log_tasks import ConsumerTask, wait_for
from sealdesk.worker.steps import attempt

LOOK_EVERY_S = 0.5
_COMPOSERS = {
    actions.CONFIRMATION: confirmation.compose,
    asking.RATING: asking.compose,
    weekly.WEEKLY: weekly_composing.compose,
}
_REST_S = 0.025  # between two looks, as for webhooks


class QueueTask(ConsumerTask):
    """Queues work of new events: at once if the installation uses it, otherwise at leisure.

    On SQLite each step takes the one writer, and most installations have no mailbox and no rule.
    is_used: reads whether there is one. rest_s: of the leisure.
    """

    rest_s = LOOK_EVERY_S

    def __init__(
        self,
        consumer: Consumer,
        is_used: Callable[[Tx], Awaitable[bool]],
        on_progress: Callable[[], None],
    ) -> None:
        super().__init__(consumer, on_progress)
        self._is_used = is_used

    async def run(self, state: AppState) -> None:
        """Queue until cancelled."""
        state.database.listeners.append(lambda _: self.wakeup.set())
        name = f"{self.consumer.name} queue"
        while True:
            await self.wakeup.wait()
            self.wakeup.clear()
            while await attempt(self._step, state, name):
                pass
            is_used = await attempt(self._look, state, name)
            await asyncio.sleep(_REST_S if is_used else self.rest_s)

    async def _look(self, state: AppState) -> int:
        return await state.database.read(self._is_used)

    async def _step(self, state: AppState) -> int:
        # On SQLite an empty step would still take the writer.
        names = [self.consumer.name]
        has_events = await state.database.read(lambda tx: consumers.find_lags(tx, names))
        return await self._run_step(state) if has_events else 0


def mail_queue_task(on_progress: Callable[[], None]) -> QueueTask:
    """Queues the messages of new replies."""
    return QueueTask(MailQueue(asking.list_questions), _is_sending, on_progress)


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


async def _is_sending(tx: Tx) -> bool:
    return bool(await store.list_sending(tx, 1))


async def _end_leases(state: AppState) -> int:
    await state.database.write(store.end_all_leases)
    return 0
