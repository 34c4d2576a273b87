"""The signature vectors, sent at their own time with their own key."""

from collections.abc import Iterator

import httpx
import msgspec
import pytest

from sealdesk import ids
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS
from sealdesk.api_keys.types import ApiKey
from sealdesk.crypto.signing import sign
from tests.support.client import Headers, send
from tests.support.databases import Begin
from tests.support.service import Service
from tests.vectors import API_KEY, API_SECRET, BY_SHAPE, TIMESTAMP, VALID, WRONG, Vector


def named(vector: Vector) -> str:
    return vector.name


@pytest.fixture(scope="module")
def then(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service at the time of the vectors that knows their key."""
    with begin(tmp_path_factory.mktemp("then")) as service:
        service.clock.stop_at(int(TIMESTAMP))
        key = _key_of(service)
        service.write(lambda tx: store.add(tx, key, rules.hash_of(API_KEY)))
        yield service


def _key_of(service: Service) -> ApiKey:
    tenant_id, now_us = service.tenant().id, service.clock.now_us()
    key = ApiKey(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        name="Vectors",
        key_prefix=rules.prefix_of(API_KEY),
        permissions=DEFAULT_PERMISSIONS,
        rate_limit=1000,
        allowed_ips=None,
        replay_protection="off",
        expires_at=None,
        revoked_at=None,
        last_used_at=None,
        sealed_secret=None,
        secret_version=1,
        created_at=now_us,
    )
    sealed = service.state.key_ring.seal(API_SECRET, rules.seal_context(key))
    return msgspec.structs.replace(key, sealed_secret=sealed)


def sent(service: Service, vector: Vector, **changed: str) -> httpx.Response:
    headers: Headers = {
        "host": vector.host,
        "x-api-key": API_KEY,
        "x-api-timestamp": TIMESTAMP,
        "x-api-signature": vector.signature,
        **({"content-type": "application/json"} if vector.body else {}),
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    return send(service, vector.method, vector.target, vector.body, headers)


@pytest.mark.parametrize("vector", VALID, ids=named)
def test_vector_is_accepted(then: Service, vector: Vector) -> None:
    response = sent(then, vector)
    # Some vectors name what does not exist; the budget is told to proven callers only.
    assert response.status_code in (200, 201, 404)
    assert "ratelimit" in response.headers


@pytest.mark.parametrize("vector", [one for one in WRONG if one.name not in BY_SHAPE], ids=named)
def test_response_to_a_wrong_vector_names_its_mistake(then: Service, vector: Vector) -> None:
    response = sent(then, vector)
    assert response.status_code == 401
    assert response.json()["code"] == "invalid_signature"
    assert response.json()["diagnosis"] == vector.name


@pytest.mark.parametrize("vector", [one for one in WRONG if one.name in BY_SHAPE], ids=named)
def test_malformed_vector_has_its_own_code(then: Service, vector: Vector) -> None:
    is_time = vector.name == "timestamp_milliseconds"
    response = sent(then, vector, x_api_timestamp=TIMESTAMP + ("000" if is_time else ""))
    assert response.status_code == 401
    assert response.json()["code"] == BY_SHAPE[vector.name]
    assert response.json()["diagnosis"] == vector.name


@pytest.mark.parametrize("vector", [one for one in WRONG if one.name not in BY_SHAPE], ids=named)
def test_response_never_reveals_the_right_signature(then: Service, vector: Vector) -> None:
    assert sign(API_SECRET, vector.parts()) not in sent(then, vector).text
