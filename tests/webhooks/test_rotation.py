"""Rotation of an endpoint's secret: both secrets sign for a day; resealing keeps both."""

from typing import Any

import pytest

from sealdesk.crypto import webhook_signing
from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.records.endpoints import seal_context
from sealdesk.webhooks import actions
from tests.support.client import Person
from tests.support.receiver import Got, Receiver
from tests.support.service import Service, Tenant
from tests.webhooks.factories import WEBHOOKS, made


def signed_by(got: Got, *secrets: str) -> list[bool]:
    """Whether each secret has signed; no other signature is allowed."""
    sent = got.headers["webhook-signature"].split(" ")
    at = int(got.headers["webhook-timestamp"])
    expected = [
        webhook_signing.sign(webhook_signing.key_of(secret), got.webhook_id, at, got.body)
        for secret in secrets
    ]
    assert set(sent) <= set(expected)
    return [signature in sent for signature in expected]


def rotate(admin: Person, path: str) -> Any:
    answer = admin.post(f"{path}/rotate-secret")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, no-store"
    return answer.json()["data"]


def tried(admin: Person, path: str, receiver: Receiver) -> Got:
    """The request of a test event."""
    assert admin.post(f"{path}/test").status_code == 200
    return receiver.got[-1]


def test_both_secrets_sign_for_a_day_then_only_the_new_one(
    own_service: Service, receiver: Receiver
) -> None:
    own_service.clock.stop()
    tenant = own_service.tenant()
    admin = tenant.admin()
    endpoint = made(admin, receiver)
    path, first = f"{WEBHOOKS}/{endpoint['id']}", endpoint["secret"]
    assert signed_by(tried(admin, path, receiver), first) == [True]
    rotated = rotate(admin, path)
    second = rotated["secret"]
    assert second != first
    assert rotated["old_secret_expires_at"] > rotated["created_at"]
    assert signed_by(tried(admin, path, receiver), first, second) == [True, True]
    own_service.clock.advance(24 * 3600 - 1)
    admin = tenant.admin()
    assert signed_by(tried(admin, path, receiver), first, second) == [True, True]
    own_service.clock.advance(1)
    assert signed_by(tried(admin, path, receiver), first, second) == [False, True]
    assert admin.get(path).json()["data"]["old_secret_expires_at"] is None


def test_second_rotation_within_a_day_ends_the_first_secret(
    admin: Person, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver)
    path, first = f"{WEBHOOKS}/{endpoint['id']}", endpoint["secret"]
    second, third = rotate(admin, path)["secret"], rotate(admin, path)["secret"]
    assert signed_by(tried(admin, path, receiver), first, second, third) == [False, True, True]


def test_rotation_returns_the_endpoint_and_shows_the_secret_once(
    admin: Person, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    rotated = rotate(admin, path)
    secret = rotated.pop("secret")
    shown = admin.get(path)
    assert shown.json()["data"] == rotated
    assert secret not in shown.text
    changed = ("secret", "old_secret_expires_at")
    assert {n: v for n, v in endpoint.items() if n not in changed} == {
        n: v for n, v in rotated.items() if n not in changed
    }


def test_resealing_moves_both_secrets_to_the_new_master_key(
    tenant: Tenant, receiver: Receiver
) -> None:
    admin = tenant.admin()
    endpoint = made(admin, receiver)
    path, first = f"{WEBHOOKS}/{endpoint['id']}", endpoint["secret"]
    second = rotate(admin, path)["secret"]
    old, new = tenant.service.settings.master_keys[0], bytes(range(32))

    def reseal(*master_keys: bytes) -> bool:
        key_ring = KeyRing(master_keys)
        return tenant.service.write(
            lambda tx: actions.reseal_webhook(tx, tenant.id, endpoint["id"], key_ring=key_ring)
        )

    assert [reseal(new, old), reseal(new, old), reseal(new)] == [True, False, False]
    found = tenant.service.read(lambda tx: actions.get_webhook(tx, tenant.id, endpoint["id"]))
    about = [seal_context(tenant.id, endpoint["id"], version) for version in (1, 2)]
    assert KeyRing([new]).open(found.sealed_old_secret or b"", about[0]) == first
    assert KeyRing([new]).open(found.sealed_secret, about[1]) == second
    for sealed, context in ((found.sealed_old_secret, about[0]), (found.sealed_secret, about[1])):
        with pytest.raises(UnsealError):
            KeyRing([old]).open(sealed or b"", context)
    assert reseal(old, new)
    assert signed_by(tried(admin, path, receiver), first, second) == [True, True]
