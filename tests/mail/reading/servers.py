"""An IMAP server with faults, over TLS, in a thread of its own."""

import asyncio
import contextlib
import re
import ssl
import threading

from tests.servers import free_port
from tests.support.mail_server import end

_FETCHED = re.compile(rb"UID FETCH (\d+) ")
_LITERAL = re.compile(rb"\{(\d+)\}\r\n$")
# What it says before its OK. `%d` is the length of the message.
_USUAL = {
    b"EXAMINE": b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 2] ok\r\n",
    b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
    b"UID FETCH 1:": b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n",
    b"UID FETCH *": b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n",
}


class FaultyServer:
    """A folder with one message.

    answers: the beginning of a command → what it says instead of the usual. A whole answer begins
    with NO; others come before the OK. later: the same, from the second time on. closes: the
    connection, at once. hangs: after these bytes of an answer, None for never. commands: all that
    it was sent.
    """

    def __init__(self, context: ssl.SSLContext, raw: bytes) -> None:
        self.raw = raw
        self.answers: dict[bytes, bytes] = {}
        self.later: dict[bytes, bytes] = {}
        self.closes = False
        self.hangs: bytes | None = None
        self.connection_count = 0
        self.commands: list[bytes] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        starting = asyncio.start_server(self._handle, "127.0.0.1", free_port(), ssl=context)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result(60)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(end([self._server]), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def drop(self) -> None:
        """Break all connections."""

        async def drop() -> None:
            for writer in self._writers:
                writer.transport.abort()

        asyncio.run_coroutine_threadsafe(drop(), self._loop).result(60)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection_count += 1
        self._writers.append(writer)
        ended = (OSError, asyncio.IncompleteReadError, asyncio.CancelledError)
        with contextlib.suppress(*ended):
            if not self.closes:
                await self._serve(reader, writer)
        self._writers.remove(writer)
        writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK ready\r\n")
        while line := await reader.readline():
            while literal := _LITERAL.search(line):
                writer.write(b"+ go on\r\n")
                await reader.readexactly(int(literal[1]))
                line += await reader.readline()
            tag, _, command = line.partition(b" ")
            self.commands.append(command)
            answer = self._answer(command)
            if not answer.startswith(b"NO "):
                answer += tag + b" OK done\r\n"
            else:
                answer = tag + b" " + answer + b"\r\n"
            if self.hangs is not None and self.hangs in answer:
                writer.write(answer[: answer.index(self.hangs) + len(self.hangs)])
                await asyncio.Event().wait()
            writer.write(answer)
            await writer.drain()

    def _answer(self, command: bytes) -> bytes:
        for beginning, answer in {**_USUAL, **self.answers}.items():
            if command.startswith(beginning):
                if beginning in self.later:
                    self.answers[beginning] = self.later.pop(beginning)
                return answer
        if command.startswith(b"FETCH"):
            fields = b"* 1 FETCH (UID 1 RFC822.SIZE 100 BODY[HEADER.FIELDS (DATE)] {2}\r\n\r\n)\r\n"
            return fields
        if fetched := _FETCHED.match(command):
            uid = fetched[1]
            body = b"BODY[]<0> {%d}\r\n%s" % (len(self.raw), self.raw)
            return b"* %s FETCH (UID %s %s)\r\n" % (uid, uid, body)
        return b""
