"""The worker's part of business hours: the public holidays of each next year."""

import logging

from sealdesk.db import threads
from sealdesk.db.engine import Tx
from sealdesk.errors import ValidationFailed
from sealdesk.state import AppState
from sealdesk.tickets.hours import actions, public_holidays, store
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.ticket.store import teams

log = logging.getLogger("sealdesk.worker")


async def extend_hours(state: AppState, tenant_id: str, now_us: int) -> None:
    """Add the public holidays up to next year to the hours of a desk that name a country."""
    last_year = public_holidays.next_year(now_us)
    for team_id, hours in await state.database.read(lambda tx: _list_named(tx, tenant_id)):
        if hours.last_year < last_year:
            await _extend(state, tenant_id, team_id, hours, now_us)


async def _list_named(tx: Tx, tenant_id: str) -> list[tuple[str, Hours]]:
    """(team or "" for the desk, hours) of those with a country."""
    of_desk = await store.find(tx, tenant_id)
    team_ids = [each.id for each in await teams.list_teams(tx, tenant_id)]
    of_teams = await store.find_of_teams(tx, tenant_id, team_ids)
    found = [*([("", of_desk)] if of_desk else []), *of_teams.items()]
    return [(team_id, hours) for team_id, hours in found if hours.country]


async def _extend(state: AppState, tenant_id: str, team_id: str, hours: Hours, now_us: int) -> None:
    years = range(hours.last_year + 1, public_holidays.next_year(now_us) + 1)
    try:
        days = await threads.run_in(None, public_holidays.list_days, hours.country, years)
    except ValidationFailed:  # a later version of the library may have lost the region
        log.warning("unknown country of holidays", extra={"country": hours.country})
        return
    await state.database.write_in_background(
        lambda tx: actions.extend(tx, tenant_id, team_id, hours, days, now_us)
    )
