"""Logging in: the response does not tell a wrong address from a wrong password."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest

from sealdesk.errors import Conflict
from sealdesk.identity.auth import passwords
from tests.support.client import Person
from tests.support.service import PASSWORD, Service, Tenant

LOG_IN = "/api/v1/auth/login"


@pytest.fixture
def nobody(service: Service) -> Person:
    return Person(service, "")


def _log_in(person: Person, email: str, password: str = PASSWORD) -> Any:
    return person.post(LOG_IN, {"email": email, "password": password})


def test_log_in_returns_a_token_and_the_user(nobody: Person, tenant: Tenant) -> None:
    response = _log_in(nobody, tenant.admin_email)
    data = response.json()["data"]
    assert response.status_code == 200
    assert response.headers["cache-control"] == "private, no-store"
    assert data.keys() == {"access_token", "token_type", "expires_in", "user"}
    assert (data["token_type"], data["expires_in"]) == ("Bearer", 3600)
    user = data["user"]
    assert user.keys() == {"id", "email", "name", "role", "tenant_id"}
    assert (user["email"], user["role"]) == (tenant.admin_email, "tenant_admin")
    assert user["tenant_id"] == tenant.id


def test_token_carries_its_claims_for_an_hour(nobody: Person, tenant: Tenant) -> None:
    data = _log_in(nobody, tenant.admin_email).json()["data"]
    token = data["access_token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    names = {"iss", "aud", "sub", "jti", "iat", "exp", "tenant_id", "role", "version"}
    assert claims.keys() == names
    assert (claims["sub"], claims["tenant_id"]) == (data["user"]["id"], tenant.id)
    assert (claims["exp"] - claims["iat"]) == pytest.approx(3600, abs=1)


def test_address_is_the_same_in_any_case_and_form(nobody: Person, tenant: Tenant) -> None:
    tenant.user(email="Zoë.Case@Example.test")
    response = _log_in(nobody, "zoe\u0308.case@EXAMPLE.test")
    assert response.json()["data"]["user"]["email"] == "Zoë.Case@Example.test"


def test_wrong_address_and_wrong_password_get_the_same_response(
    nobody: Person, tenant: Tenant
) -> None:
    responses = [
        _log_in(nobody, tenant.admin_email, "not the password"),
        _log_in(nobody, "stranger@example.test", PASSWORD),
        _log_in(nobody, "no address at all", PASSWORD),
    ]
    seen = []
    for response in responses:
        document = response.json()
        del document["request_id"]
        seen.append((response.status_code, document, sorted(response.headers)))
    assert seen[0] == seen[1] == seen[2]
    assert (seen[0][0], seen[0][1]["code"]) == (401, "invalid_credentials")


def test_wrong_address_and_wrong_password_cost_the_same_work(
    nobody: Person, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes: list[str] = []

    class Counting:
        def verify(self, password_hash: str, password: str) -> bool:
            hashes.append(password_hash)
            return real.verify(password_hash, password)

    real = passwords._HASHER
    email = f"known.{tenant.id}@example.test"
    tenant.user(email=email, password_hash=passwords.hash_now(PASSWORD))
    monkeypatch.setattr(passwords, "_HASHER", Counting())
    _log_in(nobody, email, "not the password")
    _log_in(nobody, "stranger@example.test", "not the password")
    assert len(hashes) == 2
    assert len({password_hash.rpartition("$")[0][:31] for password_hash in hashes}) == 1


def test_password_hash_is_argon2id_of_the_chosen_cost() -> None:
    assert passwords.hash_now("x").startswith("$argon2id$v=19$m=47104,t=1,p=1$")


def test_deactivated_user_cannot_log_in(nobody: Person, tenant: Tenant) -> None:
    email = "out@example.test"
    user_id = tenant.user(email=email)
    tenant.service.write(
        lambda tx: tx.execute(
            "UPDATE users SET is_active = false WHERE tenant_id = :tenant_id AND id = :id",
            {"tenant_id": tenant.id, "id": user_id},
        )
    )
    assert _log_in(nobody, email).json()["code"] == "invalid_credentials"


def test_password_in_a_wrong_type_is_named(nobody: Person) -> None:
    response = nobody.post(LOG_IN, {"email": "a@example.test", "password": 7})
    assert [error["pointer"] for error in response.json()["errors"]] == ["/password"]


def test_many_correct_log_ins_at_once_do_not_lock_each_other_out(
    nobody: Person, tenant: Tenant
) -> None:
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: _log_in(nobody, tenant.admin_email), range(16)))
    assert [response.status_code for response in responses] == [200] * 16


def test_address_belongs_to_one_user_of_the_whole_installation(
    service: Service, tenant: Tenant
) -> None:
    with pytest.raises(Conflict, match="is the address of another user"):
        service.tenant().user(email=tenant.admin_email.upper())
