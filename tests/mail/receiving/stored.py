"""A received message for tests that need one, without a receiver."""

from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.receiving import arrivals
from sealdesk.mail.receiving.types import Arrival
from sealdesk.state import AppState
from tests.support.service import Tenant


def received(tenant: Tenant, raw: bytes) -> str:
    """Take a message for the newest mailbox of a tenant; its id."""

    async def work(state: AppState) -> str:
        (mailbox, *_) = await state.database.read(
            lambda tx: mailboxes.list_all(tx, tenant.id), tenant.id
        )
        taken = await arrivals.receive(state, mailbox, Arrival(raw))
        assert taken is not None
        return taken.id

    return tenant.service.in_serving(work)
