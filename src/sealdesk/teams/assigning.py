"""Round robin: gives open tickets of teams to members who are there and have room.

It runs beside the requests in each process that serves pages: such a process knows who is there,
and works in the tenant's own transactions, so that the worker's role needs no rights on tickets
(decision 0054).
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping

from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ServiceUnavailable
from sealdesk.event_log.presence import SeenUsers
from sealdesk.state import AppState
from sealdesk.teams import rules, store
from sealdesk.teams.rules import PRESENT_US
from sealdesk.teams.types import Team
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import SeenChange, TicketChange

SEEN_EVERY_US = 30 * 1_000_000  # between two writes of when a member was seen
_REST_S = 1.0
_REST_AFTER_WORK_S = 0.05
_REST_SHARE = 4  # it uses at most a fifth of the time
# Of one tenant in a row; the others are next.
_TICKETS_AT_ONCE = 10
_TEAMS_AT_ONCE = 5

log = logging.getLogger("sealdesk.teams")


class RoundRobin:
    """Gives out the waiting tickets of the tenants whose members this process has seen."""

    def __init__(self, state: AppState, seen_users: SeenUsers | None = None) -> None:
        self._state = state
        self._seen_users = seen_users or state.seen_users
        # By tenant and user: what of their presence is stored, or needs not be.
        self._stored_at: dict[tuple[str, str], int] = {}
        # By tenant: when a member of one of its teams was seen.
        self._members_at: dict[str, int] = {}
        self._round = 0

    async def run(self) -> None:
        """Run until cancelled; a failure ends neither the task nor the turn of other teams."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            assigned = await self.run_round()
            rest_s = _REST_AFTER_WORK_S if assigned else _REST_S
            await asyncio.sleep(max(rest_s, _REST_SHARE * (loop.time() - began_at)))

    async def run_round(self) -> int:
        """Give each tenant a turn; how many tickets were assigned."""
        self._round += 1
        gone_before = self._state.clock.now_us() - PRESENT_US
        self._seen_users.forget_before(gone_before)
        self._members_at = {
            tenant: at for tenant, at in self._members_at.items() if at >= gone_before
        }
        self._stored_at = {who: at for who, at in self._stored_at.items() if at >= gone_before}
        total = 0
        for tenant_id, seen_at in self._seen_users.by_tenant().items():
            total += await _attempt(self._take_turn(tenant_id, seen_at), tenant_id)
        return total

    async def _take_turn(self, tenant_id: str, seen_at: Mapping[str, int]) -> int:
        await self._store_presence(tenant_id, seen_at)
        return await self._assign(tenant_id) if tenant_id in self._members_at else 0

    async def _store_presence(self, tenant_id: str, seen_at: Mapping[str, int]) -> None:
        due = {
            user: at
            for user, at in seen_at.items()
            if at - self._stored_at.get((tenant_id, user), 0) >= SEEN_EVERY_US
        }
        if not due:
            return
        database = self._state.database
        members = await database.read(
            lambda tx: store.list_members_among(tx, tenant_id, [*due]), tenant_id
        )
        if members:
            seen = {user: due[user] for user in members}
            await database.write(lambda tx: store.set_seen(tx, tenant_id, seen), tenant_id)
            self._members_at[tenant_id] = max(seen.values())
        self._stored_at |= {(tenant_id, user): at for user, at in due.items()}

    async def _assign(self, tenant_id: str) -> int:
        database = self._state.database
        teams = await database.read(lambda tx: store.list_waiting_teams(tx, tenant_id), tenant_id)
        start = self._round * _TEAMS_AT_ONCE % len(teams) if len(teams) > _TEAMS_AT_ONCE else 0
        total = 0
        for team in [*teams[start:], *teams[:start]][:_TEAMS_AT_ONCE]:
            total += await _attempt(self._assign_of_team(team), tenant_id)
        return total

    async def _assign_of_team(self, team: Team) -> int:
        """Most looks find nobody with room, and take no lock for that."""
        database, now_us = self._state.database, self._state.clock.now_us()
        members = await database.read(
            lambda tx: store.list_members(tx, team.tenant_id, team.id), team.tenant_id
        )
        if not rules.available(members, team.capacity, now_us):
            return 0
        return await database.write(
            lambda tx: assign_waiting(tx, team.tenant_id, team.id, now_us), team.tenant_id
        )


async def _attempt(turn: Awaitable[int], tenant_id: str) -> int:
    """How many tickets a turn assigns; 0, logged, when it fails."""
    try:
        return await turn
    except ServiceUnavailable as error:
        log.warning("round robin waits for the database", extra={"cause": repr(error.__cause__)})
    except Exception:
        log.exception("round robin failed", extra={"tenant_id": tenant_id})
    return 0


async def assign_waiting(tx: Tx, tenant_id: str, team_id: str, now_us: int) -> int:
    """Give the oldest waiting tickets of a team to its members; how many.

    One transaction of a tenant at a time does this: the open tickets of a member, which may be of
    several teams, are counted behind the lock, after the commit of the one before.
    """
    if not await tx.try_lock("round robin", tenant_id):
        return 0
    team = await store.find(tx, tenant_id, team_id)
    if team is None or team.deleted_at is not None or team.assignment != "round_robin":
        return 0
    tickets = await store.list_waiting_tickets(tx, tenant_id, team_id, _TICKETS_AT_ONCE)
    members = await store.list_members(tx, tenant_id, team_id)
    turns = rules.take_turns(members, team.capacity, len(tickets), now_us)
    assigned_at: dict[str, int] = {}
    count = 0
    for place, (ticket_id, user_id) in enumerate(zip(tickets, turns, strict=False)):
        if await _assign_ticket(tx, team, ticket_id, user_id, now_us):
            assigned_at[user_id] = now_us + place
            count += 1
    if assigned_at:
        await store.set_assigned(tx, tenant_id, team_id, assigned_at)
    return count


async def _assign_ticket(tx: Tx, team: Team, ticket_id: str, user_id: str, now_us: int) -> bool:
    """Whether the ticket was still waiting."""
    caller = Caller(team.tenant_id, Actor("system", team.id, team.name), frozenset(), "")
    seen = TicketChange(assignee_id=None, team_id=team.id, status="open")
    wanted = SeenChange(TicketChange(assignee_id=user_id), seen)
    try:
        await actions.change_fields(tx, caller, ticket_id, wanted, now_us)
    except ServiceUnavailable:
        raise
    except ApiError:
        return False
    return True
