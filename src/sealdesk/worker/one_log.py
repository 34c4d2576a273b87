"""The log of all tenants: its sequencer and its consumers."""

import asyncio
from collections.abc import Callable

from sealdesk.automation.steps import store as automation
from sealdesk.automation.steps.queueing import RuleQueue
from sealdesk.db.engine import Tx
from sealdesk.reports.steps.counting import MAX_AHEAD, ReportCounter
from sealdesk.search.indexing import Budget
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import fan_out
from sealdesk.worker import indexer, log_tasks
from sealdesk.worker.log_tasks import ConsumerTask
from sealdesk.worker.mail import QueueTask, mail_queue_task


class OneLog:
    """Sequences the events of all tenants in one log, and runs its consumers.

    on_deliveries, on_messages: called after a step that handled events of webhooks, of e-mail.
    """

    def __init__(
        self, state: AppState, on_deliveries: Callable[[], None], on_messages: Callable[[], None]
    ) -> None:
        self._state = state
        self._tasks = [
            ConsumerTask(fan_out.FanOut(), on_deliveries),
            mail_queue_task(on_messages),
            QueueTask(RuleQueue(), automation.is_used, _ignore),
            ReportTask(),
        ]

    async def run(self) -> None:
        """Run until cancelled; the failure of a step ends nothing."""
        async with asyncio.TaskGroup() as group:
            for task in self._tasks:
                group.create_task(task.run(self._state))
            group.create_task(log_tasks.watch(self._state, self._tasks))
            if self._state.settings.has_worker_process:
                group.create_task(log_tasks.run_sequencer(self._state, self._tasks))

    async def continue_backlogs(self, state: AppState) -> int:
        """Make the next deliveries of the backlogs whose turn it is; how many backlogs."""
        return await fan_out.continue_backlogs(state)

    async def update_indexes(self, state: AppState, budget: Budget) -> int:
        """Let each index handle its next events and continue its rebuild; how much was done."""
        return await indexer.update_indexes(state, budget)


class ReportTask(QueueTask):
    """Counts tickets for reports, two seconds late: many at once, desk by desk."""

    rest_s = 2.0

    def __init__(self) -> None:
        self._counter = ReportCounter()
        super().__init__(self._counter, _is_urgent, _ignore)

    async def _run_step(self, state: AppState) -> int:
        counted = await self._counter.count_ahead(state.database)
        # New events are left to come together while the task rests.
        return counted >= MAX_AHEAD if counted else await super()._run_step(state)


async def _is_urgent(tx: Tx) -> bool:
    return False


def _ignore() -> None:
    """The task of the rules looks for work by itself, and reports wake nobody."""
