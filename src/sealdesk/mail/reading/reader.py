"""Reads the folder of one mailbox: connects, waits for new messages, and tries again."""

import asyncio
import logging
import random
from typing import NamedTuple

from sealdesk.errors import ServiceUnavailable
from sealdesk.mail import connections
from sealdesk.mail.imap.commands import NoRoom
from sealdesk.mail.imap.session import ImapSession
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes import log_ins
from sealdesk.mail.mailboxes.store import mailboxes as mailbox_store
from sealdesk.mail.mailboxes.store.directory import Place
from sealdesk.mail.mailboxes.types import Failure, Mailbox
from sealdesk.mail.reading import rules
from sealdesk.mail.reading.connections import Connections
from sealdesk.mail.reading.folder import COMMAND_S, FolderReader, SettingsChanged
from sealdesk.mail.servers import LogIn, MailFailed, Server
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.state import AppState

# Behind IDLE, for servers that forget it and for connections that have died silently.
IDLE_S = 300.0
POLL_S = 60.0
_CONNECT_S = 30.0
_PAUSE_S = 0.2  # between two looks, however often a server says that there is something new
_NO_ROOM_S = 5.0
_AFTER_FAULT_S = 5.0

log = logging.getLogger("sealdesk.mail")


class Limits(NamedTuple):
    """Those of all mailboxes of a process. budget: of messages that are being fetched."""

    connections: Connections
    budget: ByteBudget


class MailboxReader:
    """Reads the folder of a mailbox until it is cancelled."""

    def __init__(self, state: AppState, place: Place, limits: Limits) -> None:
        self._state = state
        self._place = place
        self._limits = limits
        self._failure_count = 0

    async def run(self) -> None:
        while True:
            delay_s = await self._attempt()
            await asyncio.sleep(delay_s)

    async def _attempt(self) -> float:
        """Read as long as the connection lasts; after how many seconds to connect again."""
        try:
            mailbox = await self._find_mailbox()
            if mailbox is None:
                return POLL_S
            try:
                async with self._limits.connections.hold():
                    await self._read(mailbox)
                return POLL_S
            except MailFailed as error:
                return await self._fail(mailbox, error)
        except NoRoom:
            return _NO_ROOM_S
        except SettingsChanged:
            return _PAUSE_S
        except ServiceUnavailable as error:
            cause = repr(error.__cause__)
            log.warning("messages wait for the database or the storage", extra={"cause": cause})
        except Exception:
            log.exception("reading a folder failed", extra={"mailbox": self._place.mailbox_id})
        return _AFTER_FAULT_S

    async def _find_mailbox(self) -> Mailbox | None:
        tenant_id, mailbox_id = self._place
        return await self._state.database.read(
            lambda tx: mailbox_store.find(tx, tenant_id, mailbox_id), tenant_id
        )

    async def _read(self, mailbox: Mailbox) -> None:
        """Take new messages until the connection ends, or is needed for another mailbox."""
        session = await connect(self._state, mailbox)
        try:
            end = asyncio.get_running_loop().time() + COMMAND_S
            folder = await session.examine(mailbox.imap_folder or "INBOX", end)
            reader = FolderReader(self._state, mailbox, session, self._limits.budget)
            try:
                await reader.begin(folder)
                await reader.read_new()
                await self._succeed(mailbox)
                while await self._limits.connections.rest(_wait(session)):
                    await reader.read_new()
            finally:
                if reader.taken_count:
                    self._failure_count = 0
        finally:
            session.close()

    async def _succeed(self, mailbox: Mailbox) -> None:
        self._failure_count = 0
        if mailbox.problems.receiving is not None:
            await self._set_problem(mailbox, None)

    async def _fail(self, mailbox: Mailbox, error: MailFailed) -> float:
        self._failure_count += 1
        if self._failure_count > 1 or rules.shows_at_once(error.code):
            await self._set_problem(mailbox, Failure(error.code, error.detail))
        jitter = random.random()  # noqa: S311 - not for secrets
        return rules.next_delay_s(error.code, self._failure_count, jitter)

    async def _set_problem(self, mailbox: Mailbox, failure: Failure | None) -> None:
        now_us = self._state.clock.now_us()
        await self._state.database.write(
            lambda tx: mailboxes.set_problem(
                tx, mailbox.tenant_id, mailbox.id, "receiving", failure, now_us=now_us
            ),
            mailbox.tenant_id,
        )


async def connect(state: AppState, mailbox: Mailbox) -> ImapSession:
    """Connect to the mailbox's server, and log in. Raises MailFailed."""
    log_in = await log_ins.open_log_in(state, mailbox, "imap") or LogIn("", "")
    host, port = mailbox.imap_host or "", mailbox.imap_port or 0
    server = Server(host, port, mailbox.imap_security or "tls")
    end = asyncio.get_running_loop().time() + _CONNECT_S
    session = ImapSession(await connections.connect(state.mail_resolver, server, end))
    try:
        await session.greet(end)
        if server.security == "starttls":
            await session.start_tls(host, end)
        await session.log_in(log_in, end)
    except MailFailed as error:
        session.close()
        log_ins.note_refusal(state.access_tokens, mailbox, error)
        raise
    except BaseException:
        session.close()
        raise
    return session


async def _wait(session: ImapSession) -> None:
    """Wait until there may be new messages."""
    await asyncio.sleep(_PAUSE_S)
    if session.has_idle:
        await session.wait(IDLE_S, _CONNECT_S)
    else:
        await asyncio.sleep(POLL_S)
        await session.refresh(asyncio.get_running_loop().time() + _CONNECT_S)
