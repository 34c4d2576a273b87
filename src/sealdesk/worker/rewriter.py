"""After an upgrade: rewrites rows of all tenants, in steps between which requests write.

Until then a document gets the members that it lacks when it is read, and so does one that a process
of the earlier version, still running, writes meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Generic, TypeVar

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.installation.store import notes
from sealdesk.installation.types import DOCUMENTS, DocumentsNote
from sealdesk.records import identities
from sealdesk.records.address_identities import Alike
from sealdesk.records.identities import ADDRESSES, IDENTITIES, IdentitiesNote
from sealdesk.resources.identity import version
from sealdesk.search.indexing import INDEXES
from sealdesk.search.store import rebuilds
from sealdesk.state import AppState
from sealdesk.tickets.ticket.store import ready_documents
from sealdesk.tickets.ticket.store.ready_documents import FIRST_ID, SHAPE
from sealdesk.worker.steps import attempt, rest_s

_LOOK_EVERY_S = 0.5
_LOOK_AGAIN_S = 60
_STEP_TICKETS = 100  # for which SQLite's writer is busy for 10 ms (2026-11)
_STEP_ROWS = 200
_MAX_ALIKE = 100

N = TypeVar("N", DocumentsNote, IdentitiesNote)


class Rewriter(Generic[N]):
    """Takes steps until the rows of all tenants are rewritten.

    name: of the note. begin: what is noted at the beginning, after what was noted of another
    shape. rewrite_next: gives how far they are then rewritten.
    """

    def __init__(
        self,
        name: str,
        kind: type[N],
        begin: Callable[[N | None], N],
        rewrite_next: Callable[[Tx, N], Awaitable[N]],
    ) -> None:
        self.is_finished = False
        self._name = name
        self._kind: type[N] = kind
        self._begin: Callable[[N | None], N] = begin
        self._rewrite_next: Callable[[Tx, N], Awaitable[N]] = rewrite_next

    async def run(self, state: AppState) -> None:
        while True:
            began_s = time.perf_counter()
            done = await attempt(self.step, state, f"rewrite {self._name}")
            if self.is_finished:
                return
            took_s = time.perf_counter() - began_s
            await asyncio.sleep(rest_s(state, took_s) if done else _LOOK_EVERY_S)

    async def step(self, state: AppState) -> int:
        """Take one step; 0 when there is none, or another process takes it."""
        reached = await state.database.read(self._find)
        self.is_finished = reached.is_finished
        if self.is_finished:
            return 0
        now_us = state.clock.now_us()
        return await state.database.write_in_background(lambda tx: self.take_step(tx, now_us))

    async def take_step(self, tx: Tx, now_us: int) -> int:
        if not await tx.try_lock(self._name):
            return 0
        before = await self._find(tx)
        if before.is_finished:  # by another process, since this one looked: it would begin again
            return 0
        reached = await self._rewrite_next(tx, before)
        text = msgspec.json.encode(reached).decode()
        await notes.put(tx, self._name, text, now_us=now_us, expires_at=None)
        return 1

    async def _find(self, tx: Tx) -> N:
        """How far the rows have the shape of this version."""
        noted = await notes.find(tx, self._name)
        reached = None if noted is None else msgspec.json.decode(noted.text, type=self._kind)
        fresh = self._begin(reached)
        return fresh if reached is None or reached.shape != fresh.shape else reached


def document_rewriter() -> Rewriter[DocumentsNote]:
    """Gives the ready documents of tickets the members of this version."""
    return Rewriter(DOCUMENTS, DocumentsNote, lambda _: DocumentsNote(SHAPE), _rewrite_documents)


def identity_rewriter() -> Rewriter[IdentitiesNote]:
    """Gives stored names, tags, and addresses of customers the identities that filters compute."""
    shape = version()
    return Rewriter(
        IDENTITIES,
        IdentitiesNote,
        lambda before: IdentitiesNote(shape, has_changed=before is not None),
        partial(_rewrite_identities, IDENTITIES),
    )


def address_rewriter() -> Rewriter[IdentitiesNote]:
    """The same for addresses of users and mailboxes, in a process that serves."""
    shape = version()
    return Rewriter(
        ADDRESSES,
        IdentitiesNote,
        lambda _: IdentitiesNote(shape),
        partial(_rewrite_identities, ADDRESSES),
    )


async def keep_rewriting(state: AppState) -> None:
    """A tenant that is moved here, or a restored backup, needs another round."""
    while True:
        await identity_rewriter().run(state)
        await document_rewriter().run(state)
        await attempt(partial(forget_renamed, IDENTITIES), state, f"forget {IDENTITIES}")
        await asyncio.sleep(_LOOK_AGAIN_S)


async def keep_rewriting_addresses(state: AppState) -> None:
    while True:
        await address_rewriter().run(state)
        await attempt(partial(forget_renamed, ADDRESSES), state, f"forget {ADDRESSES}")
        await asyncio.sleep(_LOOK_AGAIN_S)


async def _rewrite_documents(tx: Tx, reached: DocumentsNote) -> DocumentsNote:
    tenant_id: str | None = reached.tenant_id
    after_id = reached.ticket_id
    if after_id is None:
        tenant_id, after_id = await ready_documents.next_tenant(tx, reached.tenant_id), FIRST_ID
    if tenant_id is None:
        return DocumentsNote(SHAPE, is_finished=True)
    await tx.set_tenant(tenant_id)
    batch = await ready_documents.rewrite_batch(tx, tenant_id, after_id, _STEP_TICKETS)
    return DocumentsNote(SHAPE, tenant_id, batch.last_id)


async def _rewrite_identities(name: str, tx: Tx, reached: IdentitiesNote) -> IdentitiesNote:
    tenant_id: str | None = reached.tenant_id
    table, after = reached.table, reached.after
    if not table:
        tenant_id, table = (
            await ready_documents.next_tenant(tx, reached.tenant_id),
            identities.NEXT[name][""],
        )
    if tenant_id is None:
        return await _finish_identities(tx, reached)
    await tx.set_tenant(tenant_id)
    step = await identities.renew(tx, tenant_id, table, after, _STEP_ROWS)
    return msgspec.structs.replace(
        reached,
        tenant_id=tenant_id,
        table=table if step.last else identities.NEXT[name][table],
        after=step.last or (),
        has_changed=reached.has_changed or step.changed_count > 0,
        alike=tuple(dict.fromkeys((*reached.alike, *step.alike)))[:_MAX_ALIKE],
    )


async def _finish_identities(tx: Tx, reached: IdentitiesNote) -> IdentitiesNote:
    """Let the search be built anew: its words are made of the same letters."""
    if reached.has_changed:
        for index in INDEXES:
            await tx.lock(f"consumer {index.name}")  # a step under way stores how far it is
            await rebuilds.store_rebuild(tx, index.name, rebuilds.START)
    return IdentitiesNote(reached.shape, is_finished=True, alike=reached.alike)


async def forget_renamed(name: str, state: AppState) -> int:
    """Take rows off a note's list of those that are alike which are not any more; how many.

    A list that was full begins anew.
    """
    now_us = state.clock.now_us()
    return await state.database.write_in_background(lambda tx: _forget_renamed(name, tx, now_us))


async def _forget_renamed(name: str, tx: Tx, now_us: int) -> int:
    noted = await identities.find_note(tx, name)
    if noted is None or not noted.is_finished:
        return 0
    alike = tuple([each for each in noted.alike if await _is_alike(tx, each)])
    if len(alike) == len(noted.alike):
        return 0
    if len(noted.alike) == _MAX_ALIKE:
        await notes.delete(tx, name)
    else:
        text = msgspec.json.encode(msgspec.structs.replace(noted, alike=alike)).decode()
        await notes.put(tx, name, text, now_us=now_us, expires_at=None)
    return len(noted.alike) - len(alike)


async def _is_alike(tx: Tx, alike: Alike) -> bool:
    await tx.set_tenant(alike.tenant_id)
    return await identities.find_alike(tx, alike) is not None
