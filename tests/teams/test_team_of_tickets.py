"""The team of a ticket on the pages of tickets."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service
from tests.teams.desks import TEAMS, TICKETS, TeamDesk


@pytest.fixture
def visitor(desk: TeamDesk) -> Visitor:
    return logged_in(desk.tenant)


def path(ticket: dict[str, Any]) -> str:
    return f"/tickets/{ticket['id']}"


def subjects(page: Page, *wanted: str) -> list[str]:
    return [each for each in wanted if each in page.text]


def test_pages_of_a_desk_without_teams_do_not_mention_them(
    desk: TeamDesk, visitor: Visitor
) -> None:
    ticket = desk.key.ticket()
    for at in ("/tickets", "/tickets/new", path(ticket)):
        named = [value for _, name, value in visitor.get(at).attributes if name == "name"]
        assert "team" not in named
        assert not [value for value in named if value == "team_id"]


def test_the_form_of_a_ticket_sets_and_clears_its_team(desk: TeamDesk, visitor: Visitor) -> None:
    team_id, ticket = desk.team("Returns"), desk.key.ticket()
    page = visitor.submit(visitor.get(path(ticket)).form(path(ticket)), team_id=team_id)
    assert desk.read(ticket)["team_id"] == team_id
    assert "Team: none → Returns" in page.text
    visitor.submit(page.form(path(ticket)), team_id="")
    assert desk.read(ticket)["team_id"] is None


def test_a_single_field_is_saved_and_undone(desk: TeamDesk, visitor: Visitor) -> None:
    team_id, ticket = desk.team("Returns"), desk.key.ticket()
    token = visitor.get(path(ticket)).form(path(ticket)).value("form_token")
    at, change = f"{path(ticket)}/fields", [("form_token", token), ("field", "team_id")]
    saved = visitor.post(at, [*change, ("value", team_id), ("was", "")], accept="*/*")
    assert saved.status == 200
    assert "Saved" in saved.text
    stale = visitor.post(at, [*change, ("value", ""), ("was", "other")], accept="*/*")
    assert stale.status == 412
    assert desk.read(ticket)["team_id"] == team_id
    (undo,) = [value for _, name, value in saved.attributes if name == "data-save"]
    undone = visitor.post(at, [("form_token", token), *parse_qsl(undo, True)], accept="*/*")
    assert "Undone" in undone.text
    assert desk.read(ticket)["team_id"] is None


def test_a_foreign_team_is_refused_beside_the_field(
    desk: TeamDesk, visitor: Visitor, service: Service
) -> None:
    desk.team()
    ticket, foreign = desk.key.ticket(), TeamDesk(service.tenant()).team()
    page = visitor.submit(visitor.get(path(ticket)).form(path(ticket)), team_id=foreign)
    assert page.status == 422
    assert "There is no such team" in page.text
    assert desk.read(ticket)["team_id"] is None


def test_reopening_a_closed_ticket_keeps_its_team(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team()
    ticket = desk.key.ticket(team_id=team_id)
    desk.change(ticket, status="closed")
    page = visitor.get(path(ticket))
    reopening = next(form for form in page.forms if form.action == path(ticket))
    visitor.submit(reopening)
    shown = desk.read(ticket)
    assert (shown["status"], shown["team_id"]) == ("open", team_id)


def test_a_deleted_team_is_named_on_its_tickets(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns")
    ticket = desk.key.ticket(team_id=team_id)
    desk.admin.delete(f"{TEAMS}/{team_id}")
    page = visitor.get(path(ticket))
    assert page.form(path(ticket)).value("team_id") == team_id
    assert "Returns" in page.text


def test_the_list_shows_and_filters_by_team(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns department")
    desk.key.ticket(subject="Of the team", team_id=team_id)
    desk.key.ticket(subject="Of nobody")
    listed = visitor.get("/tickets")
    assert "Returns department" in listed.text
    given = [(name, value) for _, name, value in listed.attributes]
    (texts,) = [json.loads(value) for name, value in given if name == "data-values"]
    rows = [value.split() for name, value in given if name == "data-ticket" and value]
    assert {texts[int(row[3])] for row in rows} == {team_id, ""}
    page = visitor.get(f"/tickets?team={team_id}")
    assert subjects(page, "Of the team", "Of nobody") == ["Of the team"]


def test_the_search_knows_teams(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns department")
    desk.key.ticket(subject="Of the team", team_id=team_id)
    desk.key.ticket(subject="Of nobody")
    for words in ("team:returns", 'team:"returns department"'):
        page = visitor.get(f"/tickets?q={words.replace(' ', '+')}")
        assert subjects(page, "Of the team", "Of nobody") == ["Of the team"]
    assert "No team is called “nothing”." in visitor.get("/tickets?q=team:nothing").text


def test_a_view_by_team_says_that_the_team_is_gone(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns")
    desk.key.ticket(subject="Of the team", team_id=team_id)
    at = f"/tickets/views/new?team={team_id}"
    form = next(form for form in visitor.get(at).forms if form.action.startswith("/tickets/views"))
    page = visitor.submit(form, name="Our returns")
    assert subjects(page, "Of the team") == ["Of the team"]
    assert "Our returns 1" in page.text  # counted in the sidebar
    view = visitor.at
    assert "was deleted" not in page.text
    desk.admin.delete(f"{TEAMS}/{team_id}")
    assert "The team of this view was deleted" in visitor.get(view).text


def test_a_bulk_change_sets_the_team(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns")
    tickets = [desk.key.ticket() for _ in range(2)]
    page = visitor.get("/tickets")
    form = page.form("/tickets/bulk")
    preview = visitor.submit(form, ticket=[each["id"] for each in tickets], team=team_id)
    assert "Team Returns" in preview.text
    visitor.submit(preview.form("/tickets/bulk"))
    assert [desk.read(each)["team_id"] for each in tickets] == [team_id] * 2


def test_a_bulk_change_to_a_team_that_is_gone_changes_nothing(
    desk: TeamDesk, visitor: Visitor, service: Service
) -> None:
    desk.team()
    ticket, foreign = desk.key.ticket(), TeamDesk(service.tenant()).team()
    form = visitor.get("/tickets").form("/tickets/bulk")
    page = visitor.submit(form, ticket=[ticket["id"]], team=foreign)
    assert page.status == 422
    assert "team is no longer available" in page.text


def test_a_ticket_is_opened_for_a_team(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team()
    form = visitor.get("/tickets/new").form("/tickets/new")
    visitor.submit(
        form, email="a@b.test", subject="By phone", description="Called", team_id=team_id
    )
    (ticket,) = desk.key.get(f"{TICKETS}?team_id={team_id}").json()["data"]
    assert ticket["subject"] == "By phone"


def test_round_robin_is_told_in_the_history(desk: TeamDesk, visitor: Visitor) -> None:
    team_id = desk.team("Returns")
    desk.member(team_id, name="Ada Lovelace")
    ticket = desk.key.ticket(team_id=team_id)
    desk.give_out(team_id)
    assert "Returns (round robin)" in visitor.get(path(ticket)).text
