"""Log-ins, log-outs, failures and exports in the audit log."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.identity.auth import login
from sealdesk.records import audit
from sealdesk.state import AppState
from tests.support.client import Person
from tests.support.pages import Visitor, logged_in
from tests.support.service import PASSWORD, Service, Tenant

LOG_IN, CHANGE = "/api/v1/auth/login", "/api/v1/auth/password"
HERE = "127.0.0.1"


def _rows(tenant: Tenant, action: str) -> list[tuple[str, str, str | None, dict[str, Any]]]:
    """(actor's name, address, object id, details) of each entry, after pending writes."""
    tenant.service.in_serving(lambda state: state.background_tasks.finish())
    rows = tenant.service.rows(
        "SELECT actor_name, address, object_id, details FROM audit"
        " WHERE tenant_id = :tenant AND action = :action ORDER BY id LIMIT 200",
        tenant=tenant.id,
        action=action,
    )
    return [(*row[:3], json.loads(row[3])) for row in rows]


def _try(service: Service, email: str, password: str = "not the password") -> int:
    return Person(service, "").post(LOG_IN, {"email": email, "password": password}).status_code


def test_logging_in_and_out_is_audited_with_address_and_channel(service: Service) -> None:
    tenant = service.tenant()
    email = f"eve.{tenant.id}@example.test"
    user_id = tenant.user(email=email, name="Eve")
    service.log_in(email).post("/api/v1/auth/logout")
    visitor = Visitor(service)
    visitor.log_in(email)
    visitor.submit(visitor.get("/account").form("/log-out"))
    reported = [("Eve", HERE, user_id, {"email": email, "how": how}) for how in ("api", "browser")]
    assert _rows(tenant, "user.logged_in") == reported
    assert _rows(tenant, "user.logged_out") == [("Eve", HERE, user_id, {"email": email})] * 2


def test_a_failed_log_in_is_audited_without_the_password(tenant: Tenant) -> None:
    service = tenant.service
    email = f"out.{tenant.id}@example.test"
    user_id = tenant.user(email=email)
    assert _try(service, email.upper()) == 401
    assert Visitor(service).log_in(email, "not the password").status == 401
    reported = [
        ("sealdesk", HERE, user_id, {"email": email, "how": how}) for how in ("api", "browser")
    ]
    assert _rows(tenant, "user.log_in_failed") == reported
    assert _rows(tenant, "user.logged_in") == []
    visitor = logged_in(tenant)
    page = visitor.get("/settings/audit?action=user.log_in_failed")
    assert page.links.count(f"/settings/people/{user_id}") == 2
    assert "in a browser" in page.text
    assert "the system" not in page.text, "nobody knows who it was"


def test_failed_log_ins_of_deactivated_but_not_of_unknown_users_are_audited(tenant: Tenant) -> None:
    visitor, service = logged_in(tenant), tenant.service
    email = f"gone.{tenant.id}@example.test"
    at = f"/settings/people/{tenant.user(email=email)}"
    visitor.submit(visitor.get(f"{at}/deactivate").form(f"{at}/deactivate"))
    before = service.rows("SELECT count(*) FROM audit LIMIT 1")[0][0]
    assert _try(service, email, PASSWORD) == 401
    assert _try(service, f"stranger.{tenant.id}@example.test") == 401
    assert len(_rows(tenant, "user.log_in_failed")) == 1
    assert service.rows("SELECT count(*) FROM audit LIMIT 1")[0][0] == before + 1


def test_throttled_log_ins_are_not_audited(tenant: Tenant) -> None:
    email = f"many.{tenant.id}@example.test"
    tenant.user(email=email)
    assert [_try(tenant.service, email) for _ in range(13)] == [401] * 10 + [429] * 3
    assert len(_rows(tenant, "user.log_in_failed")) == 10


def test_a_failure_that_cannot_be_recorded_gets_the_same_response(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: Any) -> None:
        raise ServiceUnavailable

    monkeypatch.setattr(audit, "record", unavailable)
    assert _try(tenant.service, tenant.admin_email) == 401
    assert _rows(tenant, "user.log_in_failed") == []


def test_a_failure_is_recorded_after_the_response_and_before_the_process_ends(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    service, may_continue, recorded = start(), asyncio.Event(), list[str]()
    note = login._record_failure

    async def late(*given: Any) -> None:
        await may_continue.wait()
        await note(*given)
        recorded.append(given[2].email)

    async def go_on_soon(_: AppState) -> None:
        asyncio.get_running_loop().call_later(0.5, may_continue.set)

    monkeypatch.setattr(login, "_record_failure", late)
    email = service.tenant().admin_email
    assert _try(service, email) == 401, "its time tells of no user"
    service.in_serving(go_on_soon)
    service.drop()
    assert recorded == [email]


def test_a_reauthentication_is_not_audited_as_a_log_in(tenant: Tenant) -> None:
    agent = tenant.log_in("agent")
    agent.post(CHANGE, {"current": "not the password", "new": "another long passphrase"})
    agent.post(CHANGE, {"current": PASSWORD, "new": "another long passphrase"})
    ((_, _, user_id, _),) = _rows(tenant, "user.logged_in")
    ((_, address, of, reported),) = _rows(tenant, "user.confirmation_failed")
    assert (address, of, reported["how"]) == (HERE, user_id, "api")
    assert _rows(tenant, "user.log_in_failed") == []


def test_an_export_of_the_audit_log_is_audited(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    asked = "/settings/audit/export?action=user.logged_in"
    assert visitor.once("GET", asked).status_code == 200
    visitor.once("GET", f"{asked}&since=nonsense")
    ((_, address, of, reported),) = _rows(tenant, "audit.exported")
    assert (address, of, reported) == (HERE, None, {"action": "user.logged_in", "rows": 1})
    assert "Audit log exported" in visitor.get("/settings/audit").text
    assert "audit.exported" in visitor.once("GET", "/settings/audit/export").text


def test_an_export_that_cannot_be_audited_fails(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: Any, **__: Any) -> None:
        raise ServiceUnavailable

    visitor = logged_in(tenant)
    monkeypatch.setattr(audit, "record", unavailable)
    response = visitor.once("GET", "/settings/audit/export")
    assert (response.status_code, "user.created" in response.text) == (503, False)
