"""One SMTP session with the server of a mailbox."""

import asyncio
from types import TracebackType
from typing import Self

import aiosmtplib
from aiosmtplib import SMTP, SMTPException, SMTPResponseException

from sealdesk.http_client.resolver import Resolver
from sealdesk.mail import connections, smtp
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending import rules
from sealdesk.mail.sending.types import Outcome
from sealdesk.mail.servers import LogIn, MailFailed, Server
from sealdesk.resources.representation import with_ascii_domain

_CONNECT_S = 20.0
_COMMAND_S = 60.0
_NOOP_S = 10.0
_QUIT_S = 5.0
_SENT = Outcome("sent", None)
_ADDRESS_REFUSED = Outcome("bounced", "The mail server does not take addresses like this one.")


class Session:
    """A connection on which messages are sent one after the other."""

    def __init__(self, resolver: Resolver, mailbox: Mailbox, log_in: LogIn | None) -> None:
        self._resolver = resolver
        self._mailbox = mailbox
        self._log_in = log_in
        self._smtp: SMTP

    async def __aenter__(self) -> Self:
        """Connect and log in. Raises MailFailed."""
        mailbox = self._mailbox
        host, port, security = mailbox.smtp_host, mailbox.smtp_port, mailbox.smtp_security
        if host is None or port is None or security is None:
            raise MailFailed("not_reachable", "The mailbox has no server that sends.")
        deadline = asyncio.get_running_loop().time() + _CONNECT_S
        server = Server(host, port, security)
        sock = await connections.connect_socket(self._resolver, server, deadline)
        self._smtp = await smtp.open_session(
            sock, server, address=mailbox.address, limit_s=_COMMAND_S
        )
        try:
            if self._log_in is not None:
                await smtp.log_in(self._smtp, self._log_in)
        except BaseException:
            smtp.close(self._smtp)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if not isinstance(error, asyncio.CancelledError):  # then nothing is waited for
                async with asyncio.timeout(_QUIT_S):
                    await self._smtp.execute_command(b"QUIT")
        except (SMTPException, OSError):
            pass
        finally:
            smtp.close(self._smtp)

    async def is_alive(self) -> bool:
        """Whether the server still answers on this connection."""
        try:
            await self._smtp.noop(timeout=_NOOP_S)
        except (SMTPException, OSError):
            return False
        return True

    async def send(self, recipient: str, message: bytes) -> Outcome:
        """Hand over a message. Raises MailFailed when the mailbox cannot send now."""
        sender, recipient = map(with_ascii_domain, (self._mailbox.address, recipient))
        options = [] if recipient.isascii() else ["SMTPUTF8"]
        try:
            await self._smtp.sendmail(sender, recipient, message, mail_options=options)
        except (ValueError, aiosmtplib.SMTPNotSupported):
            return _ADDRESS_REFUSED
        except aiosmtplib.SMTPRecipientsRefused as error:
            refusal = error.recipients[0]
            return self._refused(refusal.code, refusal.message, of_recipient=True)
        except aiosmtplib.SMTPSenderRefused as error:
            code = rules.problem_of_refusal(error.code, error.message) or "message_refused"
            raise MailFailed(code, self._quote(error.code, error.message)) from error
        except SMTPResponseException as error:
            if problem := rules.problem_of_refusal(error.code, error.message):
                raise MailFailed(problem, self._quote(error.code, error.message)) from error
            return self._refused(error.code, error.message, of_recipient=False)
        except (SMTPException, OSError) as error:
            raise smtp.smtp_failed(error) from error
        return _SENT

    def _quote(self, code: int, answer: str) -> str:
        return f"{code} {self._words(answer)}"

    def _refused(self, code: int, answer: str, *, of_recipient: bool) -> Outcome:
        return rules.outcome_of_refusal(code, self._words(answer), of_recipient=of_recipient)

    def _words(self, answer: str) -> str:
        return connections.quote(answer, self._log_in.secret if self._log_in else "")
