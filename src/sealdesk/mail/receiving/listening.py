"""Listens for mail servers that hand over messages, until it is stopped."""

import asyncio
import logging
import socket
import ssl
from functools import partial
from pathlib import Path

from sealdesk.errors import ConfigurationError
from sealdesk.mail.receiving.handler import Handler
from sealdesk.mail.receiving.session import IDLE_S, Connections, LmtpSession, Session
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.settings import MailSettings
from sealdesk.state import AppState

# Of messages that are being received and parsed. One address may have an eighth, or one message.
_BUDGET_BYTES = 256 * 1024 * 1024
_FINISH_S = 5.0
BACKLOG = 128

log = logging.getLogger("sealdesk.mail")


class Listener:
    """The receiver, while it listens. port: where."""

    def __init__(self, server: asyncio.Server, handler: Handler, sessions: set[Session]) -> None:
        self._server = server
        self._handler = handler
        self._sessions = sessions
        self.port: int = server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Finish the messages that are being received, and close everything."""
        self._server.close()
        if self._handler.running:
            await asyncio.wait(self._handler.running, timeout=_FINISH_S)
        for session in [*self._sessions]:
            if session.transport is not None:
                session.transport.close()


def bind(mail: MailSettings) -> socket.socket:
    """Open the port of the settings. Raises ConfigurationError."""
    _tls_context(mail.certificate, mail.private_key)
    try:
        family = socket.getaddrinfo(mail.host, mail.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((mail.host, mail.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"SEALDESK_MAIL_LISTEN: cannot listen on {mail.host}:{mail.port}:"
            f" {error.strerror or error}"
        ) from error


async def listen(state: AppState, sock: socket.socket) -> Listener:
    """Accept connections from now on."""
    mail = state.settings.mail
    # It logs each command, and addresses with it.
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)
    handler, connections, sessions = Handler(state), Connections(), set[Session]()
    kind = LmtpSession if mail.is_lmtp else Session
    make_session = partial(
        kind,
        handler,
        connections,
        ByteBudget(_BUDGET_BYTES),
        sessions=sessions,
        data_size_limit=mail.max_bytes,
        enable_SMTPUTF8=True,
        hostname=socket.gethostname(),
        ident="Sealdesk",
        tls_context=_tls_context(mail.certificate, mail.private_key),
        timeout=IDLE_S,
        loop=asyncio.get_running_loop(),
    )
    server = await asyncio.get_running_loop().create_server(make_session, sock=sock)
    listener = Listener(server, handler, sessions)
    log.info("receiving mail", extra={"port": listener.port, "lmtp": mail.is_lmtp})
    return listener


def _tls_context(certificate: Path | None, private_key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, private_key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"SEALDESK_MAIL_TLS_CERT and SEALDESK_MAIL_TLS_KEY cannot be used: {error}"
        ) from error
    return context
