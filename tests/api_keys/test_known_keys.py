"""A key that a process knows is refused, or has its new settings, in the request after a change."""

from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.api_keys import rules, store
from sealdesk.db.engine import Tx
from tests.support.client import Key
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service, Tenant

CUSTOMERS = "/api/v1/external/customers"
_KEY = "WHERE tenant_id = :tenant_id AND id = :id"


def change(key: Key, tenant: Tenant, sql: str, **params: Any) -> None:
    """Change rows with a statement of its own, as a command beside the server does."""
    owner = {"tenant_id": tenant.id, "id": key.id}
    named = {name: value for name, value in owner.items() if f":{name}" in sql}
    assert key.service.write(lambda tx: tx.execute(sql, {**named, **params})) == 1


@pytest.fixture
def known(tenant: Tenant) -> Key:
    """A key that has just been used."""
    key = tenant.key()
    assert key.get(CUSTOMERS).status_code == 200
    return key


@pytest.mark.parametrize(
    ("assignment", "refusal"),
    [
        ("revoked_at = 1, sealed_secret = NULL", "api_key_revoked"),
        ("expires_at = 1", "api_key_expired"),
        ("unconfirmed_since = 1", "api_key_unconfirmed"),
        ("permissions = '[]'", "insufficient_permissions"),
        ("""allowed_ips = '["203.0.113.7"]'""", "ip_not_allowed"),
    ],
)
def test_a_known_key_is_refused_in_the_request_after_a_change(
    known: Key, tenant: Tenant, assignment: str, refusal: str
) -> None:
    change(known, tenant, f"UPDATE api_keys SET {assignment} {_KEY}")
    assert known.get(CUSTOMERS).json()["code"] == refusal


def test_a_known_key_has_its_new_secret_in_the_next_request(known: Key, tenant: Tenant) -> None:
    ring, old = known.service.state.key_ring, known.api_secret
    known.api_secret = rules.mint_secret()
    sealed = ring.seal(known.api_secret, rules.seal_context_of(tenant.id, known.id, 2))
    rotate = f"UPDATE api_keys SET sealed_secret = :sealed, secret_version = 2 {_KEY}"
    change(known, tenant, rotate, sealed=sealed)
    assert known.get(CUSTOMERS).status_code == 200
    known.api_secret = old
    assert known.get(CUSTOMERS).json()["code"] == "invalid_signature"


def test_a_known_key_has_its_new_rate_limit_in_the_next_request(known: Key, tenant: Tenant) -> None:
    change(known, tenant, f"UPDATE api_keys SET rate_limit = 77 {_KEY}")
    assert known.get(CUSTOMERS).headers["x-ratelimit-limit"] == "77"


def test_a_known_key_is_protected_from_replays_in_the_next_request(
    known: Key, tenant: Tenant
) -> None:
    change(known, tenant, f"UPDATE api_keys SET replay_protection = 'writes' {_KEY}")
    sent = known.service.clock.now_us() // 1_000_000
    body = b'{"email": "ada@example.test"}'
    headers = known.signature_headers("POST", CUSTOMERS, body, timestamp=sent)
    known.call("POST", CUSTOMERS, content=body, headers=headers)
    replayed = known.call("POST", CUSTOMERS, content=body, headers=headers)
    assert replayed.json()["code"] == "signature_replayed"


def test_a_known_key_without_its_hash_is_unknown_until_it_is_back(
    known: Key, tenant: Tenant
) -> None:
    key_hash = rules.hash_of(known.api_key)
    change(known, tenant, "DELETE FROM api_key_directory WHERE key_hash = :hash", hash=key_hash)
    assert known.get(CUSTOMERS).json()["code"] == "invalid_api_key"
    back = {"key_hash": key_hash, "key_id": known.id}
    change(known, tenant, store._ADD_TO_DIRECTORY, **back)
    assert known.get(CUSTOMERS).status_code == 200


def test_a_known_key_expires_without_any_change(own_service: Service) -> None:
    tenant = own_service.tenant()
    in_a_minute = own_service.clock.now_us() // 1_000_000 + 60
    key = tenant.key()
    change(key, tenant, f"UPDATE api_keys SET expires_at = {in_a_minute * 1_000_000} {_KEY}")
    assert key.get(CUSTOMERS).status_code == 200
    own_service.clock.advance(61)
    assert key.get(CUSTOMERS).json()["code"] == "api_key_expired"


def test_a_key_is_looked_up_once_until_a_key_changes(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    find: Callable[[Tx, bytes], Any] = store.find_by_hash

    async def count(tx: Tx, key_hash: bytes) -> Any:
        found.append("look-up")
        return await find(tx, key_hash)

    key, other = tenant.key(), tenant.key()
    key.get(CUSTOMERS)  # also stores its first use
    monkeypatch.setattr(store, "find_by_hash", count)
    for _ in range(3):
        assert key.get(CUSTOMERS).status_code == 200
    assert len(found) == 0
    change(other, tenant, f"UPDATE api_keys SET name = 'Another' {_KEY}")
    assert key.get(CUSTOMERS).status_code == 200
    assert len(found) == 1


@SQLITE_ONLY
def test_without_a_stamp_no_key_is_known(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    assert key.get(CUSTOMERS).status_code == 200
    own_service.run("DELETE FROM key_stamp")
    own_service.run(f"UPDATE api_keys SET revoked_at = 1 WHERE id = '{key.id}'")
    assert key.get(CUSTOMERS).json()["code"] == "api_key_revoked"


def test_nothing_of_a_known_key_is_in_its_text(known: Key) -> None:
    state = known.service.state
    stamp = known.service.in_serving(_read_stamp)
    entry: Any = state.known_keys.find(known.api_key.encode(), stamp)
    assert repr(entry) == f"KnownKey(id='{known.id}')"
    held = [getattr(entry, name) for name in entry.__struct_fields__]
    assert known.api_secret not in repr([*held, entry.verifier._inner, entry.verifier._outer])


async def _read_stamp(state: Any) -> int | None:
    stamp: int | None = await state.database.read_key_stamp()
    return stamp
