"""Round robin: tickets of a team are given to members who are present and have room."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from sealdesk.event_log.presence import SeenUsers
from sealdesk.state import AppState
from sealdesk.teams import assigning
from sealdesk.teams.assigning import SEEN_EVERY_US, RoundRobin, assign_waiting
from sealdesk.teams.rules import PRESENT_US
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.pages import Visitor
from tests.support.service import Service, wait_until
from tests.teams.desks import TEAMS, TeamDesk

SEEN = """
SELECT seen_at FROM team_members WHERE tenant_id = :tenant AND user_id = :user LIMIT 1
"""
HISTORY = """
SELECT ticket_id, actor_kind, actor_name, changes FROM ticket_changes
WHERE tenant_id = :tenant ORDER BY id LIMIT 1000
"""


def run_round(
    service: Service, presence: SeenUsers, database: Callable[[Any], Any] = lambda real: real
) -> int:
    """One round of a process that has seen these users."""

    async def work(state: AppState) -> int:
        own = msgspec.structs.replace(state, database=database(state.database))
        return await RoundRobin(own, presence).run_round()

    return service.in_serving(work)


def seen(desk: TeamDesk, *user_ids: str) -> SeenUsers:
    """A process that has just seen these users."""
    presence = SeenUsers()
    for user_id in user_ids:
        presence.note(desk.tenant.id, user_id, desk.service.clock.now_us())
    return presence


def test_tickets_are_given_in_turns(desk: TeamDesk) -> None:
    team_id = desk.team()
    members = [desk.member(team_id) for _ in range(3)]
    for _ in range(6):
        desk.key.ticket(team_id=team_id)
        desk.give_out(team_id)
    given_to = desk.assignees(team_id)
    assert given_to[:3] == given_to[3:]
    assert set(given_to) == {*members}


def test_who_had_the_last_one_longest_ago_is_next(desk: TeamDesk) -> None:
    team_id = desk.team()
    for _ in range(2):
        desk.member(team_id)
    for _ in range(4):  # each is done before the next one comes
        ticket = desk.key.ticket(team_id=team_id)
        desk.give_out(team_id)
        desk.change(ticket, status="resolved")
    first, second, third, fourth = desk.assignees(team_id)
    assert (first, second) == (third, fourth)
    assert first != second


def test_absent_and_deactivated_members_get_nothing(desk: TeamDesk) -> None:
    team_id = desk.team()
    desk.member(team_id, seen_min=6)
    desk.member(team_id, seen_min=None)
    desk.tenant.deactivate(desk.member(team_id))
    ticket = desk.key.ticket(team_id=team_id)
    assert desk.give_out(team_id) == 0
    assert desk.read(ticket)["assignee_id"] is None


def test_a_snoozed_ticket_is_given_out_when_it_is_awake(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id)
    ticket = desk.key.ticket(team_id=team_id, snoozed_until="next_reply")
    assert (desk.give_out(team_id), desk.read(ticket)["assignee_id"]) == (0, None)
    desk.change(ticket, snoozed_until=None)
    desk.give_out(team_id)
    assert desk.read(ticket)["assignee_id"] == user_id


def test_a_ticket_waits_until_somebody_has_room(desk: TeamDesk) -> None:
    team_id = desk.team(capacity=1)
    user_id = desk.member(team_id)
    first, second = (desk.key.ticket(team_id=team_id) for _ in range(2))
    desk.give_out(team_id)
    assert desk.assignees(team_id) == [user_id, None]
    desk.change(first, status="pending")
    desk.give_out(team_id)
    assert desk.read(second)["assignee_id"] == user_id


def test_open_tickets_of_other_teams_take_room(desk: TeamDesk) -> None:
    one, two = desk.team("1", capacity=1), desk.team("2", capacity=1)
    desk.member(one, two)
    for team_id in (one, two):
        desk.key.ticket(team_id=team_id)
        desk.give_out(team_id)
    assert desk.assignees(one) != [None]
    assert desk.assignees(two) == [None]


@pytest.mark.parametrize(
    "fields", [{"status": "pending"}, {"status": "resolved"}, {"assignee_id": "other"}]
)
def test_only_open_tickets_of_nobody_are_given_out(desk: TeamDesk, fields: dict[str, Any]) -> None:
    team_id = desk.team()
    desk.member(team_id)
    other = desk.tenant.user() if "assignee_id" in fields else None
    fields = {"assignee_id": other} if other else fields
    ticket = desk.key.ticket(team_id=team_id, **fields)
    assert desk.give_out(team_id) == 0
    assert desk.read(ticket)["assignee_id"] == other


def test_a_team_by_hand_and_a_deleted_one_give_out_nothing(desk: TeamDesk) -> None:
    team_id = desk.team()
    desk.member(team_id)
    desk.key.ticket(team_id=team_id)
    desk.admin.patch(f"{TEAMS}/{team_id}", {"assignment": "by_hand"})
    assert desk.give_out(team_id) == 0
    desk.admin.patch(f"{TEAMS}/{team_id}", {"assignment": "round_robin"})
    desk.admin.delete(f"{TEAMS}/{team_id}")
    assert desk.give_out(team_id) == 0


def test_the_history_and_a_notification_tell_of_it(desk: TeamDesk) -> None:
    team_id = desk.team("Returns")
    user_id = desk.member(team_id)
    desk.key.ticket(team_id=team_id)
    desk.give_out(team_id)
    (row,) = desk.service.rows(HISTORY, tenant=desk.tenant.id)
    assert (row["actor_kind"], row["actor_name"]) == ("system", "Returns")
    assert user_id in row["changes"]
    sql = "SELECT user_id, kind, actor_name FROM notifications WHERE tenant_id = :tenant LIMIT 9"
    (told,) = desk.service.rows(sql, tenant=desk.tenant.id)
    assert tuple(told)[:3] == (user_id, "assigned", "Returns")


def test_a_page_that_is_asked_for_makes_its_user_present(desk: TeamDesk) -> None:
    """The whole way: a page, the presence, the round, the ticket."""
    team_id = desk.team()
    email = f"ada.of.{desk.tenant.id}@example.test"
    user_id = desk.tenant.user("agent", email)
    desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id})
    ticket = desk.key.ticket(team_id=team_id)
    Visitor(desk.service).log_in(email)
    wait_until(lambda: desk.read(ticket)["assignee_id"] == user_id)


def test_presence_is_stored_at_most_every_half_minute(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id, seen_min=None)
    now_us, presence = desk.service.clock.now_us(), SeenUsers()
    stored: list[int] = []

    async def work(state: AppState) -> None:
        rounds = RoundRobin(state, presence)
        for later_us in (0, SEEN_EVERY_US - 1, SEEN_EVERY_US):
            presence.note(desk.tenant.id, user_id, now_us + later_us)
            await rounds.run_round()
            rows = await state.database.read(
                lambda tx: tx.fetch_all(SEEN, {"tenant": desk.tenant.id, "user": user_id}),
                desk.tenant.id,
            )
            stored.append(rows[0]["seen_at"] - now_us)

    desk.service.in_serving(work)
    assert stored == [0, 0, SEEN_EVERY_US]


def test_a_tenant_without_teams_costs_no_write(desk: TeamDesk) -> None:
    user_id = desk.tenant.user()

    class Reading:
        """A database that refuses writes."""

        def __init__(self, real: Any) -> None:
            self.read = real.read

        async def write(self, *_: Any) -> None:
            raise AssertionError("nothing is to be stored")

    assert run_round(desk.service, seen(desk, user_id), Reading) == 0


def test_a_failure_of_one_tenant_stops_no_other(desk: TeamDesk, service: Service) -> None:
    other = TeamDesk(service.tenant())
    presence = SeenUsers()
    for each in (desk, other):
        team_id = each.team()
        user_id = each.member(team_id, seen_min=None)
        each.key.ticket(team_id=team_id)
        presence.note(each.tenant.id, user_id, service.clock.now_us())

    class Failing:
        """A database that fails for one tenant."""

        def __init__(self, real: Any) -> None:
            self._real = real

        async def read(self, work: Any, tenant_id: str) -> Any:
            if tenant_id == desk.tenant.id:
                raise RuntimeError("this tenant's rows cannot be read")
            return await self._real.read(work, tenant_id)

        async def write(self, work: Any, tenant_id: str) -> Any:
            return await self._real.write(work, tenant_id)

    assert run_round(service, presence, Failing) == 1


def test_a_failure_of_one_team_stops_no_other(
    desk: TeamDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    teams = [desk.team("1"), desk.team("2")]
    user_id = desk.member(*teams, seen_min=None)
    for team_id in teams:
        desk.key.ticket(team_id=team_id)
    failing: list[str] = []

    async def assign(tx: Any, tenant_id: str, team_id: str, now_us: int) -> int:
        failing.append(team_id)
        if team_id == failing[0]:
            raise RuntimeError("a ticket of this team cannot be assigned")
        return await assign_waiting(tx, tenant_id, team_id, now_us)

    monkeypatch.setattr(assigning, "assign_waiting", assign)
    assert run_round(desk.service, seen(desk, user_id)) == 1


def test_a_round_gives_a_tenant_ten_tickets_of_a_team(desk: TeamDesk) -> None:
    team_id = desk.team(capacity=100)
    user_id = desk.member(team_id, seen_min=None)
    for _ in range(12):
        desk.key.ticket(team_id=team_id)
    presence = seen(desk, user_id)
    assert [run_round(desk.service, presence) for _ in range(3)] == [10, 2, 0]


def test_each_of_many_full_teams_has_its_turn(
    desk: TeamDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assigning, "_TEAMS_AT_ONCE", 1)
    *_, last = teams = [desk.team(str(place)) for place in range(3)]
    user_id = desk.member(last, seen_min=None)
    for team_id in teams:
        desk.key.ticket(team_id=team_id)
    presence = seen(desk, user_id)

    async def work(state: AppState) -> int:
        rounds = RoundRobin(state, presence)
        return sum([await rounds.run_round() for _ in teams])

    assert desk.service.in_serving(work) == 1
    assert desk.assignees(last) == [user_id]


def test_a_member_who_was_seen_long_ago_is_forgotten(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id, seen_min=None)
    desk.key.ticket(team_id=team_id)
    presence = SeenUsers()
    presence.note(desk.tenant.id, user_id, desk.service.clock.now_us() - PRESENT_US - 1)
    assert run_round(desk.service, presence) == 0
    assert presence.by_tenant() == {}


@POSTGRESQL_ONLY
def test_two_processes_do_not_give_a_member_more_than_the_capacity(desk: TeamDesk) -> None:
    """Both count the open tickets of a member of two teams; the second is kept out."""
    one, two = desk.team("1", capacity=1), desk.team("2", capacity=1)
    desk.member(one, two)
    for team_id in (one, two):
        desk.key.ticket(team_id=team_id)
    now_us, tenant_id = desk.service.clock.now_us(), desk.tenant.id

    async def work(state: AppState) -> tuple[int, int]:
        has_assigned, may_commit = asyncio.Event(), asyncio.Event()

        async def hold(tx: Any) -> int:
            count = await assign_waiting(tx, tenant_id, one, now_us)
            has_assigned.set()
            await may_commit.wait()
            return count

        first = asyncio.ensure_future(state.database.write(hold, tenant_id))
        await has_assigned.wait()
        second = await state.database.write(
            lambda tx: assign_waiting(tx, tenant_id, two, now_us), tenant_id
        )
        may_commit.set()
        return await first, second

    assert desk.service.in_serving(work) == (1, 0)
    assert desk.give_out(two) == 0


def test_the_capacity_holds_under_concurrent_creations(
    start_nodes: Callable[..., list[Service]],
) -> None:
    nodes = start_nodes()
    desk = TeamDesk(nodes[0].tenant())
    team_id = desk.team(capacity=5)
    members = []
    for place in range(3):
        email = f"member{place}.of.{desk.tenant.id}@example.test"
        members.append(desk.tenant.user("agent", email))
        desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": members[-1]})
        Visitor(nodes[place % len(nodes)]).log_in(email)
    with ThreadPoolExecutor(10) as pool:
        tickets = list(pool.map(lambda _: desk.key.ticket(team_id=team_id), range(50)))

    def given_to() -> Counter[str | None]:
        return Counter(desk.assignees(team_id))

    wait_until(lambda: given_to()[None] == 35)
    assert [given_to()[each] for each in (*members, None)] == [5, 5, 5, 35]
    done = next(each for each in tickets if desk.read(each)["assignee_id"] == members[0])
    desk.change(done, status="resolved")
    wait_until(lambda: given_to()[None] == 34)
    assert given_to()[members[0]] == 6  # one of them is resolved
    changes = desk.service.rows(HISTORY, tenant=desk.tenant.id)
    given = Counter(row["ticket_id"] for row in changes if row["actor_kind"] == "system")
    assert given.most_common(1)[0][1] == 1
    assert len(given) == 16
