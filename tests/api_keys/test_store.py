"""Stored keys cannot be used without the master key (spec decision 2)."""

import hashlib

import msgspec
import pytest

from sealdesk.api_keys import actions, store
from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant

KEYS = "/api/v1/api-keys"
WHOAMI = "/api/v1/external/whoami"


def test_neither_key_nor_secret_is_in_the_files(key: Key, admin: Person) -> None:
    key.get(WHOAMI)
    rotated = admin.post(f"{KEYS}/{key.id}/rotate").json()["data"]["api_secret"]
    at_rest = key.service.bytes_at_rest()
    assert key.id.encode() in at_rest
    for secret in (key.api_key, key.api_secret, rotated):
        assert secret.encode() not in at_rest
        assert bytes.fromhex(secret.removeprefix("tk_live_")) not in at_rest


def test_a_key_is_found_by_its_sha_256(key: Key) -> None:
    key_hash = hashlib.sha256(key.api_key.encode()).digest()
    found = key.service.read(lambda tx: store.find_by_hash(tx, key_hash))
    assert found is not None
    assert found.id == key.id


def test_a_hash_belongs_to_one_key(key: Key) -> None:
    insert = "INSERT INTO api_key_directory SELECT key_hash, tenant_id, 'x' FROM api_key_directory"
    with pytest.raises(Exception, match=r"(?i)unique constraint"):
        key.service.write(lambda tx: tx.execute(insert, {}))


def test_the_ciphertext_is_destroyed_by_revocation(key: Key, admin: Person) -> None:
    admin.delete(f"{KEYS}/{key.id}")
    sql = "SELECT sealed_secret FROM api_keys WHERE id = :id LIMIT 1"
    assert key.service.rows(sql, id=key.id)[0][0] is None


def test_a_secret_moved_to_another_row_does_not_open(tenant: Tenant) -> None:
    one, other = tenant.key(), tenant.key()
    sealed = tenant.service.rows(
        "SELECT sealed_secret FROM api_keys WHERE id = :id LIMIT 1", id=one.id
    )[0][0]

    async def swap(tx: Tx) -> None:
        key = await actions.get_key(tx, tenant.id, other.id)
        moved = msgspec.structs.replace(key, sealed_secret=sealed)
        await store.replace(tx, moved)

    tenant.service.write(swap)
    other.api_secret = one.api_secret
    assert other.get(WHOAMI).status_code == 503


def test_another_tenant_finds_no_key_by_its_id(service: Service, key: Key) -> None:
    other = service.tenant("Other")
    assert service.read(lambda tx: store.find(tx, other.id, key.id)) is None


def test_the_master_key_is_replaced_without_downtime(key: Key) -> None:
    service, old, new = key.service, key.service.settings.master_keys[0], bytes(range(32))
    tenant_id = service.rows("SELECT tenant_id FROM api_keys WHERE id = :id LIMIT 1", id=key.id)[0][
        0
    ]
    both = KeyRing([new, old])
    resealed = [
        service.write(lambda tx: actions.reseal_key(tx, tenant_id, key.id, key_ring=both))
        for _ in "12"
    ]
    assert resealed == [True, False]
    sealed = service.read(lambda tx: actions.get_key(tx, tenant_id, key.id)).sealed_secret
    assert sealed is not None
    about = f"api_secret {tenant_id} {key.id} 1"
    assert KeyRing([new]).open(sealed, about) == key.api_secret
    with pytest.raises(UnsealError):
        KeyRing([old]).open(sealed, about)


def test_last_used_at_is_written_before_the_first_response(key: Key) -> None:
    key.get(WHOAMI)
    assert last_used_at(key) is not None


def test_last_used_at_is_written_for_a_request_without_permission(tenant: Tenant) -> None:
    key = tenant.key(permissions=[])
    assert key.get("/api/v1/external/tickets").status_code == 403
    assert last_used_at(key) is not None


def test_last_used_at_is_not_written_for_a_failed_signature(key: Key) -> None:
    key.get(WHOAMI, x_api_signature="0" * 64)
    assert last_used_at(key) is None


def test_last_used_at_moves_at_most_once_a_minute(own_service: Service) -> None:
    own_service.clock.stop()
    key, seen = own_service.tenant().key(), []
    for _ in range(4):
        key.get(WHOAMI)
        seen.append(last_used_at(key))
        own_service.clock.advance(30)
    assert seen[0] == seen[1] < seen[2] == seen[3]  # type: ignore[operator]


def test_a_read_succeeds_when_last_used_at_cannot_be_written(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_room(*_: object) -> None:
        raise ServiceUnavailable

    monkeypatch.setattr(store, "record_use", no_room)
    assert key.get(WHOAMI).status_code == 200


def last_used_at(key: Key) -> int | None:
    rows = key.service.rows("SELECT last_used_at FROM api_keys WHERE id = :id LIMIT 1", id=key.id)
    return rows[0][0]  # type: ignore[no-any-return]
