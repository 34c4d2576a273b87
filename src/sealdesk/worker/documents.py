"""After an upgrade: rewrites the ready documents of tickets, in steps between which requests write.

Until then a document gets the members that it lacks when it is read, and so does one that a process
of the earlier version, still running, writes meanwhile.
"""

import asyncio
import time

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.installation.store import notes
from sealdesk.installation.types import DOCUMENTS, DocumentsNote
from sealdesk.state import AppState
from sealdesk.tickets.store import ready_documents
from sealdesk.tickets.store.ready_documents import FIRST_ID, SHAPE
from sealdesk.worker.steps import attempt, rest_s

_LOOK_EVERY_S = 0.5
_STEP_TICKETS = 100  # for which SQLite's writer is busy for 10 ms (2026-11)


class DocumentRewriter:
    """Takes steps until the documents of all tenants are rewritten."""

    def __init__(self) -> None:
        self.is_finished = False

    async def run(self, state: AppState) -> None:
        while not self.is_finished:
            began_s = time.perf_counter()
            done = await attempt(self.step, state, "rewrite documents")
            took_s = time.perf_counter() - began_s
            await asyncio.sleep(rest_s(state, took_s) if done else _LOOK_EVERY_S)

    async def step(self, state: AppState) -> int:
        """Take one step; 0 when there is none, or another process takes it."""
        reached = await state.database.read(_find)
        self.is_finished = reached.is_finished
        if self.is_finished:
            return 0
        now_us = state.clock.now_us()
        return await state.database.write_in_background(lambda tx: _take_step(tx, now_us))


async def _find(tx: Tx) -> DocumentsNote:
    """How far the documents have the shape of this version."""
    noted = await notes.find(tx, DOCUMENTS)
    if noted is not None:
        reached = msgspec.json.decode(noted.text, type=DocumentsNote)
        if reached.shape == SHAPE:
            return reached
    return DocumentsNote(SHAPE)


async def _take_step(tx: Tx, now_us: int) -> int:
    if not await tx.try_lock(DOCUMENTS):
        return 0
    before = await _find(tx)
    if before.is_finished:  # by another process, since this one looked: it would begin again
        return 0
    reached = await _rewrite_next(tx, before)
    text = msgspec.json.encode(reached).decode()
    await notes.put(tx, DOCUMENTS, text, now_us=now_us, expires_at=None)
    return 1


async def _rewrite_next(tx: Tx, reached: DocumentsNote) -> DocumentsNote:
    """Rewrite the next documents; how far they are then rewritten."""
    tenant_id: str | None = reached.tenant_id
    after_id = reached.ticket_id
    if after_id is None:
        tenant_id, after_id = await ready_documents.next_tenant(tx, reached.tenant_id), FIRST_ID
    if tenant_id is None:
        return DocumentsNote(SHAPE, is_finished=True)
    await tx.set_tenant(tenant_id)
    batch = await ready_documents.rewrite_batch(tx, tenant_id, after_id, _STEP_TICKETS)
    return DocumentsNote(SHAPE, tenant_id, batch.last_id)
