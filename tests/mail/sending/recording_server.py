"""A mail server in a process of its own, which may be killed: python -m … PORT FILE."""

import asyncio
import os
import re
import sys
import time

from aiosmtpd.smtp import SMTP, Envelope, Session

_MESSAGE_ID = re.compile(rb"^message-id:\s*<([^>\s]+)>", re.IGNORECASE | re.MULTILINE)


class Recorder:
    """Appends the Message-ID of each message to a file before it answers, with the time."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: object
    ) -> str:
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        found = _MESSAGE_ID.search(content)
        assert found is not None
        os.write(self._file, f"{found[1].decode()} {time.monotonic_ns()}\n".encode())
        return "250 OK"


async def serve(port: int, path: str) -> None:
    """Serve until killed."""
    loop, recorder = asyncio.get_running_loop(), Recorder(path)
    server = await loop.create_server(
        lambda: SMTP(recorder, hostname="mx.example.test", loop=loop), "127.0.0.1", port
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
