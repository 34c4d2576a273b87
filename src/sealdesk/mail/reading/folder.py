"""Reads one open folder: lists what is new, and takes one message after the other."""

import asyncio
import logging

import msgspec

from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.imap.responses import Folder, Listed
from sealdesk.mail.imap.session import ImapSession
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.reading import rules, store
from sealdesk.mail.reading.types import Position
from sealdesk.mail.receiving import arrivals
from sealdesk.mail.receiving.types import Arrival, WaitingFull
from sealdesk.mail.servers import MailFailed
from sealdesk.rate_limits.byte_budget import ByteBudget, Holding
from sealdesk.sandbox.pool import Exceeded
from sealdesk.state import AppState

COMMAND_S = 300.0
_FETCH_S = 600.0  # of one message: 25 MiB at 45 KiB/s
_FINISH_S = 5.0
_MOST = 500  # messages that are listed at once
_MOST_WITH_HEADERS = 200
_MAX_MESSAGES = 1_000_000  # of a folder that is read from its beginning
_HEADER_BYTES = 64 * 1024
_BEGIN_BYTES = 64 * 1024  # of a message that is too large; most have their text before their files
_STORE_EVERY = 20  # messages; after a kill, so many may be fetched again

log = logging.getLogger("sealdesk.mail")


class SettingsChanged(Exception):
    """The settings of the mailbox are no longer those with which its folder was opened."""


class FolderReader:
    """Reads an open folder. taken_count: of the messages that were taken."""

    def __init__(
        self, state: AppState, mailbox: Mailbox, session: ImapSession, budget: ByteBudget
    ) -> None:
        self._state = state
        self._mailbox = mailbox
        self._session = session
        self._budget = budget
        self._position: Position
        self.taken_count = 0

    async def begin(self, folder: Folder) -> None:
        """Find where to go on. Raises MailFailed, NoRoom, ServiceUnavailable, SettingsChanged."""
        position = rules.position_of(self._mailbox, folder)
        if position is None:
            await self._read_again(folder)
        else:
            self._position = position

    async def read_new(self) -> None:
        """Take all new messages. Raises as `begin`."""
        now_us, is_changed = self._state.clock.now_us(), False
        while listed := await self._session.list_after(self._position.last_uid, _MOST, _end()):
            is_changed = True
            for number in range(0, len(listed), _STORE_EVERY):
                await self._take_some(listed[number : number + _STORE_EVERY])
        if is_changed:
            await self._store(self._position._replace(read_at=now_us))

    async def _take_some(self, listed: list[Listed]) -> None:
        try:
            for each in listed:
                await self._take(each)
                self._position = self._position._replace(last_uid=each.uid)
        finally:
            # Also after a failure, so that one message that fails does not repeat the others.
            await asyncio.shield(self._store(self._position))

    async def _read_again(self, folder: Folder) -> None:
        """Take what is not known in a folder that is new, or whose numbers are."""
        now_us, last, highest = self._state.clock.now_us(), self._session.count, 0
        if last > _MAX_MESSAGES:
            raise MailFailed(
                "unexpected_answer", f"The folder has more than {_MAX_MESSAGES:,} messages."
            )
        new: list[Listed] = []
        # From the end, since messages that are deleted meanwhile move the later ones.
        while last > 0:
            first = max(1, last - _MOST_WITH_HEADERS + 1)
            listed = await self._session.list_range(first, last, _end())
            highest = max([highest, *(each.uid for each in listed)])
            new += await self._choose(listed)
            last = min(first - 1, self._session.count)
        for each in sorted(new):
            await self._take(each)
        await self._store(Position(folder.uid_validity, highest, now_us))

    async def _choose(self, listed: list[Listed]) -> list[Listed]:
        """Those that are neither old nor known, without their headers."""
        recent = [each for each in listed if not rules.is_old(each, self._mailbox)]
        known_of = {each.uid: rules.known_of(each.header) for each in recent}
        keys = [known.message_key for known in known_of.values() if known]
        found = await self._state.database.read(
            lambda tx: store.find_known(tx, self._mailbox, keys), self._mailbox.tenant_id
        )
        return [each._replace(header=b"") for each in recent if known_of[each.uid] not in found]

    async def _take(self, listed: Listed) -> None:
        holding = Holding(self._budget, self._mailbox.tenant_id)
        try:
            raw = await self._fetch(listed, holding)
            if raw is not None:
                await self._take_raw(listed, raw)
                self.taken_count += 1
        finally:
            holding.release()

    async def _fetch(self, listed: Listed, holding: Holding) -> bytes | None:
        """The message, or if it is too large its first words; None if it is gone."""
        most, size_bytes = self._state.settings.mail.max_bytes, listed.size_bytes
        if size_bytes <= most:
            end = asyncio.get_running_loop().time() + _FETCH_S
            raw = await self._session.fetch(listed.uid, most + 1, end, holding.try_add)
            if raw is None or len(raw) <= most:
                return raw
            size_bytes = len(raw)  # the server said less
        words = await self._first_words(listed, holding)
        text = rules.too_large_text(self._mailbox, size_bytes, most, words)
        return await self._stand_in(listed, text)

    async def _first_words(self, listed: Listed, holding: Holding) -> str:
        """What the beginning of a message says, as far as it can be read."""
        begin = await self._session.fetch(listed.uid, _BEGIN_BYTES, _end(), holding.try_add)
        if begin is None:
            return ""
        try:
            tenant_id = self._mailbox.tenant_id
            return (await arrivals.parse_off_loop(self._state, tenant_id, begin)).text
        except Exceeded:
            return ""

    async def _stand_in(self, listed: Listed, text: str) -> bytes | None:
        header = await self._session.fetch_header(listed.uid, _HEADER_BYTES, _end())
        return None if header is None else rules.with_text(header, text)

    async def _take_raw(self, listed: Listed, raw: bytes) -> None:
        try:
            await self._finish(self._arrival(listed, raw))
        except ServiceUnavailable:
            raise
        except WaitingFull:
            log.warning("a message stays in its folder", extra={"mailbox": self._mailbox.id})
            await self._take_stand_in(listed, rules.waiting_full_text(self._mailbox))
        except Exception:
            # A message that cannot be taken must not keep back those behind it.
            log.exception("a message could not be taken", extra={"mailbox": self._mailbox.id})
            await self._take_stand_in(listed, rules.unreadable_text(self._mailbox))

    async def _take_stand_in(self, listed: Listed, text: str) -> None:
        stand_in = await self._stand_in(listed, text)
        if stand_in is not None:
            await self._finish(self._arrival(listed, stand_in)._replace(is_stand_in=True))

    def _arrival(self, listed: Listed, raw: bytes) -> Arrival:
        arrived_at = rules.arrived_at(listed, self._state.clock.now_us())
        return Arrival(raw, arrived_at=arrived_at)

    async def _finish(self, arrival: Arrival) -> None:
        received = asyncio.create_task(arrivals.receive(self._state, self._mailbox, arrival))
        try:
            await asyncio.shield(received)
        except asyncio.CancelledError:
            await asyncio.wait([received], timeout=_FINISH_S)
            raise

    async def _store(self, position: Position) -> None:
        mailbox = self._mailbox
        is_stored = await self._state.database.write(
            lambda tx: store.set_position(tx, mailbox, position), mailbox.tenant_id
        )
        if not is_stored:
            raise SettingsChanged
        self._position = position
        self._mailbox = msgspec.structs.replace(mailbox, **position._asdict())


def _end() -> float:
    return asyncio.get_running_loop().time() + COMMAND_S
