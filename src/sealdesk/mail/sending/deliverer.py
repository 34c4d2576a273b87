"""Sends the messages that are due: some mailboxes at once, each on a connection of its own."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping

from sealdesk.db.result_writer import ResultWriter
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.sending import results, store
from sealdesk.mail.sending.pace import Pace
from sealdesk.mail.sending.turns import Compose, Turn
from sealdesk.mail.sending.types import DueMailbox
from sealdesk.state import AppState

_MAX_DUE = 500
# At once: of all, of those with a problem, and of one tenant, whose servers may all hang.
_MAX_TURNS, _MAX_FAILING, _MAX_OF_TENANT = 50, 15, 5
_END_S = 5.0

log = logging.getLogger("sealdesk.mail")


class MailDeliverer:
    """Gives turns to the mailboxes with messages that are due."""

    def __init__(self, state: AppState, composers: Mapping[str, Compose]) -> None:
        """composers: what composes the messages of a kind, other than replies."""
        self._state = state
        self._composers = composers
        self._pace = Pace()
        self._results = ResultWriter(
            state.database, state.clock, results.store_results, batch_size=results.BATCH
        )
        self._turns: dict[str, Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run_step(self, state: AppState) -> int:
        """Begin a turn for each mailbox that is due, as far as there is room; how many."""
        now_us = state.clock.now_us()
        due = await state.database.read(lambda tx: store.list_due_mailboxes(tx, now_us, _MAX_DUE))
        begun = 0
        for mailbox in due:
            if (turn := self._turns.get(mailbox.id)) is not None:
                turn.wakeup.set()
            elif self._pace.may_begin(mailbox, now_us) and self._has_room(mailbox):
                self._begin(mailbox)
                begun += 1
        return begun

    async def end(self) -> None:
        """Wait a short time for messages that are being sent; afterwards no turn goes on."""
        for turn in self._turns.values():
            turn.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_END_S)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_END_S)

    def _has_room(self, mailbox: DueMailbox) -> bool:
        turns = [turn for turn in self._turns.values() if not turn.is_idle]
        of_tenant = Counter(turn.due.tenant_id for turn in turns)[mailbox.tenant_id]
        failing = sum(turn.due.is_failing for turn in turns)
        if of_tenant >= _MAX_OF_TENANT or (mailbox.is_failing and failing >= _MAX_FAILING):
            return False
        if len(self._turns) >= _MAX_TURNS:
            for turn in self._turns.values():
                if turn.is_idle:
                    turn.end()
                    break
        return len(self._turns) < _MAX_TURNS

    def _begin(self, mailbox: DueMailbox) -> None:
        turn = self._turns[mailbox.id] = Turn(
            self._state, self._composers, mailbox, self._pace, self._results
        )
        task = asyncio.create_task(self._run(turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, turn: Turn) -> None:
        try:
            await turn.run()
        except ServiceUnavailable as error:
            cause = repr(error.__cause__)
            log.warning("messages wait for the database", extra={"cause": cause})
        except Exception:
            self._pace.note_failure(turn.due, self._state.clock.now_us())
            log.exception("sending failed", extra={"mailbox_id": turn.due.id})
        finally:
            del self._turns[turn.due.id]
