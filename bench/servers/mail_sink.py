"""A mail server that takes everything and notes when: in a thread of this process."""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MESSAGE_ID = re.compile(rb"^Message-ID: <([^.>]+)", re.IGNORECASE | re.MULTILINE)
_END = b"\r\n.\r\n"


class MailSink:
    """arrived_ns: the first part of each Message-ID, the id of a reply → the monotonic time."""

    def __init__(self) -> None:
        self.arrived_ns: dict[str, int] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 sink\r\n")
        while line := await reader.readline():
            command = line[:4].upper()
            if command == b"DATA":
                writer.write(b"354 go on\r\n")
                content = await reader.readuntil(_END)
                if found := _MESSAGE_ID.search(content):
                    self.arrived_ns.setdefault(found[1].decode(), time.monotonic_ns())
            writer.write(b"221 bye\r\n" if command == b"QUIT" else b"250 ok\r\n")
            if command == b"QUIT":
                break
        writer.close()


@contextmanager
def mail_sink() -> Iterator[MailSink]:
    """A running server on a free port of loopback."""
    sink, loop, is_ready = MailSink(), asyncio.new_event_loop(), threading.Event()

    async def run() -> None:
        server = await asyncio.start_server(sink.serve, "127.0.0.1", 0, limit=2**24)
        sink.port = server.sockets[0].getsockname()[1]
        is_ready.set()
        await server.serve_forever()

    task = loop.create_task(run())
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True)
    thread.start()
    is_ready.wait()
    try:
        yield sink
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]") -> None:
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        loop.close()
