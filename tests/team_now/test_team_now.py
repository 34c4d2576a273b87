"""The page of who has what to do now, and who is there."""

import csv
import re

import pytest

from sealdesk.team_now import pages, store
from tests.reports.histories import is_counted
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, wait_until
from tests.teams.desks import TEAMS, TICKETS, TeamDesk

AT = "/team-now"
_POLICY = {"name": "All", "counts": "calendar", "first_response_minutes": 60}
_LINK = re.compile(r'<a href="(/tickets[^"]*)" aria-label="([^"]+): (\d+)"')


@pytest.fixture
def desk(service: Service) -> TeamDesk:
    return TeamDesk(service.tenant())


@pytest.fixture
def visitor(desk: TeamDesk) -> Visitor:
    return logged_in(desk.tenant)


def answer(desk: TeamDesk, **fields: object) -> None:
    """A new ticket that gets a reply at once."""
    ticket = desk.key.ticket(**fields)
    desk.key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"})


def test_each_number_leads_to_exactly_its_tickets(desk: TeamDesk, visitor: Visitor) -> None:
    assert desk.admin.post("/api/v1/sla-policies", _POLICY).is_success
    team = desk.team("Orders", assignment="by_hand")
    ann, bob = desk.member(team, name="Ann"), desk.member(team, name="Bob")
    for assignee, count in ((ann, 3), (bob, 1), (None, 2)):
        for _ in range(count):
            desk.key.ticket(assignee_id=assignee, team_id=team)
    answer(desk, assignee_id=ann)
    answer(desk)
    desk.change(desk.key.ticket(), status="resolved")
    desk.change(desk.key.ticket(), snoozed_until="next_reply")
    desk.key.ticket(team_id=desk.team("Returns"), subject="Of another team")
    for at, least in ((AT, 11), (f"{AT}?team={team}", 9)):
        page = visitor.get(at)
        assert ("Of another team" in page.text) == (at == AT)
        numbers = _LINK.findall(page.answer.text)
        assert len(numbers) >= least
        assert "Due within 4 hours" in {what for _, what, _ in numbers}
        _assert_they_lead_to_their_tickets(visitor, numbers)


def _assert_they_lead_to_their_tickets(
    visitor: Visitor, numbers: list[tuple[str, str, str]]
) -> None:
    for address, what, number in numbers:
        listed = visitor.get(address.replace("&amp;", "&")).answer.text.count("<li data-ticket")
        assert (what, address, listed) == (what, address, int(number))


def test_a_team_has_what_is_due_next(desk: TeamDesk, visitor: Visitor) -> None:
    assert "Next due" not in visitor.get(AT).text
    assert desk.admin.post("/api/v1/sla-policies", _POLICY).is_success
    team, _ = desk.team("Orders"), desk.team("Returns")
    desk.key.ticket(team_id=team)
    text = visitor.get(AT).text.partition("Next due")[2]
    assert re.search(r"Orders 1 1 .*due 59 min Returns 0 0 ", text)


def test_the_numbers_are_downloaded_as_csv(desk: TeamDesk, visitor: Visitor) -> None:
    team = desk.team("Orders", assignment="by_hand")
    ann = desk.member(team, name="=Ann")
    desk.member(name="Bob", seen_min=None)
    desk.key.ticket(assignee_id=ann, team_id=team)
    answer(desk, assignee_id=ann)
    rows = {
        name: rest
        for _, name, *rest in csv.reader(visitor.get(f"{AT}/file").answer.text.splitlines())
    }
    assert rows["name"][0] == "waiting"
    assert rows["'=Ann"] == ["1", "2", "0", "1", "0", "present"]
    assert rows["Bob"] == ["0", "0", "0", "0", "", "not_here"]
    assert rows["Orders"][:3] == ["1", "1", "0"]
    of_team = visitor.get(f"{AT}/file?team={team}").answer.text
    assert "Ann" in of_team and "Bob" not in of_team


def test_who_waits_longest_comes_first(desk: TeamDesk, visitor: Visitor) -> None:
    desk.key.ticket(subject="The first")
    desk.key.ticket(subject="The second")
    answer(desk, subject="An answered one")
    text = visitor.get(AT).text
    assert text.index("The first") < text.index("The second")
    assert "An answered one" not in text


def test_tickets_of_others_are_not_counted(visitor: Visitor, service: Service) -> None:
    service.tenant().key().ticket(subject="Theirs")
    page = visitor.get(AT)
    assert "Theirs" not in page.text
    assert "Nobody waits" in page.text
    assert _LINK.findall(page.answer.text) == []
    assert_page_is_secure(page)


def test_first_replies_have_their_median(desk: TeamDesk, visitor: Visitor) -> None:
    for _ in range(3):
        answer(desk)
    desk.key.ticket()
    text = visitor.get(AT).text
    assert "3 of 4 answered, 24 h" in text
    assert "1 min" in text


def test_who_is_away_gets_no_tickets_until_they_are_back(desk: TeamDesk, visitor: Visitor) -> None:
    sql = "SELECT id FROM users WHERE email = :email LIMIT 1"
    ((me,),) = desk.service.rows(sql, email=desk.tenant.admin_email)
    assert "I am away" not in visitor.get(AT).text  # of no team, so there is nothing to get
    team = desk.team()
    desk.admin.post(f"{TEAMS}/{team}/members", {"user_id": me})
    page = visitor.submit(visitor.get(AT).form(f"{AT}/away"), away="yes")
    assert "You are away" in page.text
    desk.see(me)
    desk.key.ticket(team_id=team)
    assert desk.give_out(team) == 0
    other = desk.team("Another")  # who joins another team is still away
    desk.admin.post(f"{TEAMS}/{other}/members", {"user_id": me})
    (member,) = desk.admin.get(f"{TEAMS}/{other}/members").json()["data"]
    assert member["is_away"] is True
    visitor.submit(page.form(f"{AT}/away"), away="no")
    desk.see(me)
    # The service itself may give it out, and keeps others away until its commit.
    wait_until(lambda: bool(desk.give_out(team)) or desk.assignees(team) == [me])
    assert desk.assignees(team) == [me]


def test_an_open_page_alone_makes_nobody_present(desk: TeamDesk, visitor: Visitor) -> None:
    seen = desk.service.state.seen_users
    seen.forget_before(2**62)
    visitor.get("/notifications/bell", sec_fetch_dest="empty")
    assert desk.tenant.id not in seen.by_tenant()
    form = visitor.get(AT, sec_fetch_dest="empty").form("/log-out")
    token = [("form_token", form.value("form_token"))]
    assert visitor.post(f"{AT}/here", token, sec_fetch_dest="empty").status == 204
    assert desk.tenant.id in seen.by_tenant()


def test_what_came_and_was_resolved_today_is_shown_by_hour(
    desk: TeamDesk, visitor: Visitor
) -> None:
    assert "<rect" not in plot_of(visitor)
    for status in ("open", "resolved"):
        desk.change(desk.key.ticket(), status=status)
    wait_until(lambda: is_counted(desk.tenant))
    assert plot_of(visitor).count("<rect") >= 2
    hour = visitor.get(AT).text.partition("Numbers Hour Created Resolved ")[2]
    assert re.match(r"\d\d:00 [12] ", hour)


def plot_of(visitor: Visitor) -> str:
    return visitor.get(AT).answer.text.partition('<svg class="plot"')[2].partition("</svg>")[0]


def hand_over(visitor: Visitor, user_id: str, to_id: str) -> Page:
    path = f"{AT}/people/{user_id}"
    return visitor.submit(visitor.get(path).form(path), to=to_id)


def test_unfinished_tickets_are_handed_over_and_others_stay(
    desk: TeamDesk, visitor: Visitor
) -> None:
    ann, bob = desk.member(name="Ann", seen_min=None), desk.member(name="Bob", seen_min=None)
    unfinished = [desk.key.ticket(assignee_id=ann) for _ in range(12)]
    unfinished.append(desk.change(unfinished[0], snoozed_until="next_reply"))
    unfinished.append(desk.change(desk.key.ticket(assignee_id=ann), status="pending"))
    unfinished.append(desk.change(desk.key.ticket(assignee_id=ann), status="on_hold"))
    done = desk.change(desk.key.ticket(assignee_id=ann), status="resolved")
    other = desk.key.ticket()
    assert ">14<" in visitor.get(f"{AT}/people/{ann}").answer.text
    assert "Ann has no unfinished tickets." in hand_over(visitor, ann, bob).text
    assert {desk.read(each)["assignee_id"] for each in unfinished} == {bob}
    assert (desk.read(done)["assignee_id"], desk.read(other)["assignee_id"]) == (ann, None)


def test_very_many_tickets_are_handed_over_to_the_same_person_in_several_forms(
    desk: TeamDesk, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_MOST_HANDED", 10)
    ann, bob = desk.member(name="Ann", seen_min=None), desk.member(name="Bob", seen_min=None)
    unfinished = [desk.key.ticket(assignee_id=ann) for _ in range(12)]
    page = hand_over(visitor, ann, bob)
    assert "10 tickets are handed over." in page.text and ">2<" in page.answer.text
    page = visitor.submit(page.form(f"{AT}/people/{ann}"))  # Bob is still chosen
    assert "Ann has no unfinished tickets." in page.text
    assert {desk.read(each)["assignee_id"] for each in unfinished} == {bob}


def test_tickets_that_are_given_back_go_to_others_of_their_team(
    desk: TeamDesk, visitor: Visitor
) -> None:
    team = desk.team("Orders", assignment="by_hand")
    ann = desk.member(team, name="Ann")
    for _ in range(3):
        desk.key.ticket(team_id=team, assignee_id=ann)
    hand_over(visitor, ann, "")
    assert desk.assignees(team) == [None] * 3
    bob = desk.member(team, name="Bob")
    desk.admin.patch(f"{TEAMS}/{team}", {"assignment": "round_robin"})
    desk.service.write(lambda tx: store.set_away(tx, desk.tenant.id, ann, 1))
    desk.give_out(team)
    assert desk.assignees(team) == [bob] * 3


def test_tickets_are_not_handed_over_to_who_cannot_have_them(
    desk: TeamDesk, visitor: Visitor
) -> None:
    ann, ticket = desk.member(name="Ann", seen_min=None), desk.key.ticket()
    desk.change(ticket, assignee_id=ann)
    stranger = desk.service.tenant().user("agent")
    page = hand_over(visitor, ann, stranger)
    assert page.status == 422 and "assignee_id-fault" in page.answer.text
    assert desk.read(ticket)["assignee_id"] == ann
    assert visitor.get(f"{AT}/people/{stranger}").status == 404
