"""Runs an import: reads the sources, and takes their messages in batches."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.identity import store as identity
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.parsing import ParsedMessage, parse
from sealdesk.mail.receiving import arrivals, contents, store
from sealdesk.mail.receiving.types import Arrival, History, Incoming, ReceivedMessage
from sealdesk.resources.paging import PageRequest, Position
from sealdesk.resources.representation import email_identity
from sealdesk.state import AppState
from sealdesk.tickets.ticket.types import FirstStatus
from sealdesk_mail_import import actions, dates
from sealdesk_mail_import.order import MAX_MESSAGES, Order, Place
from sealdesk_mail_import.types import CannotRead, Failure, NotAMailbox, Source, Totals

# Some 50 ms of a transaction, in which other writers of an SQLite file wait.
_BATCH_MESSAGES = 20
_BATCH_BYTES = 8 * 1024 * 1024
_USERS_PAGE = 200
_MAX_USERS = 10_000


class Wanted(NamedTuple):
    """What to import where. status: of the tickets."""

    mailbox: Mailbox
    status: FirstStatus


class Progress(NamedTuple):
    """What is called while an import runs. failed: for each message that is not imported."""

    advance: Callable[[int], None]
    failed: Callable[[Failure], None]


class _Message(NamedTuple):
    place: Place
    raw: bytes


class _Prepared(NamedTuple):
    place: Place
    incoming: Incoming


async def read_sources(
    sources: Sequence[Source], now_s: int, advance: Callable[[int], None]
) -> Order:
    """The messages of all sources in order. Raises NotAMailbox, MailFailed, OSError.

    advance: called with the bytes of each message, as far as the source knows its size.
    """
    order = Order(sources)
    for number, source in enumerate(sources):
        async for entry in source.find_messages(now_s):
            if len(order) >= MAX_MESSAGES:
                raise NotAMailbox(f"there are more than {MAX_MESSAGES:,} messages")
            order.add(number, entry)
            advance(entry.size_bytes)
    order.sort()
    return order


class Import:
    """One run of an import."""

    def __init__(self, state: AppState, wanted: Wanted, progress: Progress) -> None:
        self._state = state
        self._wanted = wanted
        self._progress = progress
        self._agents: dict[str, str] = {}
        self.totals = Totals()

    async def run(self, order: Iterable[Place]) -> Totals:
        """Take the messages.

        Raises ServiceUnavailable, MailFailed, OSError; then it can be run again.
        """
        self._agents = await self._list_agents()
        async for batch in self._batches(order):
            await self._take_batch(batch)
            self._progress.advance(len(batch))
        return self.totals

    async def _list_agents(self) -> dict[str, str]:
        """The ids of the tenant's users by their addresses."""
        tenant_id = self._wanted.mailbox.tenant_id
        found: dict[str, str] = {}
        after: Position | None = None
        while len(found) < _MAX_USERS:
            page = PageRequest(_USERS_PAGE, after)
            users = await self._state.database.read(
                partial(identity.list_users, tenant_id=tenant_id, page=page), tenant_id
            )
            for user in users[:_USERS_PAGE]:
                found[email_identity(user.email)] = user.id
            if len(users) <= _USERS_PAGE:
                break
            after = [users[_USERS_PAGE - 1].id]
        return found

    async def _batches(self, order: Iterable[Place]) -> AsyncIterator[list[_Message]]:
        batch, size_bytes = list[_Message](), 0
        for place in order:
            try:
                raw = await place.source.read(place.entry)
            except CannotRead as error:
                self._fail(place, str(error))
                self._progress.advance(1)
                continue
            batch.append(_Message(place, raw))
            size_bytes += len(raw)
            if len(batch) == _BATCH_MESSAGES or size_bytes >= _BATCH_BYTES:
                yield batch
                batch, size_bytes = [], 0
        if batch:
            yield batch

    async def _take_batch(self, batch: list[_Message]) -> None:
        new = await self._without_known(batch)
        prepared = await asyncio.gather(*map(self._prepare, new))
        ready = [each for each in prepared if each is not None]
        try:
            await self._take(ready)
        except Exception as error:
            if _stops(error):
                raise
            # One of them cannot be taken: each by itself shows which.
            for each in ready:
                await self._take_alone(each)

    async def _without_known(self, batch: list[_Message]) -> list[_Message]:
        """Those that were not taken before, seen from their headers alone."""
        mailbox = self._wanted.mailbox
        heads = [parse(dates.head_of(each.raw)) for each in batch]
        hashes = [hashlib.sha256(each.raw).hexdigest() for each in batch]
        keys = [contents.key_of(*each) for each in zip(heads, hashes, strict=True)]

        async def work(tx: Tx) -> list[ReceivedMessage | None]:
            return [await store.find_by_key(tx, mailbox.tenant_id, mailbox.id, k) for k in keys]

        stored = await self._state.database.read(work, mailbox.tenant_id)
        new = [
            each
            for each, head, one_hash, known in zip(batch, heads, hashes, stored, strict=True)
            if known is None or not _is_same(known, head, one_hash)
        ]
        self.totals.known += len(batch) - len(new)
        return new

    async def _prepare(self, message: _Message) -> _Prepared | None:
        mailbox, arrival = self._wanted.mailbox, Arrival(message.raw)
        try:
            incoming = await arrivals.prepare(self._state, mailbox, arrival)
        except Exception as error:
            if _stops(error):
                raise
            self._fail(message.place, _reason_of(error))
            return None
        written_us = message.place.entry.written_s * 1_000_000
        history = History(written_us, self._wanted.status, self._agents)
        return _Prepared(message.place, msgspec.structs.replace(incoming, history=history))

    async def _take(self, prepared: Sequence[_Prepared]) -> None:
        """Take messages in one transaction, and count them."""
        now_us = self._state.clock.now_us()

        async def work(tx: Tx) -> list[ReceivedMessage | None]:
            return [await actions.import_message(tx, each.incoming, now_us) for each in prepared]

        taken = await self._state.database.write(work, self._wanted.mailbox.tenant_id)
        for each, message in zip(prepared, taken, strict=True):
            if message is None:
                self.totals.known += 1
                continue
            self.totals.outcomes[message.outcome] += 1
            self.totals.unclear += contents.is_cut(each.incoming.message)

    async def _take_alone(self, prepared: _Prepared) -> None:
        try:
            await self._take([prepared])
        except Exception as error:
            if _stops(error):
                raise
            self._fail(prepared.place, _reason_of(error))

    def _fail(self, place: Place, reason: str) -> None:
        self.totals.failed += 1
        self._progress.failed(Failure(str(place), reason))


def _is_same(known: ReceivedMessage, head: ParsedMessage, raw_sha256: str) -> bool:
    return known.subject == contents.subject_of(head) or known.raw_sha256 == raw_sha256


def _stops(error: Exception) -> bool:
    """Whether the import ends, to be continued, instead of going on without the message."""
    return isinstance(error, OSError) or not arrivals.is_mistake(error)


def _reason_of(error: Exception) -> str:
    error = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return f"{type(error).__name__}: {error}"
