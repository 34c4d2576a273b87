"""One connection to the receiver, in SMTP or LMTP: aiosmtpd reads its commands."""

import asyncio
import re
import ssl
from collections import Counter, defaultdict
from typing import Any, cast

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, syntax

from sealdesk.mail.receiving.data import MessageData
from sealdesk.rate_limits.byte_budget import ByteBudget, Holding

IDLE_S = 120.0
# Of the data of one message: 25 MiB at 45 KiB/s.
_DATA_S = 600.0
_CHUNK_BYTES = 64 * 1024
MAX_CONNECTIONS = 200
MAX_PER_ADDRESS = 50  # a mail server in front has one address for all its messages
_COMMAND_BYTES = 512  # RFC 5321, 4.5.3.1.4
# An address of MAIL and RCPT without quotes, comments or a route.
_PATH = re.compile(r"<([^@\s<>()\"\\][^\s<>()\"\\]*)>[ \t]*+(.*+)")
_TOO_LARGE = "552 5.3.4 The message is larger than the limit"
_NO_ROOM = "452 4.3.1 Too many messages at once, try again later"
_FULL = b"421 4.7.0 Too many connections, try again later\r\n"


class Connections:
    """The open connections of a receiver."""

    def __init__(self) -> None:
        self._by_address: Counter[str] = Counter()

    def try_add(self, address: str) -> bool:
        """Count a new connection, if there is room for it."""
        is_full = self._by_address.total() >= MAX_CONNECTIONS
        if is_full or self._by_address[address] >= MAX_PER_ADDRESS:
            return False
        self._by_address[address] += 1
        return True

    def remove(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class Session(SMTP):  # type: ignore[misc] # aiosmtpd is not checked
    """A connection in SMTP.

    aiosmtpd would hold the lines of a message as objects of their own, which takes five times the
    memory, has one answer for all recipients, and its STARTTLS needs a private class of asyncio
    that uvloop does not use (1.4.6). So these two commands are here.
    """

    # Of the buffer of unread bytes; a longer command is refused below it.
    line_length_limit = _CHUNK_BYTES
    command_size_limit = _COMMAND_BYTES

    def __init__(
        self,
        handler: Any,
        connections: Connections,
        budget: ByteBudget,
        *,
        sessions: "set[Session]",
        **options: Any,
    ) -> None:
        super().__init__(handler, **options)
        # In the library all connections share one, which each EHLO enlarges.
        self.command_size_limits = defaultdict[str, int](lambda: _COMMAND_BYTES)
        self._connections = connections
        self._budget = budget
        self._sessions = sessions
        self._address = ""
        self._is_counted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        self._address = str(peer[0]) if peer else ""
        self._is_counted = self._connections.try_add(self._address)
        if self._is_counted:
            self._sessions.add(self)
            super().connection_made(transport)
        else:
            cast(asyncio.Transport, transport).write(_FULL)
            cast(asyncio.Transport, transport).close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._is_counted:
            self._is_counted = False
            self._connections.remove(self._address)
            self._sessions.discard(self)
            super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self._is_counted:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        return bool(super().eof_received()) if self._is_counted else False

    @syntax("STARTTLS", when="tls_context")  # type: ignore[untyped-decorator] # as above
    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        # In a tenth of the time, and senders whose address breaks the rules may write too.
        found = _PATH.fullmatch(arg)
        return (found[1], found[2]) if found else super()._getaddr(arg)

    async def smtp_STARTTLS(self, arg: str) -> None:
        if arg or self.tls_context is None or self.session.ssl is not None:
            await self.push("501 5.5.4 STARTTLS is not possible here")
            return
        self.transport.pause_reading()
        if self._reader._buffer:
            # What was sent before encryption must not be run after it (CVE-2024-34083).
            await self.push("554 5.7.0 Nothing may follow STARTTLS")
            self.transport.close()
            return
        await self.push("220 2.0.0 Ready to start TLS")
        try:
            encrypted = await self.loop.start_tls(
                self.transport, self, self.tls_context, server_side=True, ssl_handshake_timeout=30
            )
        except (OSError, ssl.SSLError):
            self.transport.close()
            return
        self._use(encrypted)

    def _use(self, encrypted: asyncio.Transport) -> None:
        """Go on over TLS as on a new connection (RFC 3207, 4.2)."""
        self._tls_protocol = self.transport = encrypted
        self._reader._transport = self._writer._transport = encrypted
        self._over_ssl = True
        self._set_rset_state()
        self.session.ssl = encrypted.get_extra_info("ssl_object")
        self.session.host_name = None

    @syntax("DATA")  # type: ignore[untyped-decorator] # as above
    async def smtp_DATA(self, arg: str) -> None:
        if await self.check_helo_needed():
            return
        if not self.envelope.rcpt_tos:
            await self.push("503 5.5.1 RCPT first")
            return
        if arg:
            await self.push("501 5.5.4 Syntax: DATA")
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        holding = Holding(self._budget, self._address)
        try:
            for answer in await self._receive(holding):
                await self.push(answer)
        finally:
            holding.release()
            self._set_post_data_state()

    async def _receive(self, holding: Holding) -> list[str]:
        """The answers to a message: one, or in LMTP one for each recipient."""
        data, has_room = MessageData(self.data_size_limit), True
        async with asyncio.timeout(_DATA_S):
            while True:
                chunk = await self._reader.read(_CHUNK_BYTES)
                if not chunk:
                    raise ConnectionResetError
                self._reset_timeout()
                if has_room and not data.is_too_large and not holding.try_add(len(chunk)):
                    has_room = False
                    data.discard()
                after = data.add(chunk)
                if after is not None:
                    break
        # Commands may follow in the same packet (RFC 2920, 3.1).
        self._reader._buffer[:0] = after
        if not has_room or data.is_too_large:
            return self._for_each_recipient(_TOO_LARGE if has_room else _NO_ROOM)
        self._timeout_handle.cancel()  # while it is stored, the client waits for us
        try:
            answers: list[str] = await self.event_handler.deliver(self.envelope, data.content())
        finally:
            self._reset_timeout()
        return answers if self.is_lmtp else [_worst(answers)]

    is_lmtp = False

    def _for_each_recipient(self, answer: str) -> list[str]:
        return [answer] * (len(self.envelope.rcpt_tos) if self.is_lmtp else 1)


class LmtpSession(Session, LMTP):  # type: ignore[misc] # as above
    """A connection in LMTP (RFC 2033)."""

    is_lmtp = True


def _worst(answers: list[str]) -> str:
    """The one answer of SMTP: it is 250 only if every mailbox has taken the message."""
    return next((each for each in answers if not each.startswith("250")), answers[0])
