"""Sends commands over a connection to an IMAP server, and reads the responses (RFC 9051)."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable

from sealdesk.mail.connections import Streams, failed, quote, read_line
from sealdesk.mail.imap.responses import Response, count_after, literal_size
from sealdesk.mail.servers import MailFailed

SILENCE_S = 60.0  # within the responses to a command
MAX_RESPONSES = 10_000  # to one command
_MAX_BYTES = 4 * 1024 * 1024  # of the responses to one command, without a message
_MAX_LITERAL_BYTES = 64 * 1024  # that is no message
_MAX_LITERALS = 8  # of a response
_CHUNK_BYTES = 64 * 1024
HasRoom = Callable[[int], bool]


class NoRoom(Exception):
    """There is no room for the bytes of a message now; the connection cannot be used further."""


class Commands:
    """One connection to an IMAP server.

    count: of the messages in the folder that is open. has_new: whether the server has told of
    messages since they were listed.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._command_count = 0
        self.count = 0
        self.has_new = False

    def close(self) -> None:
        # At once: nothing is on its way, and TLS would wait for the server.
        self._streams.writer.transport.abort()

    async def _command(self, text: bytes, deadline: float) -> tuple[bytes, list[Response]]:
        tag = self._send(text)
        lines = [each async for each in self._responses(tag, deadline)]
        return lines[-1].text, lines[:-1]

    async def _with_literals(
        self, name: bytes, values: list[bytes], deadline: float
    ) -> tuple[bytes, list[Response]]:
        tag = self._next_tag()
        self._streams.writer.write(tag + name)
        for value in values:
            self._streams.writer.write(b" {%d}\r\n" % len(value))
            line = await self._read_until((b"+", tag), deadline)
            if line.startswith(tag):
                return line, []
            self._streams.writer.write(value)
        self._streams.writer.write(b"\r\n")
        lines = [each async for each in self._responses(tag, deadline)]
        return lines[-1].text, lines[:-1]

    def _send(self, text: bytes) -> bytes:
        tag = self._next_tag()
        self._streams.writer.write(tag + text + b"\r\n")
        return tag

    def _next_tag(self) -> bytes:
        self._command_count += 1
        return b"t%d " % self._command_count

    async def _responses(
        self,
        tag: bytes,
        deadline: float,
        most_bytes: int = _MAX_LITERAL_BYTES,
        has_room: HasRoom = lambda _: True,
    ) -> AsyncIterator[Response]:
        """The responses to a command, the last of which says how it went."""
        left = most_bytes + _MAX_BYTES
        for _ in range(MAX_RESPONSES):
            response = await self._read_response(deadline, most_bytes, has_room)
            left -= len(response.text) + sum(map(len, response.literals))
            if left < 0:
                break
            yield response
            if response.text.startswith(tag):
                return
        raise _too_much()

    async def _read_response(self, deadline: float, most_bytes: int, has_room: HasRoom) -> Response:
        line = await read_line(self._streams.reader, _soon(deadline))
        self._notice(line)
        size = literal_size(line)
        if size is None:
            return Response(line)
        lines, literals = [line], list[bytes]()
        while size is not None:
            if size > most_bytes or len(literals) == _MAX_LITERALS:
                raise _too_much()
            literals.append(await self._read_literal(size, deadline, has_room))
            lines.append(await read_line(self._streams.reader, _soon(deadline)))
            size = literal_size(lines[-1])
        return Response(b"".join(lines), tuple(literals))

    async def _read_literal(self, size: int, deadline: float, has_room: HasRoom) -> bytes:
        reader, content, left = self._streams.reader, io.BytesIO(), size
        while left:
            try:
                async with asyncio.timeout_at(_soon(deadline)):
                    chunk = await reader.read(min(left, _CHUNK_BYTES))
            except OSError as error:
                raise failed(error) from None
            if not chunk:
                raise MailFailed("closed", "The server closed the connection.")
            if not has_room(len(chunk)):
                raise NoRoom
            content.write(chunk)
            left -= len(chunk)
        return content.getvalue()

    async def _read_until(self, beginnings: tuple[bytes, ...], deadline: float) -> bytes:
        for _ in range(MAX_RESPONSES):
            response = await self._read_response(deadline, _MAX_LITERAL_BYTES, lambda _: True)
            if response.text.startswith(beginnings):
                return response.text
        raise _too_much()

    def _notice(self, line: bytes) -> None:
        if line[:6].upper() == b"* BYE ":
            raise MailFailed("closed", quote(line[6:]) or "The server closed the connection.")
        before, self.count = self.count, count_after(line, self.count)
        self.has_new = self.has_new or self.count > before


def _soon(deadline: float) -> float:
    return min(deadline, asyncio.get_running_loop().time() + SILENCE_S)


def _too_much() -> MailFailed:
    return MailFailed("unexpected_answer", "The server sends more than was asked for.")
