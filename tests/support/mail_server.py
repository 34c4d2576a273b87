"""A mail server that the service sends to."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, NamedTuple

from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.servers import free_port


class Received(NamedTuple):
    """A message that the server has accepted."""

    sender: str
    recipients: list[str]
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.raw, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed


class MailServer:
    """answers: recipient, MAIL or DATA → the answers to the next such commands.

    disappears_for: the recipients at whose messages it closes the connection, after the data.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: dict[str, list[str]] = {}
        self.disappears_for: set[str] = set()
        self.connections = 0
        self.port = 0

    async def handle_MAIL(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if self.answers.get("MAIL"):
            return self.answers["MAIL"].pop(0)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if self.answers.get(address):
            return self.answers[address].pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        if not self.disappears_for.isdisjoint(envelope.rcpt_tos):
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
            return "451 Lost"
        if self.answers.get("DATA"):
            return self.answers["DATA"].pop(0)
        content = envelope.content
        assert isinstance(content, bytes)
        self.received.append(Received(envelope.mail_from or "", envelope.rcpt_tos, content))
        return "250 OK"


async def end(
    servers: Iterable[asyncio.Server], transports: Callable[[], Iterable[Any]] = lambda: ()
) -> None:
    """Close the servers of a loop with their connections, and end its other tasks.

    Connections that were accepted just now have transports then, to be closed: a task that accepts
    one and is cancelled before its first step leaves the socket open.
    """
    for server in servers:
        for listening in server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
    for _ in range(4):
        await asyncio.sleep(0)
    for server in servers:
        server.close()
    for transport in transports():
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # the sockets of the transports are closed in the loop's next turn


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """A running server on a free port of loopback."""
    handler, loop, ready = MailServer(), asyncio.new_event_loop(), threading.Event()

    stopped, protocols = asyncio.Event(), list[SMTP]()

    def make_protocol() -> SMTP:
        handler.connections += 1
        protocols.append(SMTP(handler, hostname="mx.example.test", enable_SMTPUTF8=True, loop=loop))
        return protocols[-1]

    async def run() -> None:
        server = await loop.create_server(make_protocol, "127.0.0.1", free_port())
        handler.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stopped.wait()
        await end([server], lambda: [each.transport for each in protocols])

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield handler
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(60)
        loop.close()
