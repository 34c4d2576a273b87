"""Tests a mailbox step by step, up to a message that it sends to itself and sees arrive."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from email.message import EmailMessage
from typing import NamedTuple, TypeVar

import aiosmtplib

from sealdesk.http_client.resolver import Resolver
from sealdesk.mail import connections, smtp
from sealdesk.mail.imap.session import ImapSession
from sealdesk.mail.mailboxes.types import Mailbox, Protocol, Step, StepResult
from sealdesk.mail.servers import LogIn, MailFailed, Server
from sealdesk.resources.representation import with_ascii_domain

T = TypeVar("T")
STEP_S = 10.0
ARRIVAL_S = 30.0
_POLL_S = 0.5
_OF_SMTP: tuple[Step, ...] = ("name", "connection", "tls", "log_in", "sending")
_OF_IMAP: tuple[Step, ...] = ("name", "connection", "tls", "log_in", "folder", "arrival")
# Begins the Message-ID of a test, which makes no ticket.
TEST_MESSAGE = "sealdesk-test."


class LogIns(NamedTuple):
    """What a mailbox logs in with at its servers, None where there is no log-in."""

    imap: LogIn | None
    smtp: LogIn | None


class _Ended(Exception):
    """A step has failed, so the others of this server are skipped."""


class _Steps:
    """The steps of one server, in their order, until one fails."""

    def __init__(self, protocol: Protocol, names: tuple[Step, ...]) -> None:
        self._protocol = protocol
        self._names = names
        self.results: list[StepResult] = []

    async def run(
        self, name: Step, work: Callable[[float], Awaitable[T]], limit_s: float = 0.0
    ) -> T:
        """Run a step; its deadline, in the loop's time, is given to `work`. Raises _Ended."""
        deadline = asyncio.get_running_loop().time() + (limit_s or STEP_S)
        try:
            async with asyncio.timeout_at(deadline):
                value = await work(deadline)
        except TimeoutError:
            self._fail(name, MailFailed("timed_out", "There was no response in time."))
            raise _Ended from None
        except MailFailed as error:
            self._fail(name, error)
            raise _Ended from None
        self.results.append(StepResult(self._protocol, name, "done"))
        return value

    def skip(self, name: Step) -> None:
        self.results.append(StepResult(self._protocol, name, "skipped"))

    def skip_rest(self) -> None:
        for name in self._names[len(self.results) :]:
            self.skip(name)

    def _fail(self, name: Step, error: MailFailed) -> None:
        failed = StepResult(self._protocol, name, "failed", error.code, error.detail)
        self.results.append(failed)


async def run_test(mailbox: Mailbox, log_ins: LogIns, resolver: Resolver) -> list[StepResult]:
    """The steps of the servers that the mailbox has; each takes 10 s at most, arrival 30 s."""
    domain = with_ascii_domain(mailbox.address).rpartition("@")[2]
    message_id = f"{TEST_MESSAGE}{secrets.token_hex(16)}@{domain}"
    results: list[StepResult] = []
    if mailbox.smtp_host is not None:
        results += await _test_sending(mailbox, log_ins.smtp, resolver, message_id)
    is_sent = bool(results) and results[-1].outcome == "done"
    if mailbox.imap_host is not None:
        arriving = message_id if is_sent else None
        results += await _test_receiving(mailbox, log_ins.imap, resolver, arriving)
    return results


async def _test_sending(
    mailbox: Mailbox, log_in: LogIn | None, resolver: Resolver, message_id: str
) -> list[StepResult]:
    steps, session = _Steps("smtp", _OF_SMTP), None
    try:
        session = await _open_smtp(steps, mailbox, resolver)
        if log_in is None:
            steps.skip("log_in")
        else:
            await steps.run("log_in", lambda _: smtp.log_in(session, log_in))
        message = _message(mailbox, message_id)
        await steps.run("sending", lambda _: _send(session, message))
    except _Ended:
        steps.skip_rest()
    finally:
        if session is not None:
            smtp.close(session)
    return steps.results


async def _open_smtp(steps: _Steps, mailbox: Mailbox, resolver: Resolver) -> aiosmtplib.SMTP:
    host, port = mailbox.smtp_host or "", mailbox.smtp_port or 0
    server = Server(host, port, mailbox.smtp_security or "tls")
    addresses = await steps.run("name", lambda end: connections.resolve(resolver, host, end))
    sock = await steps.run("connection", lambda end: connections.open_socket(addresses, port, end))

    async def begin(_: float) -> aiosmtplib.SMTP:
        return await smtp.open_session(sock, server, address=mailbox.address, limit_s=STEP_S)

    if server.security == "none":
        # Without TLS the greeting shows whether it is a mail server.
        session = await steps.run("tls", begin)
        steps.results[-1] = StepResult("smtp", "tls", "skipped")
        return session
    return await steps.run("tls", begin)


async def _send(session: aiosmtplib.SMTP, message: EmailMessage) -> None:
    try:
        await session.send_message(message)
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        raise smtp.smtp_failed(error) from None


async def _test_receiving(
    mailbox: Mailbox, log_in: LogIn | None, resolver: Resolver, message_id: str | None
) -> list[StepResult]:
    steps, session = _Steps("imap", _OF_IMAP), None
    given, folder = log_in or LogIn("", ""), mailbox.imap_folder or "INBOX"
    try:
        session = await _open_imap(steps, mailbox, resolver)
        await steps.run("log_in", lambda end: session.log_in(given, end))
        await steps.run("folder", lambda end: session.select(folder, end))
        if message_id is not None:
            await steps.run("arrival", lambda end: _arrival(session, message_id, end), ARRIVAL_S)
    except _Ended:
        pass
    finally:
        if session is not None:
            session.close()
    steps.skip_rest()
    return steps.results


async def _open_imap(steps: _Steps, mailbox: Mailbox, resolver: Resolver) -> ImapSession:
    host, port = mailbox.imap_host or "", mailbox.imap_port or 0
    server = Server(host, port, mailbox.imap_security or "tls")
    addresses = await steps.run("name", lambda end: connections.resolve(resolver, host, end))
    sock = await steps.run("connection", lambda end: connections.open_socket(addresses, port, end))

    async def begin(end: float) -> ImapSession:
        session = ImapSession(await connections.open_streams(sock, server, end))
        try:
            await session.greet(end)
            if server.security == "starttls":
                await session.start_tls(host, end)
        except BaseException:
            session.close()
            raise
        return session

    return await steps.run("tls", begin)


async def _arrival(session: ImapSession, message_id: str, deadline: float) -> None:
    loop = asyncio.get_running_loop()
    while (uid := await session.find(message_id, deadline)) is None:
        if loop.time() + _POLL_S >= deadline:
            raise MailFailed("not_arrived", "It was sent, and is not in the folder.")
        await asyncio.sleep(_POLL_S)
    await session.delete(uid, deadline)


def _message(mailbox: Mailbox, message_id: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = message["To"] = with_ascii_domain(mailbox.address)
    message["Subject"] = "Test of a Sealdesk mailbox"
    message["Message-ID"] = f"<{message_id}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("Sealdesk sent this message to itself. You can delete it.\n")
    return message
