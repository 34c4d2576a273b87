"""A session with the server that sends for a mailbox: greeting, TLS, log-in."""

import asyncio
import socket
import ssl
from typing import cast

import aiosmtplib
from aiosmtplib.errors import SMTPResponseException, SMTPServerDisconnected

from sealdesk.mail.connections import failed, quote, server_name, tls_context
from sealdesk.mail.servers import LogIn, MailFailed, Server

_MAILBOX_FULL = (452, 552)  # RFC 5321, 4.2.3


async def open_session(
    sock: socket.socket, server: Server, *, address: str, limit_s: float
) -> aiosmtplib.SMTP:
    """The session on a connected socket, with TLS unless the server has none. Raises MailFailed.

    address: of the mailbox, whose domain the client names. limit_s: of each command from now on.
    """
    is_tls = server.security == "tls"
    session = aiosmtplib.SMTP(
        hostname=server_name(server.host),
        sock=sock,
        use_tls=is_tls,
        start_tls=False,
        tls_context=tls_context(),
        local_hostname=_ascii_domain(address),
        timeout=limit_s,
    )
    try:
        await session.connect()
        if server.security == "starttls":
            await _start_tls(session)
    except Exception as error:
        _close(session, sock)
        raise smtp_failed(error) from None
    except BaseException:
        _close(session, sock)
        raise
    return session


async def _start_tls(session: aiosmtplib.SMTP) -> None:
    await session.ehlo()
    if not session.supports_extension("starttls"):
        raise MailFailed("starttls_missing", "STARTTLS is not among what the server offers.")
    await session.starttls(tls_context=tls_context())


def close(session: aiosmtplib.SMTP) -> None:
    """Close the connection at once: the end of TLS would wait half a minute for a silent server."""
    if session.transport is not None:
        cast(asyncio.WriteTransport, session.transport).abort()
    session.close()


async def log_in(session: aiosmtplib.SMTP, log_in: LogIn) -> None:
    """Raises MailFailed."""
    try:
        if log_in.is_token:
            await session.auth_xoauth2(log_in.username, log_in.secret)
        else:
            await session.login(log_in.username, log_in.secret)
    except SMTPResponseException as error:
        raise MailFailed("login_refused", _answer(error, log_in.secret)) from None
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        found = smtp_failed(error)
        is_unsupported = found.code == "unexpected_answer"
        raise MailFailed("login_refused", found.detail) if is_unsupported else found from None


def smtp_failed(error: Exception) -> MailFailed:
    """What an error of aiosmtplib means."""
    cause = error.__cause__ or error.__context__
    if isinstance(error, MailFailed):
        return error
    if isinstance(error, SMTPResponseException):
        code = "quota_full" if error.code in _MAILBOX_FULL else "message_refused"
        return MailFailed(code, _answer(error))  # type: ignore[arg-type] # both are codes
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        return smtp_failed(error.recipients[0])
    if isinstance(cause, ssl.SSLError | ConnectionRefusedError):
        return failed(cause)
    if isinstance(error, SMTPServerDisconnected):
        return MailFailed("closed", "The server closed the connection.")
    if isinstance(error, OSError):
        return failed(error)
    return MailFailed("unexpected_answer", quote(str(error)))


def _ascii_domain(address: str) -> str:
    domain = address.rpartition("@")[2]
    try:
        return domain.encode("idna").decode()
    except UnicodeError:  # with a label that DNS does not have
        return "localhost"


def _close(session: aiosmtplib.SMTP, sock: socket.socket) -> None:
    close(session)
    sock.close()


def _answer(error: SMTPResponseException, *secrets: str) -> str:
    return f"{error.code} {quote(error.message, *secrets)}"
