"""Revocation, rotation and changes apply to the next request (spec decision 2)."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event
from typing import Any

from tests.support.client import Key, Person
from tests.support.service import Tenant, wait_until
from tests.support.wire import Wire

KEYS = "/api/v1/api-keys"
WHOAMI = "/api/v1/external/whoami"
CUSTOMERS = "/api/v1/external/customers"
BODY = b'{"email": "ada@example.test"}'


@contextmanager
def half_sent(key: Key) -> Iterator[Wire]:
    """An upload of which the headers and half of the body have arrived."""
    headers = key.signature_headers("POST", CUSTOMERS, BODY) | {"content-type": "application/json"}
    with Wire(key.service) as wire:
        wire.head("POST", CUSTOMERS, [*headers.items(), ("content-length", str(len(BODY)))])
        wire.write(BODY[:10])
        time.sleep(0.1)  # the guard has looked the key up and waits for the rest
        yield wire


def test_an_upload_in_two_halves_is_accepted(key: Key) -> None:
    with half_sent(key) as wire:
        wire.write(BODY[10:])
        assert wire.answer().status == 201


def test_a_key_revoked_during_an_upload_is_refused(key: Key, admin: Person) -> None:
    with half_sent(key) as wire:
        admin.delete(f"{KEYS}/{key.id}")
        wire.write(BODY[10:])
        response = wire.answer()
    assert (response.status, response.json()["code"]) == (401, "api_key_revoked")


def test_a_secret_rotated_during_an_upload_is_refused(key: Key, admin: Person) -> None:
    with half_sent(key) as wire:
        admin.post(f"{KEYS}/{key.id}/rotate")
        wire.write(BODY[10:])
        response = wire.answer()
    assert (response.status, response.json()["code"]) == (401, "invalid_signature")


def test_a_permission_removed_during_an_upload_is_missing(key: Key, admin: Person) -> None:
    with half_sent(key) as wire:
        admin.patch(f"{KEYS}/{key.id}", {"permissions": []})
        wire.write(BODY[10:])
        assert wire.answer().status == 403


def test_no_request_that_begins_after_the_revocation_is_accepted(tenant: Tenant) -> None:
    key, admin = tenant.key(), tenant.admin()
    is_revoked, is_over = Event(), Event()
    seen: list[tuple[bool, int]] = []

    def use() -> None:
        while not is_over.is_set():
            began_after = is_revoked.is_set()
            seen.append((began_after, key.get(WHOAMI).status_code))

    with ThreadPoolExecutor(3) as pool:
        users = [pool.submit(use) for _ in range(3)]
        wait_until(lambda: len(seen) > 10)
        admin.delete(f"{KEYS}/{key.id}")
        is_revoked.set()
        wait_until(lambda: sum(after for after, _ in seen) > 10)
        is_over.set()
        for user in users:
            user.result()
    assert {status for after, status in seen if after} == {401}
    assert (False, 200) in seen


def test_no_request_that_begins_after_the_rotation_is_accepted(tenant: Tenant) -> None:
    old, admin = tenant.key(), tenant.admin()
    is_rotated, is_over = Event(), Event()
    seen: list[tuple[bool, int]] = []

    def use() -> None:
        while not is_over.is_set():
            began_after = is_rotated.is_set()
            seen.append((began_after, old.get(WHOAMI).status_code))

    with ThreadPoolExecutor(3) as pool:
        users = [pool.submit(use) for _ in range(3)]
        wait_until(lambda: len(seen) > 10)
        rotated = admin.post(f"{KEYS}/{old.id}/rotate").json()["data"]["api_secret"]
        is_rotated.set()
        new = Key(old.service, old.id, old.api_key, rotated)
        accepted = [new.get(WHOAMI).status_code for _ in range(5)]
        wait_until(lambda: sum(after for after, _ in seen) > 10)
        is_over.set()
        for user in users:
            user.result()
    assert accepted == [200] * 5
    assert {status for after, status in seen if after} == {401}
    assert (False, 200) in seen


def test_of_two_rotations_at_once_one_secret_works(key: Key, admin: Person) -> None:
    for _ in range(5):
        barrier = Barrier(2)

        def rotate(barrier: Barrier = barrier) -> Any:
            barrier.wait()
            return admin.post(f"{KEYS}/{key.id}/rotate").json()["data"]["api_secret"]

        with ThreadPoolExecutor(2) as pool:
            secrets = [future.result() for future in [pool.submit(rotate), pool.submit(rotate)]]
        statuses = []
        for secret in secrets:
            key.api_secret = secret
            statuses.append(key.get(WHOAMI).status_code)
        assert sorted(statuses) == [200, 401]


def test_a_removed_permission_is_missing_in_the_next_request(key: Key, admin: Person) -> None:
    assert key.get(CUSTOMERS).status_code == 200
    admin.patch(f"{KEYS}/{key.id}", {"permissions": ["tickets:read"]})
    assert key.get(CUSTOMERS).status_code == 403


def test_an_added_permission_applies_to_the_next_request(tenant: Tenant) -> None:
    key, admin = tenant.key(permissions=[]), tenant.admin()
    assert key.get(CUSTOMERS).status_code == 403
    admin.patch(f"{KEYS}/{key.id}", {"permissions": ["customers:read"]})
    assert key.get(CUSTOMERS).status_code == 200


def test_a_changed_name_is_used_by_the_next_request(key: Key, admin: Person) -> None:
    key.get(WHOAMI)
    admin.patch(f"{KEYS}/{key.id}", {"name": "Another"})
    assert key.get(WHOAMI).json()["data"]["name"] == "Another"
