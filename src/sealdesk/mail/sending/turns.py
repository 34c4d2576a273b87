"""One mailbox sends what is due, on one connection, which stays open for a while."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from sealdesk.db.result_writer import ResultWriter
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes import log_ins
from sealdesk.mail.mailboxes.store import mailboxes as mailbox_store
from sealdesk.mail.mailboxes.types import Failure, Mailbox
from sealdesk.mail.sending import contents, store
from sealdesk.mail.sending.pace import Pace
from sealdesk.mail.sending.session import Session
from sealdesk.mail.sending.types import DueMailbox, Outcome, OutgoingMessage, Result
from sealdesk.mail.servers import MailFailed, ProblemCode
from sealdesk.state import AppState
from sealdesk.tickets.attachments.errors import CONTENT_UNAVAILABLE

_MAX_LEASED = 50
_TURN_S = 300.0
# The lease of a process that was killed runs out, and another one sends the message.
LEASE_US = 60_000_000
_RENEW_EVERY_S = 15.0
_MIN_LEASE_US = 20_000_000  # no message is begun when less of the lease is left
_LINGER_S = 10.0
_GONE = Outcome("failed", "There is nothing to send any more.")
_UNWRITABLE = Outcome("failed", "No message can be written to this address.")
_UNREADABLE = Outcome("queued", "A file of this reply cannot be read.")
# What may be the fault of the message that was being sent.
_OF_MESSAGE: tuple[ProblemCode, ...] = ("timed_out", "closed", "unexpected_answer")

Compose = Callable[[AppState, Mailbox, OutgoingMessage], Awaitable[bytes | None]]

log = logging.getLogger("sealdesk.mail")


class Turn:
    """A mailbox's turn. wakeup: set when it has messages that are due."""

    def __init__(
        self,
        state: AppState,
        composers: Mapping[str, Compose],
        due: DueMailbox,
        pace: Pace,
        results: ResultWriter[Result],
    ) -> None:
        self.due = due
        self.wakeup = asyncio.Event()
        self.is_idle = False
        self._state = state
        self._composers = composers
        self._pace = pace
        self._results = results
        self._waiting: deque[OutgoingMessage] = deque()
        self._leases = 0, 0  # the present one, and the one before it
        self._storing: set[asyncio.Future[bool]] = set()
        self._end_at_s = asyncio.get_running_loop().time() + _TURN_S
        self._is_over = False
        self._is_known_to_work = False

    def end(self) -> None:
        """Let it end after the message that it sends."""
        self._is_over = True
        self.wakeup.set()

    async def run(self) -> None:
        """Send until nothing has been due for a while, or the turn is over."""
        mailbox = await self._find_mailbox()
        if mailbox is None or not await self._lease(mailbox):
            return
        renewing = asyncio.create_task(self._keep_leases())
        try:
            await self._connect_and_send(mailbox)
        except MailFailed as error:
            log_ins.note_refusal(self._state.access_tokens, mailbox, error)
            self._pace.note_failure(self.due, self._state.clock.now_us())
            await self._set_problem(mailbox, error)
            self._give_back(Outcome("queued", error.detail))
        finally:
            renewing.cancel()
            self._give_back(None)
            if self._storing:
                await asyncio.wait(self._storing)

    async def _connect_and_send(self, mailbox: Mailbox) -> None:
        log_in = await log_ins.open_log_in(self._state, mailbox, "smtp")
        async with Session(self._state.mail_resolver, mailbox, log_in) as session:
            while self._waiting:
                await self._send_waiting(session, mailbox)
                if not await self._lease(mailbox) and not await self._linger(session, mailbox):
                    return

    async def _send_waiting(self, session: Session, mailbox: Mailbox) -> None:
        while self._waiting and not self._is_over and self._has_lease():
            message = self._waiting[0]
            content = await self._find_content(mailbox, message)
            if self._storing:
                # So that a process that is killed sends one message of a mailbox again at most.
                await asyncio.wait(self._storing)
            if isinstance(content, Outcome):
                self._store(message, content, gets_note=content is not _GONE)
            else:
                await self._send(session, mailbox, message, content)
            self._waiting.popleft()

    async def _find_content(self, mailbox: Mailbox, message: OutgoingMessage) -> bytes | Outcome:
        """What to send, or the result if there is nothing."""
        compose = self._composers.get(message.kind, contents.find)
        try:
            return await compose(self._state, mailbox, message) or _GONE
        except (ValueError, UnicodeError):
            log.warning("a message cannot be written", extra={"message_id": message.id})
            return _UNWRITABLE
        except ServiceUnavailable as error:
            if error.problem_type is not CONTENT_UNAVAILABLE:
                raise
            # Others must not wait for a file that may be lost.
            cause = repr(error.__cause__)
            extra = {"message_id": message.id, "cause": cause}
            log.warning("a message waits for a file", extra=extra)
            return _UNREADABLE

    async def _linger(self, session: Session, mailbox: Mailbox) -> bool:
        """Keep the connection for a while; whether there is something to send on it."""
        until_s = asyncio.get_running_loop().time() + _LINGER_S
        while not self._is_over:
            self.is_idle = True
            try:
                async with asyncio.timeout_at(until_s):
                    await self.wakeup.wait()
            except TimeoutError:
                return False
            finally:
                self.is_idle = False
            self.wakeup.clear()
            is_alive = await session.is_alive()
            if not is_alive or await self._lease(mailbox):
                return is_alive
        return False

    async def _send(
        self, session: Session, mailbox: Mailbox, message: OutgoingMessage, content: bytes
    ) -> None:
        self._pace.note_sent(mailbox.id, self._state.clock.now_us())
        try:
            outcome = await session.send(message.address, content)
        except MailFailed as error:
            if error.code in _OF_MESSAGE:
                # Others must not wait for a message that the server cannot take.
                self._waiting.popleft()
                self._store(message, Outcome("queued", error.detail))
            raise
        self._store(message, outcome)
        await self._note_success(mailbox)

    async def _note_success(self, mailbox: Mailbox) -> None:
        self._pace.note_success(mailbox.id)
        if mailbox.problems.sending is not None and not self._is_known_to_work:
            self._is_known_to_work = True
            await self._set_problem(mailbox, None)

    async def _find_mailbox(self) -> Mailbox | None:
        due = self.due
        return await self._state.database.read(
            lambda tx: mailbox_store.find(tx, due.tenant_id, due.id)
        )

    async def _lease(self, mailbox: Mailbox) -> bool:
        """Take what is due and may be sent now; whether there is any."""
        now_us = self._state.clock.now_us()
        room = self._pace.room(mailbox.id, mailbox.per_minute, now_us)
        is_late = asyncio.get_running_loop().time() > self._end_at_s
        if self._is_over or is_late or not room:
            return False
        lease, due, limit = now_us + LEASE_US, self.due, min(room, _MAX_LEASED)
        messages = await self._state.database.write(
            lambda tx: store.lease(tx, due, now_us, lease, limit)
        )
        self._leases = lease, lease
        self._waiting.extend(messages)
        return bool(messages)

    def _has_lease(self) -> bool:
        return self._state.clock.now_us() < self._leases[0] - _MIN_LEASE_US

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_EVERY_S)
            try:
                await self._renew()
            except ServiceUnavailable as error:
                log.warning("leases wait for the database", extra={"cause": repr(error.__cause__)})

    async def _renew(self) -> None:
        waiting = [*self._waiting]
        if not waiting or not self._has_lease():
            return
        before, after = self._leases[0], self._state.clock.now_us() + LEASE_US
        # Before it is stored: a result may be stored in the meantime.
        self._leases = after, before
        await self._state.database.write(lambda tx: store.renew(tx, waiting, before, after))

    def _store(
        self,
        message: OutgoingMessage,
        outcome: Outcome,
        *,
        is_attempt: bool = True,
        gets_note: bool = True,
    ) -> None:
        result = Result(message, self._leases, outcome, is_attempt, gets_note)
        is_stored = self._results.add(result)
        self._storing.add(is_stored)
        is_stored.add_done_callback(self._storing.discard)

    def _give_back(self, outcome: Outcome | None) -> None:
        """End the leases of the messages that were not sent. outcome: why, if it has a reason."""
        while self._waiting:
            message = self._waiting.popleft()
            reason = Outcome("queued", message.reason)
            self._store(message, outcome or reason, is_attempt=False)

    async def _set_problem(self, mailbox: Mailbox, error: MailFailed | None) -> None:
        failure = None if error is None else Failure(error.code, error.detail)
        now_us = self._state.clock.now_us()
        await self._state.database.write(
            lambda tx: mailboxes.set_problem(
                tx, mailbox.tenant_id, mailbox.id, "sending", failure, now_us=now_us
            )
        )
