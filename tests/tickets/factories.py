"""Creates many tickets at chosen times with the real actions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.types import NewTicket, TicketChange
from tests.support.service import Tenant


class Made(NamedTuple):
    """What to make: the fields of a new ticket, when, and when it is touched again if at all."""

    fields: dict[str, Any]
    at_us: int
    touched_us: int | None = None


def make(tenant: Tenant, wanted: Sequence[Made]) -> list[str]:
    """The ids of new tickets, all made in one transaction."""
    caller = Caller(tenant.id, Actor("api_key", "k", "test"), frozenset(), "")

    async def work(tx: Tx) -> list[str]:
        return [await _make_one(tx, caller, one) for one in wanted]

    return tenant.service.write(work)


async def _make_one(tx: Tx, caller: Caller, one: Made) -> str:
    defaults = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
    new = msgspec.convert({**defaults, **one.fields}, NewTicket)
    opened = await actions.open_ticket(tx, caller, new, source="api", now_us=one.at_us)
    if one.touched_us is not None:
        await actions.change_ticket(
            tx,
            caller,
            opened.id,
            TicketChange(subject="touched"),
            if_match=None,
            now_us=one.touched_us,
        )
    return opened.id
