"""Hands the tickets of a person over."""

from contextlib import suppress

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import PreconditionFailed
from sealdesk.team_now import store
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import SeenChange, TicketChange

_AT_ONCE = 10  # some 10 ms, in which others wait


async def hand_over(
    tx: Tx, caller: Caller, user_id: str, to_id: str | None, after_id: str, *, now_us: int
) -> list[str]:
    """Hand the next unfinished tickets of a user over; their ids, empty behind the last one.

    to_id: None for nobody, so that round robin gives tickets of its teams out again. A ticket that
    somebody gives to another person meanwhile stays there. Raises ValidationFailed.
    """
    wanted = SeenChange(TicketChange(assignee_id=to_id), TicketChange(assignee_id=user_id))
    found = await store.list_unfinished(tx, caller.tenant_id, user_id, after_id, _AT_ONCE)
    for ticket_id in found:
        with suppress(PreconditionFailed):
            await actions.change_fields(tx, caller, ticket_id, wanted, now_us)
    return found
