"""Settings → Business hours."""

from datetime import UTC, datetime

import pytest

from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

PATH = "/settings/business-hours"


def save(visitor: Visitor, **fields: str) -> Page:
    return visitor.submit(visitor.get(PATH).form(PATH), **fields)


def test_hours_are_saved_shown_again_and_in_the_audit_log(visitor: Visitor) -> None:
    typed = {"monday": "9:00 - 12:00", "holidays": "2027-12-25\n 2026-12-24 \n"}
    page = save(visitor, **typed)
    assert page.status == 422 and "09:00-12:00, 13:00-17:30" in page.text
    typed["monday"] = "09:00 - 12:00, 13:00\u201317:30"
    before = page.form(PATH)
    page = save(visitor, **typed, time_zone="Europe/Berlin", tuesday="")
    form = page.form(PATH)
    stale = visitor.submit(before, monday="10:00-11:00")
    assert stale.status == 412 and stale.form(PATH).value("monday") == "10:00-11:00"
    assert visitor.get(PATH).form(PATH).value("monday") == form.value("monday")
    assert form.value("monday") == "09:00-12:00, 13:00-17:30"
    assert form.value("tuesday") == ""
    assert form.value("holidays") == "2026-12-24\n2027-12-25"
    assert "Business hours changed" in visitor.get("/settings/audit").text


def test_a_team_gets_hours_of_its_own_and_those_of_the_desk_again(
    tenant: Tenant, visitor: Visitor
) -> None:
    save(visitor, time_zone="Europe/Berlin", monday="10:00-16:00")
    team = tenant.admin().post("/api/v1/teams", {"name": "Night"}).json()["data"]["id"]
    page = visitor.get(f"{PATH}?team={team}")
    form = page.form(PATH, "time_zone")
    assert "has no hours of its own" in page.text and form.value("monday") == "10:00-16:00"
    page = visitor.submit(form, monday="9-17")
    assert page.status == 422 and page.form(PATH, "time_zone").value("team") == team
    page = visitor.submit(form, time_zone="Asia/Tokyo", monday="22:00-24:00")
    form = page.form(PATH, "time_zone")
    assert "Saved." in page.text
    assert "Night (own hours)" in page.text and form.value("monday") == "22:00-24:00"
    assert visitor.get(PATH).form(PATH, "time_zone").value("time_zone") == "Europe/Berlin"
    log = visitor.get("/settings/audit").text
    assert "Night" in log and "Asia/Tokyo" in log
    page = visitor.submit(form, remove="yes")
    assert page.form(PATH, "time_zone").value("time_zone") == "Europe/Berlin"
    tenant.admin().delete(f"/api/v1/teams/{team}")
    page = visitor.submit(form)
    assert page.status == 422 and "There is no such team any more." in page.text
    assert visitor.get(f"{PATH}?team={team}").status == 404


def test_hours_by_which_a_policy_would_never_be_due_are_refused(
    tenant: Tenant, visitor: Visitor
) -> None:
    admin = tenant.admin()
    save(visitor, monday="10:00-16:00")
    team = admin.post("/api/v1/teams", {"name": "Night"}).json()["data"]["id"]
    policy = {"name": "All", "first_response_minutes": 60, "counts": "business"}
    assert admin.post("/api/v1/sla-policies", policy).status_code == 201
    week = dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), "")
    for query in ("", f"?team={team}"):
        page = visitor.submit(visitor.get(f"{PATH}{query}").form(PATH, "time_zone"), **week)
        assert page.status == 422 and "the SLA policy “All” would not be due" in page.text
    assert visitor.get(PATH).form(PATH, "time_zone").value("monday") == "10:00-16:00"


def test_public_holidays_of_a_region_stand_among_the_typed_ones_until_they_are_saved(
    visitor: Visitor,
) -> None:
    year = datetime.fromtimestamp(visitor.service.clock.now_us() / 1_000_000, UTC).year + 1
    form = visitor.get(PATH).form(PATH)
    own = f"{year}-08-02"
    page = visitor.submit(form, holidays=own, country="de-by", add="yes", monday="10:00-")
    proposed = page.form(PATH)
    assert proposed.value("monday") == "10:00-" and f"and {year} stand" in page.text
    days = proposed.value("holidays").split()
    assert {f"{year}-01-06", own, f"{year}-12-25"} < {*days} and days == sorted(days)
    assert visitor.get(PATH).form(PATH).value("holidays") == ""
    kept = [each for each in days if each != f"{year}-01-06"]  # on which this desk works
    assert visitor.submit(proposed, monday="", holidays="\n".join(kept)).status == 200
    assert saved(visitor) == ("DE-BY", kept)


def test_public_holidays_of_a_country_are_added_each_year(own_service: Service) -> None:
    tenant, clock = own_service.tenant(), own_service.clock
    visitor = logged_in(tenant)
    team = tenant.admin().post("/api/v1/teams", {"name": "Vienna"}).json()["data"]["id"]
    year = datetime.fromtimestamp(clock.now_us() / 1_000_000, UTC).year
    for query, country in (("", "DE"), (f"?team={team}", "AT")):
        form = visitor.get(f"{PATH}{query}").form(PATH, "time_zone")
        assert visitor.submit(form, country=country).status == 200
    assert {each[:4] for each in saved(visitor)[1]} == {f"{year}", f"{year + 1}"}
    own = saved(visitor)[1][1:]  # one that the desk does not keep stays away
    visitor.submit(visitor.get(PATH).form(PATH, "time_zone"), holidays="\n".join(own))
    clock.advance(2 * 366 * 86_400)
    visitor = logged_in(tenant)
    own_service.prune()
    for query, day in (("", "10-03"), (f"?team={team}", "10-26")):
        _, days = saved(visitor, query)
        assert {f"{each}-{day}" for each in range(year, year + 4)} <= {*days}
        assert [each for each in days if each >= f"{year + 4}"] == []
    assert own == saved(visitor)[1][: len(own)]


def saved(visitor: Visitor, query: str = "") -> tuple[str, list[str]]:
    """The country and the holidays of the desk or a team."""
    form = visitor.get(f"{PATH}{query}").form(PATH, "time_zone")
    return form.value("country"), form.value("holidays").split()


def test_a_line_that_is_no_date_stays_a_line_beside_public_holidays(visitor: Visitor) -> None:
    form = visitor.get(PATH).form(PATH)
    page = visitor.submit(form, holidays=" 24 December 2027 ", country="DE", add="yes")
    assert "24 December 2027" in page.form(PATH).value("holidays").splitlines()


@pytest.mark.parametrize("country", ["", "XX", "DE-XX", "../DE", "Germany"])
def test_an_unknown_country_is_said_beside_its_field(visitor: Visitor, country: str) -> None:
    page = visitor.submit(visitor.get(PATH).form(PATH), country=country, add="yes")
    assert (page.status, page.form(PATH).value("country")) == (422, country)
    assert (
        "There is no such country or region." in page.text and "country-fault" in page.answer.text
    )


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("time_zone", "Europe/Nowhere", "no such time zone"),
        ("time_zone", "localtime", "no such time zone"),
        ("time_zone", "../../etc/passwd", "no such time zone"),
        ("monday", "09:00-12:00, 11:00-13:00", "overlap"),
        ("monday", "09:00-12:00, 09:00-12:00", "overlap"),
        ("monday", "22:00-06:00", "as in 22:00-24:00 and 00:00-06:00"),
        ("monday", "09:00-25:00", "Write hours as in"),
        ("holidays", "2027-02-29", "is not a date"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_not_stored(
    visitor: Visitor, field: str, value: str, said: str
) -> None:
    page = save(visitor, **{field: value})
    assert page.status == 422
    assert said in page.text and (f"{field}-fault") in page.answer.text
    assert page.form(PATH).value(field) == value
    assert visitor.get(PATH).form(PATH).value("time_zone") == "Europe/London"


def test_agents_may_not_change_the_hours(tenant: Tenant) -> None:
    agent = Visitor(tenant.service)
    email = f"agent.of.{tenant.id}@example.test"
    tenant.user("agent", email)
    agent.log_in(email)
    assert agent.get(PATH).status == 403
