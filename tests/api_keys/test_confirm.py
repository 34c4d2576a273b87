"""Keys of a restored backup are off until an administrator confirms them."""

import pytest

from sealdesk.api_keys import journal
from sealdesk.db import epochs
from sealdesk.db.engine import Tx
from tests.support.client import Key
from tests.support.pages import logged_in
from tests.support.service import Service, Tenant

API = "/api/v1/api-keys"
PAGE = "/settings/api-keys/confirm"
WHOAMI = "/api/v1/external/whoami"


@pytest.fixture
def restored(tenant: Tenant) -> Key:
    """A key of a tenant whose keys wait for confirmation."""
    key = tenant.key(name="Shop")
    switch_off(tenant)
    return key


def switch_off(tenant: Tenant) -> None:
    """Do to the keys of one tenant what a restore does to all."""
    sql = "UPDATE api_keys SET unconfirmed_since = :at WHERE tenant_id = :tenant_id"
    at = tenant.service.clock.now_us()
    tenant.service.write(lambda tx: tx.execute(sql, {"tenant_id": tenant.id, "at": at}))


def refusal(key: Key) -> str:
    """The code of a 401."""
    response = key.get(WHOAMI)
    assert response.status_code == 401, response.text
    return str(response.json()["code"])


def test_an_unconfirmed_key_is_refused_with_its_own_code(tenant: Tenant, restored: Key) -> None:
    assert refusal(restored) == "api_key_unconfirmed"
    shown = tenant.admin().get(f"{API}/{restored.id}").json()["data"]
    assert not shown["is_active"]
    assert shown["unconfirmed_since"] is not None
    (recorded,) = tenant.admin().get(f"{API}/{restored.id}/refusals").json()["data"]
    assert recorded["code"] == "api_key_unconfirmed"


def test_a_confirmed_key_works_again(tenant: Tenant, restored: Key) -> None:
    for _ in range(2):
        confirmed = tenant.admin().post(f"{API}/{restored.id}/confirm")
        assert confirmed.status_code == 200, confirmed.text
        assert confirmed.json()["data"]["unconfirmed_since"] is None
    assert restored.get(WHOAMI).status_code == 200


def test_confirming_one_key_confirms_no_other(tenant: Tenant) -> None:
    one, other = tenant.key(), tenant.key()
    switch_off(tenant)
    assert tenant.admin().post(f"{API}/{one.id}/confirm").status_code == 200
    assert refusal(other) == "api_key_unconfirmed"


def test_a_change_confirms_nothing(tenant: Tenant, restored: Key) -> None:
    changed = tenant.admin().patch(f"{API}/{restored.id}", {"name": "Reports"})
    assert changed.status_code == 200
    assert refusal(restored) == "api_key_unconfirmed"


def test_a_rotated_key_needs_no_confirmation(tenant: Tenant, restored: Key) -> None:
    rotated = tenant.admin().post(f"{API}/{restored.id}/rotate").json()["data"]
    assert refusal(restored) == "invalid_signature"
    restored.api_secret = rotated["api_secret"]
    assert restored.get(WHOAMI).status_code == 200


def test_a_revoked_key_cannot_be_confirmed(tenant: Tenant, restored: Key) -> None:
    admin = tenant.admin()
    assert admin.delete(f"{API}/{restored.id}").status_code == 204
    assert admin.post(f"{API}/{restored.id}/confirm").json()["code"] == "api_key_revoked"
    assert refusal(restored) == "api_key_revoked"


def test_keys_are_confirmed_on_a_page_one_by_one_or_all(tenant: Tenant) -> None:
    first, *others = (tenant.key(name=name) for name in ("First", "Second", "Third"))
    switch_off(tenant)
    visitor = logged_in(tenant)
    assert "Keys are off since a backup was restored." in visitor.get("/settings/api-keys").text
    page = visitor.submit(visitor.get(PAGE).form(PAGE), key=first.id)
    assert first.get(WHOAMI).status_code == 200
    assert [refusal(key) for key in others] == ["api_key_unconfirmed"] * 2
    assert "First" not in page.text
    page = visitor.submit(page.form(PAGE), key="all")
    assert "All keys are confirmed." in page.text
    assert [key.get(WHOAMI).status_code for key in others] == [200, 200]
    assert "Keys are off" not in visitor.get("/settings/api-keys").text


def test_confirming_all_leaves_keys_of_other_tenants_off(service: Service) -> None:
    tenant, other = service.tenant(), service.tenant()
    key, foreign = tenant.key(), other.key()
    for each in (tenant, other):
        switch_off(each)
    visitor = logged_in(tenant)
    visitor.submit(visitor.get(PAGE).form(PAGE), key="all")
    assert key.get(WHOAMI).status_code == 200
    assert refusal(foreign) == "api_key_unconfirmed"


def test_keys_are_not_confirmed_together_while_the_journal_cannot_be_read(
    tenant: Tenant, restored: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in it may be one that was revoked."""

    async def find_restored_time(tx: Tx) -> int:
        return 1

    monkeypatch.setattr(epochs, "find_restored_time", find_restored_time)
    path = tenant.service.settings.data_dir / journal.FILE
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    try:
        visitor = logged_in(tenant)
        answer = visitor.submit(visitor.get(PAGE).form(PAGE), key="all")
    finally:
        path.rmdir()
    assert answer.status == 503
    assert refusal(restored) == "api_key_unconfirmed"


def test_each_epoch_has_a_higher_number_and_skips_ticket_numbers(own_service: Service) -> None:
    tenant = own_service.tenant()
    key, now_us = tenant.key(), own_service.clock.now_us()
    numbers = [key.ticket()["number"]]

    async def begin(tx: Tx) -> int:
        return await epochs.begin(tx, restored_to=now_us - 60_000_000, now_us=now_us)

    first, second = own_service.write(begin), own_service.write(begin)
    assert (first, second) == (now_us, now_us + 1)
    assert own_service.read(epochs.current) == second
    assert refusal(key) == "api_key_unconfirmed"
    tenant.admin().post(f"{API}/{key.id}/confirm")
    numbers.append(key.ticket()["number"])
    assert numbers[1] - numbers[0] == 2 * (10_000 + 60 * 100) + 1
