"""Sends messages over SMTP on several connections, each when the one before it was taken."""

import asyncio
from collections.abc import Iterator

from bench.load.clients import WrongResponse

_BLOCK_BYTES = 64 * 1024


async def send_messages(
    port: int, recipient: str, messages: Iterator[bytes], connections: int
) -> None:
    """Send all messages. Raises WrongResponse."""
    await asyncio.gather(*(_send(port, recipient, messages) for _ in range(connections)))


async def _send(port: int, recipient: str, messages: Iterator[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await _expect(reader, b"220")
        writer.write(b"HELO bench\r\n")
        await _expect(reader, b"250")
        for message in messages:
            writer.write(b"MAIL FROM:<ann@example.test>\r\n")
            writer.write(b"RCPT TO:<%b>\r\nDATA\r\n" % recipient.encode())
            for status in (b"250", b"250", b"354"):
                await _expect(reader, status)
            for start in range(0, len(message), _BLOCK_BYTES):
                writer.write(message[start : start + _BLOCK_BYTES])
                await writer.drain()
            writer.write(b".\r\n")
            await _expect(reader, b"250")
    finally:
        writer.close()


async def _expect(reader: asyncio.StreamReader, status: bytes) -> None:
    line = await reader.readline()
    if not line.startswith(status):
        raise WrongResponse(f"the receiver answered {line!r} instead of {status!r}")
