"""Deletes uploads that nothing refers to after a day, and files that belong to no attachment."""

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.tickets.attachments import files, rules, store
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Content

_STEP_ROWS = 100
_MINUTE_US = 60 * 1_000_000
# A commit that fails leaves bytes without a row. They are looked for among those that were written
# in the last week, a part of the storage in each turn.
_LOOKED_FOR_US = 7 * 24 * 60 * _MINUTE_US


async def prune(state: AppState) -> int:
    """Delete what is over; how many attachments."""
    now_us, storage = state.clock.now_us(), storage_of(state.settings)
    before_us = now_us - rules.UNUSED_US
    await files.delete_abandoned(files.folder_of(state.settings), now_us)
    total = 0
    while contents := await state.database.write(
        lambda tx: store.delete_unused(tx, before_us, _STEP_ROWS)
    ):
        total += len(contents)
        for content in contents:
            await delete_unless_used(state, content)
    await storage.delete_abandoned(now_us)
    turn = now_us // _MINUTE_US % storage.turns
    for content in await storage.list_written(turn, before_us - _LOOKED_FOR_US, before_us):
        await delete_unless_used(state, content)
    return total


async def delete_unless_used(state: AppState, content: Content) -> None:
    """Delete bytes that nothing has and that were not written within a day."""
    now_us = state.clock.now_us()

    async def work(tx: Tx) -> bool:
        return await store.has_content(tx, content, now_us)

    async def is_used() -> bool:
        return await state.database.read(work)

    before_us = now_us - rules.UNUSED_US
    await storage_of(state.settings).delete_unused(content, before_us, is_used)
