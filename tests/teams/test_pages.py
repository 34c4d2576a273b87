"""Settings → Teams."""

import pytest

from sealdesk.teams import actions
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service
from tests.teams.desks import TEAMS, TeamDesk

AT = "/settings/teams"


@pytest.fixture
def visitor(desk: TeamDesk) -> Visitor:
    return logged_in(desk.tenant)


def test_a_team_is_made_and_gets_members(desk: TeamDesk, visitor: Visitor) -> None:
    ada = desk.tenant.user("agent", name="Ada Lovelace")
    page = visitor.submit(visitor.get(f"{AT}/new").form(f"{AT}/new"), name="Returns", capacity="3")
    assert page.status == 200
    team_id = visitor.at.rpartition("/")[2]
    page = visitor.submit(page.form(f"{AT}/{team_id}/members"), user_id=ada)
    assert "Ada Lovelace" in page.text
    assert "0 open tickets" in page.text
    at = f"{AT}/{team_id}/members/{ada}"
    wrong = visitor.submit(page.form(at), capacity="0")
    assert wrong.status == 422 and wrong.form(at).value("capacity") == "0"
    assert visitor.submit(wrong.form(at), capacity="2").form(at).value("capacity") == "2"
    (team,) = desk.admin.get(TEAMS).json()["data"]
    assert (team["name"], team["assignment"], team["capacity"]) == ("Returns", "round_robin", 3)
    assert "in turn, at most 3 open tickets each" in visitor.get(AT).text


def test_a_member_is_removed(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team()
    user_id = desk.member(team_id, name="Ada")
    page = visitor.get(f"{AT}/{team_id}")
    page = visitor.submit(page.form(f"{AT}/{team_id}/members/{user_id}/remove"))
    assert "Nobody yet." in page.text


def test_settings_of_a_team_are_changed(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team()
    form = visitor.get(f"{AT}/{team_id}").form(f"{AT}/{team_id}")
    visitor.submit(form, name="Refunds", assignment="by_hand", capacity="7")
    (team,) = desk.admin.get(TEAMS).json()["data"]
    assert (team["name"], team["assignment"], team["capacity"]) == ("Refunds", "by_hand", 7)
    stale = visitor.submit(form, name="Mine")
    assert stale.status == 412 and stale.form(f"{AT}/{team_id}").value("name") == "Mine"
    assert desk.admin.get(TEAMS).json()["data"] == [team]
    assert "Mine" in visitor.submit(stale.form(f"{AT}/{team_id}")).text


@pytest.mark.parametrize("capacity", ["0", "101", "many", "-1", "99999"])
def test_a_wrong_capacity_is_refused_and_stays_typed(
    desk: TeamDesk, visitor: Visitor, capacity: str
) -> None:
    team_id = desk.team(capacity=5)
    form = visitor.get(f"{AT}/{team_id}").form(f"{AT}/{team_id}")
    page = visitor.submit(form, capacity=capacity)
    assert page.status == 422
    assert page.form(f"{AT}/{team_id}").value("capacity") == capacity
    assert desk.admin.get(TEAMS).json()["data"][0]["capacity"] == 5


def test_a_name_that_is_taken_is_said_beside_it(desk: TeamDesk, visitor: Visitor) -> None:
    desk.team("Returns")
    page = visitor.submit(visitor.get(f"{AT}/new").form(f"{AT}/new"), name="RETURNS")
    assert page.status == 422
    assert "There is already a team with this name." in page.text


def test_too_many_members_are_refused(
    desk: TeamDesk, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_MEMBERS", 0)
    team_id, user_id = desk.team(), desk.tenant.user()
    page = visitor.submit(
        visitor.get(f"{AT}/{team_id}").form(f"{AT}/{team_id}/members"), user_id=user_id
    )
    assert page.status == 409
    assert "as many as it may have" in page.text


def test_a_deleted_team_is_only_named(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team()
    at = f"{AT}/{team_id}"
    page = visitor.submit(visitor.get(f"{at}/delete").form(f"{at}/delete"))
    assert "No teams yet" in page.text
    page = visitor.get(at)
    assert "This team was deleted." in page.text
    assert not [form for form in page.forms if form.action.startswith(AT)]


def test_teams_of_others_do_not_exist(visitor: Visitor, service: Service) -> None:
    other = TeamDesk(service.tenant())
    team_id = other.team()
    user_id = other.member(team_id)
    at = f"{AT}/{team_id}"
    assert [visitor.get(path).status for path in (at, f"{at}/delete")] == [404, 404]
    token = visitor.get(f"{AT}/new").form(f"{AT}/new").value("form_token")
    fields = [("form_token", token), ("name", "Mine"), ("assignment", "by_hand"),
              ("capacity", "3"), ("user_id", user_id)]  # fmt: skip
    paths = (at, f"{at}/members", f"{at}/members/{user_id}/remove", f"{at}/delete")
    assert [visitor.post(path, fields).status for path in paths] == [404] * 4
    assert other.admin.get(TEAMS).json()["data"][0]["name"] == "Returns"


def test_hostile_names_are_shown_as_text(desk: TeamDesk, visitor: Visitor) -> None:
    ticket = desk.key.ticket()
    for text in HOSTILE_TEXTS:
        answer = desk.admin.post(TEAMS, {"name": text[:60]})
        if answer.status_code != 201:
            continue
        team_id = answer.json()["data"]["id"]
        desk.change(ticket, team_id=team_id)
        for at in (f"{AT}/{team_id}", f"/tickets/{ticket['id']}"):
            page = visitor.get(at)
            assert_page_is_secure(page)
        assert visitor.get(f"{AT}/{team_id}").form(f"{AT}/{team_id}").value("name") == text[:60]
    for at in (AT, "/tickets", "/tickets/new"):
        assert_page_is_secure(visitor.get(at))


def test_agents_see_no_settings_of_teams(desk: TeamDesk) -> None:
    email = f"agent.of.{desk.tenant.id}@example.test"
    desk.tenant.user("agent", email)
    visitor = Visitor(desk.service)
    visitor.log_in(email)
    assert visitor.get(AT).status == 403
