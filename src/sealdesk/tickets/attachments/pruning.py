"""Deletes uploads that nothing refers to after a day, and files that belong to no attachment."""

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.tickets.attachments import files, rules, store
from sealdesk.tickets.attachments.types import Content

_STEP_ROWS = 100
_MINUTE_US = 60 * 1_000_000
# A commit that fails leaves a file without a row. Such files are looked for among those that were
# written in the last week: each directory once an hour, as the worker prunes every minute.
_TURNS = 60
_LOOKED_FOR_US = 7 * 24 * 60 * _MINUTE_US


async def prune(state: AppState) -> int:
    """Delete what is over; how many attachments."""
    now_us, folder = state.clock.now_us(), files.folder_of(state.settings)
    before_us = now_us - rules.UNUSED_US
    await files.delete_abandoned(folder, now_us)
    total = 0
    while contents := await state.database.write(
        lambda tx: store.delete_unused(tx, before_us, _STEP_ROWS)
    ):
        total += len(contents)
        for content in contents:
            await _delete_unless_used(state, content)
    turn = now_us // _MINUTE_US % _TURNS
    written = await files.list_written(folder, turn, _TURNS, before_us - _LOOKED_FOR_US, before_us)
    for content in written:
        await _delete_unless_used(state, content)
    return total


async def _delete_unless_used(state: AppState, content: Content) -> None:
    async def is_used(tx: Tx) -> bool:
        return await store.has_content(tx, content)

    if not await state.database.read(is_used):
        before_us = state.clock.now_us() - rules.UNUSED_US
        await files.delete_older(files.folder_of(state.settings), content, before_us)
