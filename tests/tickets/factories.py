"""Creates many tickets at chosen times with the real actions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import NewTicket, TicketChange
from tests.support.service import Tenant


class PlannedTicket(NamedTuple):
    """A ticket to create. changed_us: when it is changed once, None for never."""

    fields: dict[str, Any]
    at_us: int
    changed_us: int | None = None


def create_tickets(tenant: Tenant, planned: Sequence[PlannedTicket]) -> list[str]:
    """The ids of new tickets, all created in one transaction."""
    caller = Caller(tenant.id, Actor("api_key", "k", "test"), frozenset(), "")

    async def work(tx: Tx) -> list[str]:
        return [await _create_ticket(tx, caller, one) for one in planned]

    return tenant.service.write(work)


async def _create_ticket(tx: Tx, caller: Caller, one: PlannedTicket) -> str:
    defaults = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    new = msgspec.convert({**defaults, **one.fields}, NewTicket)
    opened = await actions.open_ticket(tx, caller, new, source="api", now_us=one.at_us)
    if one.changed_us is not None:
        await actions.change_ticket(
            tx,
            caller,
            opened.id,
            TicketChange(subject="changed"),
            if_match=None,
            now_us=one.changed_us,
        )
    return opened.id
