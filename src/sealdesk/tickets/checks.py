"""What values of a ticket are checked against in the transaction of its change."""

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.tickets.errors import TOO_MANY_SNOOZED
from sealdesk.tickets.snoozing import rules as snoozing
from sealdesk.tickets.snoozing import store as snoozed


async def check_snoozed(tx: Tx, tenant_id: str) -> None:
    """Raises Conflict if no further ticket can be snoozed."""
    limit = snoozing.MAX_SNOOZED
    if await snoozed.count_snoozed(tx, tenant_id, limit) >= limit:
        raise Conflict(TOO_MANY_SNOOZED, limit=limit)
