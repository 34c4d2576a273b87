"""Teams and their members, through the API."""

from typing import Any

import pytest

from sealdesk.teams import actions
from sealdesk.teams.rules import MAX_MEMBERS
from sealdesk.tickets.ticket.store.teams import MAX_TEAMS
from tests.support.service import Service
from tests.teams.desks import TEAMS, TICKETS, TeamDesk

AUDIT = "SELECT action, details FROM audit WHERE tenant_id = :tenant ORDER BY id LIMIT 100"


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def fault(answer: Any) -> tuple[int, str, str]:
    (one,) = answer.json()["errors"]
    return answer.status_code, one["pointer"], one["code"]


def test_a_team_is_created_changed_and_listed(desk: TeamDesk) -> None:
    team_id = desk.team(capacity=3)
    changed = desk.admin.patch(f"{TEAMS}/{team_id}", {"name": "Refunds", "assignment": "by_hand"})
    assert changed.status_code == 200
    shown = changed.json()["data"]
    assert (shown["name"], shown["assignment"], shown["capacity"]) == ("Refunds", "by_hand", 3)
    assert desk.admin.get(TEAMS).json()["data"] == [shown]
    listed = desk.key.get("/api/v1/external/teams").json()["data"]
    assert listed == [{"id": team_id, "name": "Refunds"}]


def test_a_new_team_is_assigned_by_hand(desk: TeamDesk) -> None:
    shown = desk.admin.post(TEAMS, {"name": "Returns"}).json()["data"]
    assert (shown["assignment"], shown["capacity"], shown["deleted_at"]) == ("by_hand", 10, None)


@pytest.mark.parametrize("name", ["Returns", "returns", " RETURNS "])
def test_a_name_is_given_once_regardless_of_case(desk: TeamDesk, name: str) -> None:
    desk.team("Returns")
    other = desk.team("Other")
    assert fault(desk.admin.post(TEAMS, {"name": name})) == (422, "/name", "taken")
    assert fault(desk.admin.patch(f"{TEAMS}/{other}", {"name": name})) == (422, "/name", "taken")


def test_a_team_may_change_the_case_of_its_own_name(desk: TeamDesk) -> None:
    team_id = desk.team("Returns")
    assert desk.admin.patch(f"{TEAMS}/{team_id}", {"name": "RETURNS"}).status_code == 200


def test_two_tenants_have_teams_of_one_name(desk: TeamDesk, service: Service) -> None:
    desk.team("Returns")
    TeamDesk(service.tenant()).team("Returns")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "  "}, "/name"),
        ({"name": "n" * 65}, "/name"),
        ({"name": "n", "capacity": 0}, "/capacity"),
        ({"name": "n", "capacity": 101}, "/capacity"),
        ({"name": "n", "assignment": "by_lot"}, "/assignment"),
    ],
)
def test_wrong_fields_are_named(desk: TeamDesk, body: dict[str, Any], pointer: str) -> None:
    assert fault(desk.admin.post(TEAMS, body))[:2] == (422, pointer)


def test_teams_of_a_tenant_are_bounded(desk: TeamDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_TEAMS", 2)
    first = desk.team("1")
    desk.team("2")
    assert code(desk.admin.post(TEAMS, {"name": "3"})) == (409, "too_many_teams")
    desk.admin.delete(f"{TEAMS}/{first}")
    desk.team("3")
    assert MAX_TEAMS == 200


def test_members_of_a_team_are_bounded(desk: TeamDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_MEMBERS", 1)
    team_id = desk.team()
    desk.member(team_id)
    answer = desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": desk.tenant.user()})
    assert code(answer) == (409, "too_many_members")
    assert MAX_MEMBERS == 50


def test_members_are_listed_with_their_load_and_presence(desk: TeamDesk) -> None:
    team_id = desk.team()
    here, away = desk.member(team_id, name="Ada"), desk.member(team_id, name="Eve", seen_min=6)
    for status in ("open", "open", "pending"):
        desk.key.ticket(assignee_id=here, status=status)
    listed = desk.admin.get(f"{TEAMS}/{team_id}/members").json()["data"]
    assert {each["id"]: (each["open_ticket_count"], each["is_present"]) for each in listed} == {
        here: (2, True),
        away: (0, False),
    }


def test_adding_a_member_again_changes_their_capacity_alone(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id)
    again = desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id})
    assert again.status_code == 201
    for given, capacity in (({"capacity": 2}, 2), ({}, 2), ({"capacity": None}, None)):
        again = desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id, **given})
        assert again.json()["data"]["capacity"] == capacity
    wrong = desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id, "capacity": 0})
    assert wrong.json()["errors"][0]["pointer"] == "/capacity"
    assert len(desk.admin.get(f"{TEAMS}/{team_id}/members").json()["data"]) == 1


def test_only_active_users_of_the_tenant_become_members(desk: TeamDesk, service: Service) -> None:
    team_id, gone = desk.team(), desk.tenant.user()
    desk.tenant.deactivate(gone)
    for user_id in (gone, service.tenant().user(), "unknown"):
        answer = desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id})
        assert fault(answer) == (422, "/user_id", "unknown_user")


def test_a_removed_member_keeps_their_tickets(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id)
    ticket = desk.key.ticket(team_id=team_id, assignee_id=user_id)
    at = f"{TEAMS}/{team_id}/members/{user_id}"
    assert desk.admin.delete(at).status_code == 204
    assert code(desk.admin.delete(at)) == (404, "not_found")
    assert desk.read(ticket)["assignee_id"] == user_id


def test_a_ticket_is_given_to_a_team_and_taken_from_it(desk: TeamDesk) -> None:
    team_id = desk.team()
    ticket = desk.key.ticket(team_id=team_id)
    assert desk.read(ticket)["team_id"] == team_id
    assert desk.change(ticket, team_id=None)["team_id"] is None
    assert desk.change(ticket, team_id=team_id)["team_id"] == team_id


def test_a_foreign_deleted_or_unknown_team_is_refused(desk: TeamDesk, service: Service) -> None:
    deleted = desk.team("Deleted")
    desk.admin.delete(f"{TEAMS}/{deleted}")
    ticket = desk.key.ticket()
    for team_id in (TeamDesk(service.tenant()).team(), deleted, "unknown"):
        new = {"subject": "S", "description": "D", "customer": {"email": "a@b.test"}}
        answer = desk.key.post(TICKETS, {**new, "team_id": team_id})
        assert fault(answer) == (422, "/team_id", "unknown_team")
        answer = desk.key.patch(f"{TICKETS}/{ticket['id']}", {"team_id": team_id})
        assert fault(answer) == (422, "/team_id", "unknown_team")
    assert desk.read(ticket)["team_id"] is None


def test_tickets_are_listed_by_team(desk: TeamDesk) -> None:
    team_id, other = desk.team("1"), desk.team("2")
    wanted = [desk.key.ticket(team_id=team_id, status=each)["id"] for each in ("open", "pending")]
    desk.key.ticket(team_id=other)
    desk.key.ticket()
    query = f"{TICKETS}?team_id={team_id}"
    assert [each["id"] for each in desk.key.walk(query, 1)] == wanted[::-1]
    by_change = desk.key.walk(f"{query}&sort_by=updated_at&status=open", 1)
    assert [each["id"] for each in by_change] == wanted[:1]


def test_a_deleted_team_stays_readable_and_its_tickets_name_it(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id)
    ticket = desk.key.ticket(team_id=team_id, assignee_id=user_id)
    assert desk.admin.delete(f"{TEAMS}/{team_id}").status_code == 204
    shown = desk.read(ticket)
    assert (shown["team_id"], shown["assignee_id"]) == (team_id, user_id)
    assert desk.change(ticket, subject="Still changeable")["team_id"] == team_id
    assert desk.admin.get(f"{TEAMS}/{team_id}").json()["data"]["deleted_at"] is not None
    assert desk.admin.get(TEAMS).json()["data"] == []
    for answer in (
        desk.admin.delete(f"{TEAMS}/{team_id}"),
        desk.admin.patch(f"{TEAMS}/{team_id}", {"capacity": 2}),
        desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id}),
    ):
        assert code(answer) == (404, "not_found")
    desk.team("Returns")  # the name is free again


def test_changes_of_teams_are_in_the_audit_log(desk: TeamDesk) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id)
    desk.admin.patch(f"{TEAMS}/{team_id}", {"capacity": 4})
    desk.admin.patch(f"{TEAMS}/{team_id}", {"capacity": 4})
    desk.admin.post(f"{TEAMS}/{team_id}/members", {"user_id": user_id, "capacity": 2})
    desk.admin.delete(f"{TEAMS}/{team_id}/members/{user_id}")
    desk.admin.delete(f"{TEAMS}/{team_id}")
    rows = desk.service.rows(AUDIT, tenant=desk.tenant.id)
    told = [(row["action"], row["details"]) for row in rows if row["action"].startswith("team.")]
    assert [action for action, _ in told] == [
        "team.created",
        "team.member_added",
        "team.updated",
        "team.member_changed",
        "team.member_removed",
        "team.deleted",
    ]
    assert user_id in told[1][1]
    assert '"capacity":[10,4]' in told[2][1]


def test_a_merge_keeps_the_teams_and_a_split_takes_the_team_along(desk: TeamDesk) -> None:
    one, two = desk.team("1"), desk.team("2")
    source, target = desk.key.ticket(team_id=one), desk.key.ticket(team_id=two)
    desk.key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"]})
    assert (desk.read(source)["team_id"], desk.read(target)["team_id"]) == (one, two)
    desk.key.call("DELETE", f"{TICKETS}/{source['id']}/merge")
    assert desk.read(source)["team_id"] == one
    replied = desk.key.post(f"{TICKETS}/{source['id']}/replies", {"body": "And this?"})
    split = {"subject": "This", "reply_id": replied.json()["data"]["id"]}
    new = desk.key.post(f"{TICKETS}/{source['id']}/split", split).json()["data"]
    assert new["team_id"] == one


def test_what_is_split_off_a_ticket_of_a_deleted_team_has_none(desk: TeamDesk) -> None:
    team_id = desk.team()
    ticket = desk.key.ticket(team_id=team_id)
    desk.admin.delete(f"{TEAMS}/{team_id}")
    replied = desk.key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "And this?"})
    split = {"subject": "This", "reply_id": replied.json()["data"]["id"]}
    new = desk.key.post(f"{TICKETS}/{ticket['id']}/split", split).json()["data"]
    assert new["team_id"] is None
