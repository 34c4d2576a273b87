"""The first steps of a desk, before its first ticket."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store import assignees, destinations, lists, mail
from sealdesk.web.request import Request


async def find_first_steps(request: Request) -> dict[str, bool] | None:
    """Which of them are done; None once the desk has tickets."""
    tenant_id, now_us = request.caller.tenant_id, request.now_us

    async def work(tx: Tx) -> dict[str, bool] | None:
        if await lists.has_tickets(tx, tenant_id):
            return None
        return {
            "has_key": await destinations.has_key(tx, tenant_id, now_us),
            "has_mailbox": await mail.has_mailbox(tx, tenant_id),
            "has_colleagues": len(await assignees.list_assignees(tx, tenant_id, 1)) > 1,
        }

    return await request.read(work)
