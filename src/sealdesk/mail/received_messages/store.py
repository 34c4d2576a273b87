"""The SQL of lists of received messages."""

from heapq import merge
from itertools import islice

from sealdesk.db.column_lists import column_list
from sealdesk.db.engine import Tx
from sealdesk.mail.received_messages.types import Filter
from sealdesk.mail.receiving.store import MESSAGES
from sealdesk.mail.receiving.types import ReceivedMessage
from sealdesk.resources.paging import PageRequest

_COLUMNS = column_list(MESSAGES.columns, "m")
_OF_MAILBOX = "(CAST(:mailbox_id AS TEXT) IS NULL OR m.mailbox_id = :mailbox_id)"
_LIST = f"""
SELECT {_COLUMNS} FROM received_messages m
WHERE m.tenant_id = :tenant_id AND m.id < :before AND m.id >= :since AND {_OF_MAILBOX}
ORDER BY m.id DESC LIMIT :limit
"""
_LIST_OUTCOME = f"""
SELECT {_COLUMNS} FROM received_messages m
WHERE m.tenant_id = :tenant_id AND m.outcome = :outcome AND m.id < :before AND m.id >= :since
    AND {_OF_MAILBOX}
ORDER BY m.id DESC LIMIT :limit
"""
_NEWEST = "~"  # sorts behind every id


async def list_messages(
    tx: Tx, tenant_id: str, wanted: Filter, page: PageRequest
) -> list[ReceivedMessage]:
    """Newest first; one more than the page when there are more."""
    params = {
        "tenant_id": tenant_id,
        "before": page.after[0] if page.after else _NEWEST,
        "since": wanted.since,
        "mailbox_id": wanted.mailbox_id,
        "limit": page.per_page + 1,
    }
    if not wanted.outcomes:
        return [MESSAGES.read(row) for row in await tx.fetch_all(_LIST, params)]
    # Each outcome is a range of the index; all together would be sorted.
    many = [{**params, "outcome": each} for each in wanted.outcomes]
    found = [map(MESSAGES.read, rows) for rows in await tx.fetch_for_each(_LIST_OUTCOME, many)]
    merged = merge(*found, key=lambda message: message.id, reverse=True)
    return [*islice(merged, page.per_page + 1)]
