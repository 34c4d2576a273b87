"""Settings → Business hours, and the due lines of the inbox and of a ticket."""

import pytest

from sealdesk import clock
from sealdesk.tickets.hours.types import DAYS
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

pytestmark = pytest.mark.pages

PATH = "/settings/business-hours"
ALWAYS = dict.fromkeys(DAYS, "00:00-24:00") | {"time_zone": "Europe/Berlin"}
HOUR_S = 3600


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    return logged_in(tenant)


def save(visitor: Visitor, **fields: str) -> Page:
    return visitor.submit(visitor.get(PATH).form(PATH), **fields)


def test_hours_are_saved_shown_again_and_in_the_audit_log(visitor: Visitor) -> None:
    typed = {"monday": "9:00 - 12:00", "holidays": "2027-12-25\n 2026-12-24 \n"}
    page = save(visitor, **typed)
    assert page.status == 422 and "09:00-12:00, 13:00-17:30" in page.text
    typed["monday"] = "09:00 - 12:00, 13:00\u201317:30"
    page = save(visitor, **typed, reply_minutes="240", time_zone="Europe/Berlin", tuesday="")
    form = page.form(PATH)
    assert form.value("monday") == "09:00-12:00, 13:00-17:30"
    assert [form.value(name) for name in ("tuesday", "reply_minutes")] == ["", "240"]
    assert form.value("holidays") == "2026-12-24\n2027-12-25"
    assert "a reply is due" in page.text
    assert "Business hours changed" in visitor.get("/settings/audit").text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("time_zone", "Europe/Nowhere", "no such time zone"),
        ("time_zone", "../../etc/passwd", "no such time zone"),
        ("monday", "09:00-12:00, 11:00-13:00", "overlap"),
        ("monday", "17:00-09:00", "overlap"),
        ("monday", "09:00-25:00", "Write hours as in"),
        ("holidays", "2027-02-29", "is not a date"),
        ("reply_minutes", "0", "This must be"),
        ("reply_minutes", "soon", "This must be"),
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


def test_an_aim_without_any_hours_is_refused(visitor: Visitor) -> None:
    page = save(visitor, **dict.fromkeys(DAYS, ""), reply_minutes="60")
    assert page.status == 422 and "no reply would be due" in page.text


def test_agents_may_not_change_the_hours(tenant: Tenant) -> None:
    agent = Visitor(tenant.service)
    email = f"agent.of.{tenant.id}@example.test"
    tenant.user("agent", email)
    agent.log_in(email)
    assert agent.get(PATH).status == 403


def test_lists_and_tickets_say_when_a_reply_is_due_and_how_late_it_is(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    visitor, key = logged_in(tenant), tenant.key()
    ticket = key.ticket()
    assert "reply due" not in visitor.get("/tickets").text
    save(visitor, **ALWAYS, reply_minutes="180")
    at = f"/tickets/{ticket['id']}"
    due_us = (clock.parse_instant(ticket["waiting_since"]) or 0) + 3 * HOUR_S * 1_000_000
    for path in ("/tickets", at):
        page = visitor.get(path)
        assert "reply due in 2 h" in page.text and clock.iso(due_us) in page.answer.text
    own_service.clock.advance(5 * HOUR_S)
    visitor = logged_in(tenant)
    for path in ("/tickets", at, "/team-now"):
        assert "reply late by 2 h" in visitor.get(path).text
    assert (
        key.post(
            f"{at.replace('/tickets', '/api/v1/external/tickets')}/replies", {"body": "Hello"}
        ).status_code
        == 201
    )
    for path in ("/tickets", at):
        assert "reply late" not in visitor.get(path).text
