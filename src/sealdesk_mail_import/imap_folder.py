"""Reads a folder on the IMAP server of a mailbox, and changes nothing in it."""

import asyncio
from collections.abc import AsyncIterator

from sealdesk.mail.imap.session import ImapSession
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.reading import reader
from sealdesk.mail.receiving.raw_messages import MAX_BYTES
from sealdesk.state import AppState
from sealdesk_mail_import import dates
from sealdesk_mail_import.types import CannotRead, Entry, NotAMailbox

_AT_ONCE = 200  # messages that are listed
_COMMAND_S = 300.0
_FETCH_S = 600.0  # of one message: 25 MiB at 45 KiB/s


class ImapFolder:
    """A folder of a mailbox's server, on a connection of its own. Raises NotAMailbox."""

    size_bytes = left_out = 0

    def __init__(self, state: AppState, mailbox: Mailbox, folder: str) -> None:
        if mailbox.imap_host is None:
            raise NotAMailbox(
                f"{mailbox.address} has no IMAP server: set it under Settings, E-mail"
            )
        self._state = state
        self._mailbox = mailbox
        self._folder = folder
        self._session: ImapSession | None = None

    async def find_messages(self, now_s: int) -> AsyncIterator[Entry]:
        """All messages that the folder has now. Raises MailFailed."""
        session = await self._open()
        count = session.count
        for first in range(1, count + 1, _AT_ONCE):
            last = min(first + _AT_ONCE - 1, count)
            for each in await session.list_range(first, last, _end(_COMMAND_S)):
                arrived_s = (each.arrived_at or 0) // 1_000_000
                written_s = dates.written_s(each.header, arrived_s, now_s)
                yield Entry(each.uid, each.size_bytes, written_s)

    async def read(self, entry: Entry) -> bytes:
        """The bytes of a message. Raises CannotRead, MailFailed."""
        if entry.size_bytes > MAX_BYTES:
            raise CannotRead(f"it has more than {MAX_BYTES // 2**20} MiB")
        session = self._session or await self._open()
        raw = await session.fetch(entry.position, MAX_BYTES, _end(_FETCH_S), lambda _: True)
        if not raw:
            raise CannotRead("it is no longer in the folder, or empty")
        return raw

    def place_of(self, position: int) -> str:
        return f"{self._folder}, UID {position}"

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    async def _open(self) -> ImapSession:
        self._session = await reader.connect(self._state, self._mailbox)
        await self._session.examine(self._folder, _end(_COMMAND_S))
        return self._session


def _end(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds
