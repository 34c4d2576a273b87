"""Invitations take an e-mail address by being accepted, say nothing of other desks, and end."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from sealdesk import ids
from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Tx
from sealdesk.identity import actions
from sealdesk.identity.people import actions as people
from sealdesk.identity.rules import INVITATIONS_PER_HOUR, PENDING_INVITATIONS
from tests.support.client import Person
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

PEOPLE = "/settings/people"
INVITE = f"{PEOPLE}/invite"
NEW = "another long passphrase"
_HOUR_S, _DAY_S = 3600, 24 * 3600
_ADD = """
INSERT INTO users (tenant_id, id, email, name, role, password_hash, is_active, token_version,
    created_at, email_identity)
VALUES (:tenant_id, :id, :id, 'N', 'agent', :password_hash, true, 0, :created_at, :id)
"""


@pytest.fixture
def other(service: Service) -> Visitor:
    """The administrator of another desk."""
    return logged_in(service.tenant("Globex"))


@pytest.fixture
def email(tenant: Tenant) -> str:
    """An address that nobody has."""
    return f"ceo.of.{tenant.id}@example.test"


def _invite(visitor: Visitor, email: str) -> Page:
    form = visitor.get(INVITE).form(INVITE)
    return visitor.submit(form, email=email, name="The Boss", role="agent")


def _token(page: Page) -> str:
    found = re.search(r"/reset#([A-Za-z0-9_-]{43})", page.text)
    assert found, page.text
    return found[1]


def _accept(service: Service, token: str) -> Page:
    anyone = Visitor(service)
    return anyone.submit(anyone.get("/reset").form("/reset"), token=token, new=NEW)


def _shape(page: Page) -> tuple[object, ...]:
    """What a page says, without its token and its times."""
    text = re.sub(r"#[\w-]{43}|[\w.-]+@example\.test|[0-9]+", "…", page.text)
    return page.status, text, [form.action for form in page.forms], sorted(page.answer.headers)


def test_who_accepts_first_has_the_address(
    service: Service, visitor: Visitor, other: Visitor, email: str
) -> None:
    first, second = _token(_invite(visitor, email)), _token(_invite(other, email.upper()))
    assert _accept(service, second).status == 200
    refused = _accept(service, first)
    assert refused.status == 409
    assert "can no longer be accepted" in refused.text
    body = {"token": first, "new": NEW}
    answer = Person(service, "").post("/api/v1/auth/reset", body)
    assert (answer.status_code, answer.json()["code"]) == (409, "user_email_taken")
    shown = service.log_in(email, NEW).get("/api/v1/auth/me").json()["data"]
    assert shown["email"] == email.upper()


def test_who_accepts_is_welcomed_and_logged_in(
    service: Service, visitor: Visitor, email: str
) -> None:
    token = _token(_invite(visitor, email))
    anyone = Visitor(service)
    page = anyone.submit(anyone.get("/reset").form("/reset"), token=token, new=NEW)
    assert "Welcome to " in page.text and ", The Boss" in page.text
    assert anyone.get("/account").status == 200
    assert "The Boss" in anyone.get("/tickets").text


def test_an_invitation_that_is_not_accepted_holds_no_address(
    service: Service, visitor: Visitor, tenant: Tenant, email: str
) -> None:
    _invite(visitor, email)
    service.tenant().user(email=email)
    assert service.log_in(email).get("/api/v1/auth/me").status_code == 200


def test_of_two_acceptances_at_once_one_succeeds(
    service: Service, visitor: Visitor, other: Visitor, email: str
) -> None:
    tokens = [_token(_invite(who, email)) for who in (visitor, other)]
    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(lambda token: _accept(service, token).status, tokens))
    assert sorted(statuses) == [200, 409]


def test_inviting_does_not_tell_whether_another_desk_has_the_address(
    visitor: Visitor, service: Service, email: str
) -> None:
    service.tenant().user(email=email)
    assert _shape(_invite(visitor, email)) == _shape(_invite(visitor, f"x{email}"))


def test_an_address_is_invited_once_to_a_desk(visitor: Visitor, email: str) -> None:
    assert _invite(visitor, email).status == 201
    again = _invite(visitor, email.upper())
    assert (again.status, "or has invited them" in again.text) == (409, True)


def test_an_invited_person_is_unknown_to_the_log_in(
    service: Service, visitor: Visitor, email: str
) -> None:
    _invite(visitor, email)
    codes = [
        Person(service, "").post("/api/v1/auth/login", {"email": each, "password": NEW}).json()
        for each in (email, f"nobody.{email}")
    ]
    assert [each["code"] for each in codes] == ["invalid_credentials"] * 2


def test_a_released_user_is_logged_out_and_can_be_invited_again(
    service: Service, tenant: Tenant, visitor: Visitor, email: str
) -> None:
    user_id = tenant.user(email=email)
    person = service.log_in(email)

    async def release(tx: Tx) -> None:
        user = await actions.get_user_by_email(tx, email)
        caller = Caller(tenant.id, SYSTEM, frozenset(), "")
        await people.release(tx, caller, user, now_us=service.clock.now_us())

    service.write(release)
    assert person.get("/api/v1/auth/me").status_code == 401
    at = f"{PEOPLE}/{user_id}"
    link = visitor.submit(visitor.get(at).form(f"{at}/link"))
    assert "Invited" in visitor.get(at).text
    service.tenant().user(email=email)
    assert _accept(service, _token(link)).status == 409
    assert "E-mail address released" in visitor.get("/settings/audit").text


def _add_users(tenant: Tenant, count: int, *, password_hash: str | None) -> None:
    now_us = tenant.service.clock.now_us()
    rows = [
        {
            "tenant_id": tenant.id,
            "id": ids.mint(now_us),
            "password_hash": password_hash,
            "created_at": now_us,
        }
        for _ in range(count)
    ]
    tenant.service.write(lambda tx: tx.execute_many(_ADD, rows))


def test_invitations_within_an_hour_are_limited(own_service: Service) -> None:
    tenant, other = own_service.tenant(), own_service.tenant()
    _add_users(tenant, INVITATIONS_PER_HOUR.count - 2, password_hash="x")  # and the administrator
    visitor = logged_in(tenant)
    assert _invite(visitor, "a@example.test").status == 201
    refused = _invite(visitor, "b@example.test")
    assert (refused.status, "100 users within an hour" in refused.text) == (429, True)
    assert refused.form(INVITE).value("email") == "b@example.test"
    assert _invite(logged_in(other), "b@example.test").status == 201
    own_service.clock.advance(_HOUR_S + 1)
    assert _invite(logged_in(tenant), "b@example.test").status == 201


def test_pending_invitations_are_limited_until_they_expire(own_service: Service) -> None:
    tenant = own_service.tenant()
    _add_users(tenant, PENDING_INVITATIONS.count - 1, password_hash=None)
    own_service.clock.advance(_HOUR_S + 1)
    visitor = logged_in(tenant)
    page = _invite(visitor, "a@example.test")
    refused = _invite(visitor, "b@example.test")
    assert (refused.status, "200 people are invited" in refused.text) == (429, True)
    assert _accept(own_service, _token(page)).status == 200
    page = _invite(visitor, "b@example.test")
    assert page.status == 201
    at = next(link for link in page.links if re.fullmatch(f"{PEOPLE}/[0-9a-f-]{{36}}", link))
    assert _invite(visitor, "c@example.test").status == 429
    visitor.submit(visitor.get(f"{at}/deactivate").form(f"{at}/deactivate"))
    assert _invite(visitor, "c@example.test").status == 201
    own_service.clock.advance(7 * _DAY_S - _HOUR_S)
    assert _invite(logged_in(tenant), "d@example.test").status == 201


def test_users_added_ahead_of_time_do_not_stop_invitations(own_service: Service) -> None:
    tenant = own_service.tenant()
    own_service.clock.correct(_DAY_S)
    _add_users(tenant, INVITATIONS_PER_HOUR.count, password_hash="x")
    own_service.clock.correct(-_DAY_S)
    assert _invite(logged_in(tenant), "a@example.test").status == 201
