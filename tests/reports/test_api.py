"""Reports for programs: the numbers of the page, and clear words about what cannot be asked."""

from typing import Any

import pytest

from sealdesk.mail.ratings import actions as ratings
from sealdesk.mail.ratings import links
from sealdesk.mail.ratings.types import Rating
from sealdesk.reports import store
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.hours.types import Hours, Interval
from tests.reports.histories import is_counted
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Service, wait_until
from tests.teams.desks import TICKETS, TeamDesk

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
    assert (figures["reopened_percent"], found["previous_figures"]["reopened_percent"]) == (0, None)
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


@pytest.fixture
def varied(own_service: Service) -> TeamDesk:
    """Tickets of two days: reopened, promised and missed, rated, merged, unfinished."""
    desk = TeamDesk(own_service.tenant())
    team = desk.team("Orders", assignment="by_hand")
    policy = {"name": "All", "counts": "calendar", "resolution_minutes": 60}
    assert desk.admin.post("/api/v1/sla-policies", policy).is_success
    early = [desk.key.ticket(team_id=team, tags=["kiln"]) for _ in range(3)]
    for status in ("resolved", "open", "resolved"):
        early[0] = desk.change(early[0], status=status)
    own_service.clock.advance(26 * 3600)
    desk.key = desk.tenant.key()
    late = [desk.key.ticket() for _ in range(3)]
    desk.key.post(f"{TICKETS}/{late[0]['id']}/replies", {"body": "Hello"})
    assert desk.key.post(f"{TICKETS}/{late[2]['id']}/merge", {"into": late[1]["id"]}).is_success
    desk.change(early[1], status="closed")
    rated = links.opened_until(desk.tenant.id, early[1]["id"], own_service.clock.now_us())
    own_service.write(
        lambda tx: ratings.rate(
            tx, rated, Rating(4, ""), own_service.state.key_ring, own_service.clock.now_us()
        )
    )
    wait_until(lambda: is_counted(desk.tenant))
    return desk


def listed(key: Key, query: str) -> list[str]:
    """The ids of the tickets behind a figure, read in pages of two."""
    found: list[str] = []
    cursor = ""
    while True:
        answer = key.get(f"{REPORTS}/tickets?{query}&per_page=2{cursor}")
        assert answer.status_code == 200, answer.text
        found += [each["id"] for each in answer.json()["data"]]
        if not answer.json()["meta"]["has_more"]:
            return found
        cursor = f"&cursor={answer.json()['meta']['next_cursor']}"


def counts(figures: dict[str, Any]) -> dict[str, int]:
    """How many tickets the list of each figure has."""
    kept = round((figures["sla_kept_percent"] or 0) * figures["sla_promises"] / 100)
    plain = {name: figures[name] for name in ("created", "answered", "resolved", "reopened")}
    promised = {"kept": kept, "missed": figures["sla_promises"] - kept}
    return {**plain, **promised, "rated": figures["ratings"]}


def test_the_tickets_behind_each_figure_are_as_many_as_it_says(
    varied: TeamDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MAX_REOPENED", 1)  # that are read at once
    key = varied.key
    (team,) = key.get("/api/v1/external/teams").json()["data"]
    parts = ("", f"&team_id={team['id']}", "&team_id=none", "&tag=Kiln", "&source=api")
    seen: set[tuple[str, int]] = set()
    for part in parts:
        found = report(key, f"?period=year{part}")
        for figure, number in counts(found["figures"]).items():
            ids = listed(key, f"period=year{part}&figure={figure}")
            assert (part, figure, len(set(ids)), len(ids)) == (part, figure, number, number)
            seen.add((figure, number))
        for age in found["unfinished"]:
            query = f"figure=unfinished&age_days={age['days']}{part}"
            assert len(listed(key, query)) == age["tickets"]
        every = sum(age["tickets"] for age in found["unfinished"])
        assert len(listed(key, f"figure=unfinished{part}")) == every
    assert {figure for figure, number in seen if number} == counts(found["figures"]).keys()


@for_each("step", ["hour", "day"])
def test_each_step_of_a_report_leads_to_its_tickets(varied: TeamDesk, step: str) -> None:
    query = f"period=week&step={step}"
    found = []
    for each in report(varied.key, f"?{query}")["steps"]:
        for figure in ("created", "resolved") if each["figures"]["created"] else ("created",):
            ids = listed(varied.key, f"{query}&figure={figure}&starts_at={each['starts_at']}")
            assert len(ids) == each["figures"][figure]
            found += ids
    assert found


def test_the_latest_ticket_is_listed_first(varied: TeamDesk) -> None:
    ids = listed(varied.key, "period=year")
    assert ids == sorted(ids, reverse=True)


@for_each(
    ("query", "parameter", "words"),
    [
        ("figure=median", "figure", "must be one of created, answered"),
        ("age_days=3", "age_days", "needs figure=unfinished"),
        ("figure=unfinished&age_days=2", "age_days", "must be one of 0, 1, 3, 7, 30"),
        ("starts_at=2027-01-01T00:30:00Z", "starts_at", "must be that of a day of the report"),
        ("period=year&step=hour", "step", "must be longer"),
        ("group_by=team", "group_by", "There are age_days"),
    ],
)
def test_what_cannot_be_listed_is_refused(key: Key, query: str, parameter: str, words: str) -> None:
    answer = key.get(f"{REPORTS}/tickets?{query}")
    assert answer.status_code == 400
    assert answer.json()["parameter"] == parameter
    assert words in answer.json()["detail"]


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
