"""Reports for programs: the numbers of the page, and clear words about what cannot be asked."""

from typing import Any

import pytest

from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.hours.types import Hours, Interval
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, wait_until
from tests.tickets.reports.histories import is_counted
from tests.tickets.teams.desks import TICKETS, TeamDesk

REPORTS = "/api/v1/external/reports"


@pytest.fixture
def desk(service: Service) -> TeamDesk:
    """Three tickets, two of a team, of which one is answered and resolved."""
    desk = TeamDesk(service.tenant())
    team = desk.team("Orders", assignment="by_hand")
    field = {"key": "carrier", "label": "Carrier", "type": "choice", "choices": ["DHL", "Own_van"]}
    assert desk.admin.post("/api/v1/custom-fields", field).is_success
    desk.key.ticket(tags=["Kiln", "none"], custom_fields={"carrier": "Own_van"})
    desk.key.ticket(team_id=team)
    answered = desk.key.ticket(team_id=team)
    desk.key.post(f"{TICKETS}/{answered['id']}/replies", {"body": "Hello"})
    desk.change(desk.key.get(f"{TICKETS}/{answered['id']}").json()["data"], status="resolved")
    wait_until(lambda: is_counted(desk.tenant))
    return desk


def report(key: Key, query: str = "") -> dict[str, Any]:
    answer = key.get(f"{REPORTS}{query}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def test_a_report_counts_the_tickets_of_its_period(desk: TeamDesk) -> None:
    found = report(desk.key, "?period=year&group_by=team")
    figures = found["figures"]
    assert [figures[each] for each in ("created", "answered", "resolved", "reopened")] == [
        3, 1, 1, 0,
    ]  # fmt: skip
    assert 0 <= figures["first_response_median_s"] <= figures["first_response_p90_s"]
    assert (figures["sla_promises"], figures["sla_kept_percent"]) == (0, None)
    assert found["previous_figures"]["created"] == 0
    assert (found["is_complete"], found["step"], found["time_zone"]) == (True, "week", "UTC")
    assert sum(each["figures"]["created"] for each in found["steps"]) == 3
    groups = [(each["name"], each["figures"]["created"]) for each in found["groups"]]
    assert groups == [("Orders", 2), (None, 1)]


def test_a_report_counts_a_part_of_the_tickets(desk: TeamDesk) -> None:
    (team,) = desk.key.get("/api/v1/external/teams").json()["data"]
    for part, number in {
        f"team_id={team['id']}": 2,
        "team_id=none": 1,
        "assignee_id=none": 3,
        "source=api": 3,
        "source=email": 0,
        "tag=KILN": 1,
        "tag=none": 1,
        f"key_id={desk.key.id}": 3,
        "key_id=none": 0,
        "custom_field=carrier:Own_van": 1,
        "custom_field=carrier:own_VAN%20": 1,
        "custom_field=carrier:DHL": 0,
    }.items():
        found = report(desk.key, f"?period=month&{part}")
        assert (part, found["figures"]["created"], found["groups"]) == (part, number, [])
        if "custom_field" in part:
            assert sum(each["tickets"] for each in found["unfinished"]) == number


def test_groups_are_called_as_people_call_them(desk: TeamDesk) -> None:
    for by, groups in {
        "key": [(desk.key.id, 3)],
        "field:carrier": [("Own_van", 1)],
        "field:unknown": [],
    }.items():
        found = report(desk.key, f"?group_by={by}")["groups"]
        assert [(each["value"], each["figures"]["created"]) for each in found] == groups
    (key,) = report(desk.key, "?group_by=key")["groups"]
    assert key["name"] and key["name"] != key["value"]


def test_business_hours_are_counted_beside_the_calendar(own_service: Service) -> None:
    desk = TeamDesk(own_service.tenant())
    week = ((Interval(0, 60),),) * 7  # an hour after midnight
    hours = Hours("UTC", week, frozenset())
    own_service.write(lambda tx: hours_store.save(tx, desk.tenant.id, hours, 1))
    ticket = desk.key.ticket()
    own_service.clock.advance(48 * 3600)
    desk.key = desk.tenant.key()
    desk.change(ticket, status="resolved")
    wait_until(lambda: is_counted(desk.tenant))
    figures = report(desk.key, "?period=year")["figures"]
    assert figures["resolution_median_s"] == pytest.approx(48 * 3600, rel=0.03)
    assert figures["resolution_business_median_s"] == pytest.approx(2 * 3600, rel=0.03)
    assert figures["first_response_business_median_s"] is None


def test_unfinished_tickets_are_counted_by_age(own_service: Service) -> None:
    desk = TeamDesk(own_service.tenant())
    team = desk.team("Orders", assignment="by_hand")
    for days in (40, 26, 3, 2, 0):
        desk.change(desk.key.ticket(team_id=team), status="on_hold")
        desk.change(desk.key.ticket(), status="resolved")
        own_service.clock.advance((days + 0.5) * 86_400 if days else 0)
    ages = report(desk.key, "")["unfinished"]
    assert [(each["days"], each["end_days"], each["tickets"]) for each in ages] == [
        (0, 1, 1), (1, 3, 1), (3, 7, 1), (7, 30, 0), (30, None, 2),
    ]  # fmt: skip
    of_nobody = report(desk.key, "?team_id=none")["unfinished"]
    assert [each["tickets"] for each in of_nobody] == [0, 0, 0, 0, 0]


def test_a_report_of_own_days_has_exactly_these(key: Key) -> None:
    found = report(key, "?first_day=2027-01-30&last_day=2027-02-01&step=day")
    assert (found["period"], found["first_day"], found["last_day"]) == (
        "own", "2027-01-30", "2027-02-01",
    )  # fmt: skip
    assert [each["starts_at"][:10] for each in found["steps"]] == [
        "2027-01-30", "2027-01-31", "2027-02-01",
    ]  # fmt: skip


def test_one_of_the_days_alone_is_a_day(key: Key) -> None:
    for name in ("first_day", "last_day"):
        found = report(key, f"?{name}=2027-01-30")
        assert (found["first_day"], found["last_day"]) == ("2027-01-30", "2027-01-30")


@for_each(
    ("query", "parameter", "words"),
    [
        ("period=decade", "period", "must be one of day, week, month, quarter, year"),
        ("day=2027-02-30", "day", "must be a date from 1990 on, as in 2026-01-31"),
        ("first_day=2027-02-01&last_day=2027-01-01", "last_day", "must be from first_day"),
        ("first_day=2025-01-01&last_day=2027-01-01", "last_day", "to 365 days later"),
        ("first_day=2027-01-01&last_day=2027-01-02&day=2027-01-01", "day", "cannot be combined"),
        ("period=year&step=hour", "step", "must be longer: the period has 36"),
        ("source=api&tag=a", "tag", "cannot be combined with source"),
        ("group_by=field:", "group_by", "must be one of team, assignee, source, tag, key"),
        ("group_by=tag&tag=a", "tag", "cannot be combined with group_by"),
        ("team_id=Orders", "team_id", "must be an id as the API returns it"),
        ("by=team", "by", "There are assignee_id"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    key: Key, query: str, parameter: str, words: str
) -> None:
    answer = key.get(f"{REPORTS}?{query}")
    assert answer.status_code == 400
    assert answer.json()["parameter"] == parameter
    assert words in answer.json()["detail"]


def test_another_desk_counts_nothing_of_it(desk: TeamDesk, service: Service) -> None:
    other = service.tenant().key()
    assert report(other, "?period=year")["figures"]["created"] == 0
    (team,) = desk.key.get("/api/v1/external/teams").json()["data"]
    assert report(other, f"?period=year&team_id={team['id']}")["figures"]["created"] == 0
