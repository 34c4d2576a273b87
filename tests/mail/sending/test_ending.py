"""What is being sent when a process ends."""

import asyncio

import msgspec
import pytest

from sealdesk.mail.sending import deliverer
from sealdesk.mail.sending.deliverer import MailDeliverer
from sealdesk.mail.sending.session import Session
from sealdesk.mail.sending.turns import Turn
from sealdesk.mail.sending.types import DueMailbox
from sealdesk.state import AppState
from tests.support.databases import SQLITE_ONLY
from tests.support.mail_desk import Desk
from tests.support.service import Service


@SQLITE_ONLY
def test_a_session_that_is_cancelled_waits_for_no_answer(desk: Desk) -> None:
    """A server that is gone without a word would hold it for seconds."""
    commands, is_sending = list[bytes](), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mx.example.test\r\n")
        async for line in reader:
            commands.append(line[:4])
            if line.startswith(b"EHLO"):
                writer.write(b"250 mx.example.test\r\n")
            else:
                is_sending.set()
        writer.close()

    async def cancel(state: AppState) -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        mailbox = msgspec.structs.replace(desk.mailbox, smtp_port=port)

        async def send() -> None:
            async with Session(state.mail_resolver, mailbox, None) as session:
                await session.send("ana@example.test", b"Subject: A kiln\r\n\r\nIt is cold.\r\n")

        sending = asyncio.create_task(send())
        await is_sending.wait()
        sending.cancel()
        await asyncio.wait([sending])
        server.close()

    desk.service.in_serving(cancel)
    assert commands == [b"EHLO", b"MAIL"]


@SQLITE_ONLY
def test_no_turn_goes_on_after_the_end(
    shared_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is still there when an event loop is closed can hold it."""
    ended = list[str]()

    class HangingTurn(Turn):
        async def run(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)  # as a connection that is closed
                ended.append(self.due.id)

    async def begin_and_end(state: AppState) -> None:
        mail_deliverer = MailDeliverer(state, {})
        with monkeypatch.context() as patch:
            patch.setattr(deliverer, "Turn", HangingTurn)
            mail_deliverer._begin(DueMailbox("tenant", "mailbox", 1, 60, False))
        await asyncio.sleep(0)
        await mail_deliverer.end()
        assert ended == ["mailbox"]

    monkeypatch.setattr(deliverer, "_END_S", 0.01)
    shared_service.in_serving(begin_and_end)
