"""An SMTP and an IMAP server on loopback that share one inbox."""

import asyncio
import base64
import contextlib
import re
import ssl
import threading
from collections.abc import Callable, Coroutine, Mapping
from email import message_from_bytes
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.servers import free_port
from tests.support.mail_server import end

USERNAME = "desk@acme.test"
PASSWORD = 'correct "horse" bätt\\ery'
_REFUSAL = b'{"status":"400","schemes":"Bearer"}'
_LITERAL = re.compile(rb"\{(\d+)\}\r\n$")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Inbox:
    """The messages of all accounts, and the faults that the servers have.

    refuses: of RCPT. access_tokens: with which XOAUTH2 is accepted, for their accounts.
    """

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.loses_messages = False
        self.refuses = ""
        self.access_tokens: Mapping[str, str] = {}

    def accepts(self, response: bytes) -> bool:
        """Whether the response of a client to XOAUTH2 has a token of its account."""
        try:
            user, auth, *_ = base64.b64decode(response).decode().split("\x01")
        except ValueError:
            return False
        token = auth.removeprefix("auth=Bearer ")
        return user == f"user={self.access_tokens.get(token)}"

    async def auth_XOAUTH2(self, server: Any, args: list[str]) -> AuthResult:  # as below
        if self.accepts(args[1].encode()):
            return AuthResult(success=True)
        await server.challenge_auth(_REFUSAL)
        return AuthResult(success=False, handled=False)

    async def handle_RCPT(  # aiosmtpd looks for this name
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses:
            return self.refuses
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:
        if not self.loses_messages and isinstance(envelope.content, bytes):
            self.messages.append(envelope.content)
        return "250 OK"


def _authenticate(
    server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword
) -> AuthResult:
    is_right = (data.login, data.password) == (USERNAME.encode(), PASSWORD.encode())
    return AuthResult(success=is_right, handled=False)


class MailServers:
    """Both servers, in a thread of their own. Each `…_port` is that of one way to connect."""

    def __init__(self, context: ssl.SSLContext, expired: ssl.SSLContext) -> None:
        self.inbox = Inbox()
        self._context = context
        self._servers: list[asyncio.Server] = []
        self._sessions: list[SMTP] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.smtp_port = self._serve_smtp(None)
        self.smtps_port = self._serve_smtp(context)
        self.imap_port = self._serve(self._imap, None)
        self.imaps_port = self._serve(self._imap, context)
        self.expired_port = self._serve(self._imap, expired)
        self.silent_port = self._serve(self._silent, None)
        self.closing_port = self._serve(self._closing, None)
        self.web_port = self._serve(self._web, context)

    def stop(self) -> None:
        ending = end(self._servers, lambda: [each.transport for each in self._sessions])
        asyncio.run_coroutine_threadsafe(ending, self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _serve_smtp(self, context: ssl.SSLContext | None) -> int:
        def session() -> SMTP:
            starts = None if context else self._context
            smtp = SMTP(
                self.inbox,
                hostname="localhost",
                tls_context=starts,
                # aiosmtpd warns of the combination that a TLS connection needs.
                auth_required=context is None,
                auth_require_tls=context is None,
                authenticator=_authenticate,
                loop=self._loop,
            )
            self._sessions.append(smtp)
            return smtp

        return self._run(self._loop.create_server(session, "127.0.0.1", free_port(), ssl=context))

    def _serve(
        self,
        handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
        context: ssl.SSLContext | None,
    ) -> int:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await handle(reader, writer)
            finally:
                writer.transport.abort()

        return self._run(asyncio.start_server(serve, "127.0.0.1", free_port(), ssl=context))

    def _run(self, starting: Coroutine[Any, Any, asyncio.Server]) -> int:
        server = asyncio.run_coroutine_threadsafe(starting, self._loop).result(30)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _silent(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    async def _closing(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def _web(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    async def _imap(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n")
        while line := await reader.readline():
            tag, words = line.split()[0], await _words(reader, writer, line)
            command = words[0].upper()
            if command == b"AUTHENTICATE":
                writer.write(tag + await self._authenticate(reader, writer))
            elif command == b"STARTTLS":
                writer.write(tag + b" OK begin\r\n")
                await writer.start_tls(self._context)
            else:
                writer.write(self._answer(tag, command, words))
        writer.close()

    async def _authenticate(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes:
        writer.write(b"+ \r\n")
        if self.inbox.accepts(await reader.readline()):
            return b" OK done\r\n"
        writer.write(b"+ " + base64.b64encode(_REFUSAL) + b"\r\n")
        await reader.readline()
        return b" NO [AUTHENTICATIONFAILED] not this token\r\n"

    def _answer(self, tag: bytes, command: bytes, words: list[bytes]) -> bytes:
        if command == b"LOGIN" and words[1:] != [USERNAME.encode(), PASSWORD.encode()]:
            # Some servers repeat what they refuse.
            return tag + b" NO [AUTHENTICATIONFAILED] not " + words[2] + b"\r\n"
        if command == b"SELECT" and words[1] not in (b"INBOX", b"Anfragen &- K&APY-ln"):
            return tag + b" NO [NONEXISTENT] no such folder\r\n"
        if words[:2] == [b"UID", b"SEARCH"]:
            found = self._uids(words[4].strip(b'"').decode())
            return b"* SEARCH" + found + b"\r\n" + tag + b" OK done\r\n"
        if words[:2] == [b"UID", b"EXPUNGE"]:
            self.inbox.messages[int(words[2]) - 1] = b""
        return tag + b" OK done\r\n"

    def _uids(self, message_id: str) -> bytes:
        ids = [message_from_bytes(each)["Message-ID"] or "" for each in self.inbox.messages]
        return b"".join(b" %d" % (n + 1) for n, each in enumerate(ids) if message_id in each)


async def _words(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes
) -> list[bytes]:
    """The words of a command without its tag; a literal is one word."""
    words = _LITERAL.sub(b"", line).split()[1:]
    while literal := _LITERAL.search(line):
        writer.write(b"+ go on\r\n")
        words.append(await reader.readexactly(int(literal[1])))
        line = await reader.readline()
        words += _LITERAL.sub(b"", line).split()
    return words
