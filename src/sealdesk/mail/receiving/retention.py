"""Deletes raw messages that are kept no longer."""

from functools import partial

from sealdesk.mail.receiving import store
from sealdesk.state import AppState
from sealdesk.tickets.attachments import pruning
from sealdesk.tickets.attachments.types import Content

_STEP_ROWS = 100


async def prune(state: AppState) -> int:
    """Delete what is over; how many raw messages."""
    now_us, total = state.clock.now_us(), 0
    while expired := await state.database.read(
        lambda tx: store.list_expired(tx, now_us, _STEP_ROWS)
    ):
        # First the bytes: a row whose bytes are gone is found again, bytes without a row are not.
        for each in expired:
            await pruning.delete_unless_used(state, Content(each.tenant_id, each.raw_sha256))
        await state.database.write(partial(store.forget_raw, messages=expired))
        total += len(expired)
    return total
