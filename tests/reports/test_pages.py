"""The page "Reports": each number is that of the tickets behind it."""

import csv
import io
import re
from urllib.parse import urlencode

import pytest

from sealdesk.mail.ratings import actions as ratings
from sealdesk.mail.ratings import links
from sealdesk.mail.ratings.types import Rating
from tests.reports.histories import is_counted
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, wait_until
from tests.teams.desks import TICKETS, TeamDesk

AT = "/reports"
_LINK = re.compile(r'<a href="(/reports/tickets[^"]*)">(\d+)</a>')


@pytest.fixture
def desk(service: Service) -> TeamDesk:
    """Five tickets: one answered, two of a team, one of these resolved, one merged."""
    desk = TeamDesk(service.tenant())
    team = desk.team("=Orders", assignment="by_hand")
    field = {"key": "carrier", "label": "Carrier", "type": "choice", "choices": ["50 %_!", "DHL"]}
    assert desk.admin.post("/api/v1/custom-fields", field).is_success
    answered = desk.key.ticket(tags=["kiln"], custom_fields={"carrier": "50 %_!"})
    desk.key.post(f"{TICKETS}/{answered['id']}/replies", {"body": "Hello"})
    desk.key.ticket(team_id=team)
    desk.change(desk.key.ticket(team_id=team), status="resolved")
    other = desk.key.ticket()
    assert desk.key.post(f"{TICKETS}/{other['id']}/merge", {"into": answered["id"]}).is_success
    wait_until(lambda: is_counted(desk.tenant))
    return desk


@pytest.fixture
def visitor(desk: TeamDesk) -> Visitor:
    return logged_in(desk.tenant)


@pytest.mark.parametrize("by", ["team", "assignee", "source", "tag", "key", "field:carrier"])
@pytest.mark.prove
def test_each_number_leads_to_exactly_its_tickets(visitor: Visitor, by: str) -> None:
    numbers = _LINK.findall(visitor.get(f"{AT}?by={by}&period=year").answer.text)
    assert len(numbers) >= 6
    assert any("what=unfinished" in address for address, _ in numbers)
    for address, number in numbers:
        listed = visitor.get(address.replace("&amp;", "&")).answer.text.count('<li><a class="url"')
        assert (address, listed) == (address, int(number))


def test_each_number_of_an_hour_leads_to_exactly_its_tickets(visitor: Visitor) -> None:
    page = visitor.get(f"{AT}?by=team&period=week&step=hour").answer.text
    numbers = [each for each in _LINK.findall(page) if "hour=" in each[0].partition("step=hour")[2]]
    assert numbers
    for address, number in numbers:
        shown = visitor.get(address.replace("&amp;", "&")).answer.text
        assert (address, shown.count('<li><a class="url"')) == (address, int(number))
        assert re.search(r'<p class="soft"><time [^>]+>\d{4}-\d\d-\d\d \d\d:00</time></p>', shown)


def test_the_last_seven_days_are_called_so_and_have_no_next_period(visitor: Visitor) -> None:
    recent = visitor.get(f"{AT}?by=tag").answer.text
    assert "selected>Last 7 days<" in recent and "Next period" not in recent
    (before,) = re.findall(r'href="([^"]+)">Previous period<', recent)
    earlier = visitor.get(before.replace("&amp;", "&")).answer.text
    assert "selected>Own dates<" in earlier and "Next period" in earlier
    assert 'by=tag&amp;of=desk">Last 7 days<' in earlier


def test_a_report_by_a_custom_field_says_which_tickets_it_counts(visitor: Visitor) -> None:
    assert "sealdesk reports rebuild" in visitor.get(f"{AT}?by=field:carrier").text
    assert "sealdesk reports rebuild" not in visitor.get(f"{AT}?by=tag").text


def test_a_report_of_one_value_counts_its_tickets(visitor: Visitor) -> None:
    page = visitor.get(f"{AT}?of=tag&value=kiln&by=tag").answer.text
    assert {number for _, number in _LINK.findall(page)} == {"1"}


def test_the_files_have_the_numbers_and_no_formula(visitor: Visitor) -> None:
    rows = visitor.get(f"{AT}/file?table=values").answer.text.splitlines()
    assert [row for row in rows if row.startswith('"\'=Orders","2","0","1","0"')]
    steps = visitor.get(f"{AT}/file?table=steps&period=month&step=day").answer.text.splitlines()
    assert 29 <= len(steps) <= 32
    assert sum(int(row.split('","')[1]) for row in steps[1:]) == 3


def test_promises_and_ratings_are_shares_of_what_was_promised_and_rated(
    own_service: Service,
) -> None:
    desk = TeamDesk(own_service.tenant())
    before = logged_in(desk.tenant).get(AT).text
    assert "SLA promises" not in before and "Satisfied" not in before
    policy = {"name": "All", "counts": "calendar", "resolution_minutes": 60}
    assert desk.admin.post("/api/v1/sla-policies", policy).is_success
    early, late = desk.key.ticket(), desk.key.ticket()
    desk.change(early, status="resolved")
    own_service.clock.advance(2 * 3600)
    desk.change(late, status="closed")
    for ticket, rating in ((early, 5), (late, 3)):
        _rate(desk, ticket["id"], rating)
    wait_until(lambda: is_counted(desk.tenant))
    visitor = logged_in(desk.tenant)  # the first log-in is over
    page = visitor.get(f"{AT}?period=year")
    text = " ".join(page.text.split())
    assert "SLA promises kept 50 % of 2 · 1 missed" in text
    assert "Satisfied customers 50 % of 2" in text
    links = {each: number for each, number in _LINK.findall(page.answer.text) if "of=" not in each}
    of = {each.partition("what=")[2]: (each.replace("&amp;", "&"), links[each]) for each in links}
    assert (of["missed"][1], of["rated"][1]) == ("1", "2")
    missed = visitor.get(of["missed"][0]).text
    assert f"#{late['number']}" in missed and f"#{early['number']}" not in missed
    rated = " ".join(visitor.get(of["rated"][0]).text.split())
    assert rated.index("3 of 5 =1+1") < rated.index("5 of 5 =1+1")
    given = visitor.get(f"{AT}/file?table=ratings&period=year").answer.text
    assert [
        (row["rating"], row["comment"], row["ticket_id"])
        for row in csv.DictReader(io.StringIO(given))
    ] == [("3", "'=1+1", late["id"]), ("5", "'=1+1", early["id"])]
    file = visitor.get(f"{AT}/file?table=values&period=year").answer.text
    (row,) = csv.DictReader(io.StringIO(file))
    assert [*row.values()][-5:] == ["2", "50", "2", "50", "0"]
    desk.change(late, status="open")
    wait_until(lambda: is_counted(desk.tenant))
    again = visitor.get(f"{AT}?period=year").text
    assert "Reopened 1 50 % of all resolutions" in " ".join(again.split())


def _rate(desk: TeamDesk, ticket_id: str, rating: int) -> None:
    service, now_us = desk.service, desk.service.clock.now_us()
    opened = links.opened_until(desk.tenant.id, ticket_id, now_us)
    key_ring = service.state.key_ring
    service.write(lambda tx: ratings.rate(tx, opened, Rating(rating, "=1+1"), key_ring, now_us))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"day": "2027-02-30"}, "Write a date as in 2027-12-24."),
        ({"day": "2027-02-02", "last": "2027-02-01"}, "The last day must not be before the first."),
        ({"day": "2027-02-02", "last": "2028-03-01"}, "A report has at most 366 days."),
    ],
)
def test_a_period_that_cannot_be_is_refused_beside_its_field(
    visitor: Visitor, fields: dict[str, str], message: str
) -> None:
    shown = visitor.get(f"{AT}?{urlencode({'period': 'own', **fields})}")
    assert shown.answer.status_code == 422
    assert message in shown.answer.text
    form = shown.form(AT)
    assert {name: form.value(name) for name in fields} == fields, "what was typed stays"


def test_the_page_is_secure(visitor: Visitor) -> None:
    assert_page_is_secure(visitor.get(AT))
