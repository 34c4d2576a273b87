"""Settings → People: links, roles and deactivation."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.identity import actions
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

HOME = "/settings/people"
INVITE = f"{HOME}/invite"
NEW = "another long passphrase"
_LINK = re.compile(r"(http://[^ ]+)/reset#([A-Za-z0-9_-]{43})")
_DAY_S = 24 * 3600


def _of(tenant: Tenant, name: str) -> str:
    return f"{name}.of.{tenant.id}@example.test"


def _invite(visitor: Visitor, email: str, name: str = "", role: str = "agent") -> Page:
    return visitor.submit(visitor.get(INVITE).form(INVITE), email=email, name=name, role=role)


def _token(page: Page) -> str:
    found = _LINK.search(page.text)
    assert found, page.text
    return found[2]


def _at(page: Page) -> str:
    return next(link for link in page.links if re.fullmatch(f"{HOME}/[0-9a-f-]{{36}}", link))


def _own(visitor: Visitor) -> str:
    """The path of the only user."""
    return _at(visitor.get(HOME))


def _accept(service: Service, token: str, password: str = NEW) -> Page:
    anyone = Visitor(service)
    return anyone.submit(anyone.get("/reset").form("/reset"), token=token, new=password)


def _do(visitor: Visitor, at: str, what: str, **fields: str) -> Page:
    """Submit a form of a user's page."""
    page = visitor.get(f"{at}/{what}" if what == "deactivate" else at)
    return visitor.submit(page.form(f"{at}/{what}"), **fields)


def _audit_entries(tenant: Tenant, user_id: str) -> list[Any]:
    """The audit entries of a user, without log-ins."""
    return tenant.service.rows(
        "SELECT action, actor_name, address, details FROM audit WHERE tenant_id = :tenant"
        " AND object_id = :of AND action NOT LIKE 'user.log%' ORDER BY id LIMIT 50",
        tenant=tenant.id,
        of=user_id,
    )


def test_each_page_names_the_desk(service: Service) -> None:
    tenant = service.tenant("Acme & Sons")
    assert Visitor(service).get("/").text.startswith("Log in · Sealdesk")
    pages = logged_in(tenant)
    assert "<bdi>Acme &amp; Sons</bdi>" in pages.get("/settings").answer.text
    assert "<bdi>Acme &amp; Sons</bdi>" in pages.get("/nowhere").answer.text


def test_the_settings_begin_with_the_people(visitor: Visitor) -> None:
    visitor.get("/settings")
    assert visitor.at == HOME


def test_an_invited_agent_sets_a_password_and_works(visitor: Visitor, tenant: Tenant) -> None:
    email = _of(tenant, "bo")
    page = _invite(visitor, email, "Bo Agent")
    assert page.status == 201
    assert "shown this once" in page.text
    at, found = _at(page), _LINK.search(page.text)
    assert found and found[1] == tenant.service.url
    assert found[2] not in visitor.get(at).answer.text
    assert "Invited" in visitor.get(at).text
    assert Visitor(tenant.service).log_in(email, "").status == 401
    assert "Your password is set" in _accept(tenant.service, found[2]).text
    assert "Active" in visitor.get(at).text
    agent = Visitor(tenant.service)
    assert agent.log_in(email, NEW).status == 200
    assert "Bo Agent" in agent.get("/account").text
    assert agent.get(HOME).status == 403
    assert _accept(tenant.service, found[2]).status == 401
    entries = _audit_entries(tenant, at.rpartition("/")[2])
    assert [row[0] for row in entries] == ["user.created", "user.invited", "user.password_changed"]
    assert all(email in row[3] for row in entries), "whom each of them is about"
    assert visitor.get("/settings/audit?action=user.invited").links.count(at) == 1


def test_an_empty_name_becomes_the_start_of_the_address(visitor: Visitor) -> None:
    page = _invite(visitor, f"mia.{id(visitor)}@example.test")
    assert f"mia.{id(visitor)}" in visitor.get(_at(page)).text


def test_an_invitation_is_valid_for_a_week_and_a_reset_link_for_an_hour(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    own_service.clock.stop()
    visitor = logged_in(tenant)
    first, second = (_invite(visitor, _of(tenant, name)) for name in ("a", "b"))
    own_service.clock.advance(7 * _DAY_S - 1)
    assert _accept(own_service, _token(first)).status == 200
    visitor = logged_in(tenant)
    again = _do(visitor, _at(second), "link")
    reset = _do(visitor, _at(first), "link")
    assert "invitation" in again.text and "reset link" in reset.text
    assert _accept(own_service, _token(second)).status == 401, "replaced by the newer one"
    own_service.clock.advance(3601)
    assert _accept(own_service, _token(reset)).status == 401
    own_service.clock.advance(7 * _DAY_S)
    assert _accept(own_service, _token(again)).status == 401


def test_errors_of_an_invitation_are_shown_at_their_fields(
    visitor: Visitor, tenant: Tenant
) -> None:
    typed = {"name": "Bo <b>", "role": "agent"}
    for email, words in (("nonsense", "@"), (tenant.admin_email.upper(), "with this address")):
        page = visitor.submit(visitor.get(INVITE).form(INVITE), email=email, **typed)
        assert page.status in (409, 422)
        assert words in page.text
        assert page.form(INVITE).value("email") == email
        assert page.form(INVITE).value("name") == "Bo <b>"
    assert _invite(visitor, _of(tenant, "c"), "n" * 101).status == 422
    assert _invite(visitor, _of(tenant, "c"), role="god").status == 422
    assert _invite(visitor, _of(tenant, "c"), role="").status == 422
    assert len([link for link in visitor.get(HOME).links if link.startswith(f"{HOME}/")]) == 2


def test_nobody_assigns_a_role_above_their_own(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    agent = f"{HOME}/{tenant.user()}"
    assert _invite(visitor, _of(tenant, "d"), role="super_admin").status == 403
    for at in (agent, _admin_at(tenant)):
        assert _do(visitor, at, "role", role="super_admin").status == 403
    roles = tenant.service.rows(
        "SELECT role FROM users WHERE tenant_id = :id ORDER BY role LIMIT 9", id=tenant.id
    )
    assert [row[0] for row in roles] == ["agent", "tenant_admin"]


def _admin_at(tenant: Tenant) -> str:
    rows = tenant.service.rows(
        "SELECT id FROM users WHERE tenant_id = :id AND email = :email LIMIT 2",
        id=tenant.id,
        email=tenant.admin_email,
    )
    return f"{HOME}/{rows[0][0]}"


def test_an_administrator_cannot_change_a_super_admin(visitor: Visitor, tenant: Tenant) -> None:
    email = _of(tenant, "root")
    at = f"{HOME}/{tenant.user('super_admin', email)}"
    page = visitor.get(at)
    assert {form.action for form in page.forms} == {"/tickets", "/log-out"}
    token = page.form("/log-out").value("form_token")
    fields = [("form_token", token), ("role", "agent"), ("name", "Lower")]
    for what in ("link", "name", "role", "deactivate", "reactivate"):
        response = visitor.post(f"{at}/{what}", fields)
        assert response.status == 403, what
        assert "super_admin" in response.text
    root = Visitor(tenant.service)
    assert root.log_in(email).status == 200
    assert _do(root, f"{HOME}/{tenant.user()}", "role", role="super_admin").status == 200


def test_a_name_change_keeps_the_sessions_of_the_user(visitor: Visitor, tenant: Tenant) -> None:
    email = _of(tenant, "ivo")
    at = f"{HOME}/{tenant.user('agent', email, 'Ivp')}"
    program = tenant.service.log_in(email)
    page = _do(visitor, at, "name", name=" Ivo <b> ")
    assert (page.status, visitor.at) == (200, at)
    assert program.get("/api/v1/auth/me").json()["data"]["name"] == "Ivo <b>"
    assert "Ivo <b>" in visitor.get(HOME).text
    for wrong in ("", "n" * 101):
        page = _do(visitor, at, "name", name=wrong)
        assert (page.status, page.form(f"{at}/name").value("name")) == (422, wrong)
    assert _do(visitor, at, "name", name="Ivo <b>").status == 200
    (_, entry) = _audit_entries(tenant, at.rpartition("/")[2])
    assert (entry[0], '["Ivp","Ivo <b>"]' in entry[3]) == ("user.renamed", True)


def test_a_role_change_applies_at_once_and_ends_the_sessions(
    visitor: Visitor, tenant: Tenant
) -> None:
    email = _of(tenant, "eve")
    at = f"{HOME}/{tenant.user('agent', email)}"
    program, person = tenant.service.log_in(email), Visitor(tenant.service)
    person.log_in(email)
    page = _do(visitor, at, "role", role="tenant_admin")
    assert (page.status, visitor.at) == (200, at)
    assert program.get("/api/v1/auth/me").status_code == 401
    assert person.once("GET", "/account").status_code == 303
    assert person.log_in(email).status == 200
    assert person.get(HOME).status == 200
    (_, entry) = _audit_entries(tenant, at.rpartition("/")[2])
    assert (entry[0], entry[2]) == ("user.role_changed", "127.0.0.1")
    assert '["agent","tenant_admin"]' in entry[3]
    assert _do(visitor, at, "role", role="tenant_admin").status == 200
    assert len(_audit_entries(tenant, at.rpartition("/")[2])) == 2, "nothing has changed"


def test_a_deactivated_user_is_logged_out_at_once_and_their_work_stays(
    visitor: Visitor, tenant: Tenant
) -> None:
    email = _of(tenant, "gil")
    user_id = tenant.user("agent", email, "Gil Gone")
    at, key = f"{HOME}/{user_id}", tenant.key()
    program, reset = tenant.service.log_in(email), _token(_do(visitor, at, "link"))
    ticket = key.ticket(assignee_id=user_id)
    assert "cannot log in" in _do(visitor, at, "deactivate").text
    assert program.get("/api/v1/auth/me").status_code == 401
    assert Visitor(tenant.service).log_in(email).status == 401
    assert _accept(tenant.service, reset).status == 401
    shown = key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]
    assert shown["assignee_id"] == user_id
    (to_hand_over,) = [each for each in visitor.get(at).links if "assignee=" in each]
    assert f"/tickets/{ticket['id']}" in visitor.get(to_hand_over).answer.text
    assert "Gil Gone" in visitor.get(HOME).text
    assert [form.action for form in visitor.get(at).forms if form.action.endswith("link")] == []
    stale = [("form_token", visitor.get(at).form("/log-out").value("form_token"))]
    assert visitor.post(f"{at}/link", stale).status == 409
    assert "Active" in _do(visitor, at, "reactivate").text
    assert program.get("/api/v1/auth/me").status_code == 401, "what ended stays ended"
    assert Visitor(tenant.service).log_in(email).status == 200
    assert [row[0] for row in _audit_entries(tenant, user_id)][-2:] == [
        "user.deactivated",
        "user.reactivated",
    ]


def test_the_last_administrator_cannot_lock_everybody_out(visitor: Visitor, tenant: Tenant) -> None:
    own = _admin_at(tenant)
    invited = _at(_invite(visitor, _of(tenant, "later"), role="tenant_admin"))
    gone = f"{HOME}/{tenant.user('tenant_admin')}"
    _do(visitor, gone, "deactivate")
    for page in (_do(visitor, own, "deactivate"), _do(visitor, own, "role", role="agent")):
        assert page.status == 409
        assert "Make somebody else an administrator first" in page.text
        assert_page_is_secure(page)
    assert visitor.get(invited).status == 200, "still in"
    _do(visitor, gone, "reactivate")
    _do(visitor, own, "role", role="agent")
    assert visitor.get("/").form("/log-in")


def test_two_administrators_cannot_deactivate_each_other_at_once(tenant: Tenant) -> None:
    email = _of(tenant, "second")
    second_id = tenant.user("tenant_admin", email)
    first, second = logged_in(tenant), Visitor(tenant.service)
    second.log_in(email)
    pairs = ((first, f"{HOME}/{second_id}"), (second, _admin_at(tenant)))
    forms = [(who, who.get(f"{at}/deactivate").form(f"{at}/deactivate")) for who, at in pairs]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: pair[0].submit(pair[1]), forms))
    (row,) = tenant.service.rows(
        "SELECT count(*) FROM users WHERE tenant_id = :id AND is_active LIMIT 1", id=tenant.id
    )
    assert row[0] == 1


def test_users_of_another_desk_are_not_found(visitor: Visitor, tenant: Tenant) -> None:
    other = tenant.service.tenant()
    at = f"{HOME}/{other.user('agent', _of(other, 'far'), 'Far Away')}"
    token = visitor.get("/").form("/log-out").value("form_token")
    for path in (at, f"{at}/deactivate"):
        assert "Page not found" in visitor.get(path).text
    fields = [("form_token", token), ("role", "tenant_admin"), ("name", "Near")]
    for what in ("link", "name", "role", "deactivate", "reactivate"):
        assert visitor.post(f"{at}/{what}", fields).status == 404, what
    assert "Far Away" not in visitor.get(HOME).text
    assert Visitor(other.service).log_in(_of(other, "far")).status == 200


def test_hostile_names_are_shown_as_text(visitor: Visitor, tenant: Tenant) -> None:
    name = "".join(HOSTILE_TEXTS[:4])[:100]
    page = _invite(visitor, _of(tenant, "h"), name)
    at = _at(page)
    for shown in (page, *(visitor.get(p) for p in (HOME, at, f"{at}/deactivate"))):
        assert name.replace("  ", " ") in shown.text
        assert_page_is_secure(shown)


def test_the_list_of_people_has_pages(visitor: Visitor, tenant: Tenant) -> None:
    now_us = tenant.service.clock.now_us()

    async def add_people(tx: Tx) -> None:
        for number in range(55):
            await actions.create_user(
                tx,
                tenant.id,
                email=f"{number}.{tenant.id}@example.test",
                name=f"Person {number}",
                role="agent",
                password_hash=None,
                actor=SYSTEM,
                now_us=now_us + number,
            )

    tenant.service.write(add_people)
    first = visitor.get(HOME)
    (older,) = [link for link in first.links if "before=" in link]
    second = visitor.get(older)
    (newer,) = [link for link in second.links if "before=" in link]
    seen = [_people(page) for page in (first, second, visitor.get(newer))]
    assert len(seen[0]) == 50 and len({*seen[0], *seen[1]}) == 56
    assert seen[2] == seen[0]


def _people(page: Page) -> list[str]:
    return [link for link in page.links if re.fullmatch(f"{HOME}/[0-9a-f-]{{36}}", link)]
