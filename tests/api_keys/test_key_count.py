"""How many keys a tenant may have and create, also under concurrent requests."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support.client import Person
from tests.support.databases import SQLITE_FIRST
from tests.support.pages import logged_in
from tests.support.service import Service, Tenant

KEYS = "/api/v1/api-keys"
FORM = "/settings/api-keys/new"
NEW = {"name": "Shop"}
MOST = 100
HOUR_S = 3600


def test_of_110_concurrently_created_keys_100_exist(
    start_nodes: Callable[..., list[Service]],
) -> None:
    nodes = start_nodes()
    tenant = nodes[0].tenant()
    token = tenant.admin().token
    for _ in range(MOST - 10):
        tenant.make_key()

    def make(number: int) -> tuple[int, str | None]:
        response = Person(nodes[number % len(nodes)], token).post(KEYS, NEW)
        return response.status_code, response.json().get("code")

    with ThreadPoolExecutor(16) as pool:
        made = Counter(pool.map(make, range(20)))
    assert made == {(201, None): 10, (409, "too_many_api_keys"): 10}
    assert len(Person(nodes[0], token).get(f"{KEYS}?per_page=100").json()["data"]) == MOST


def _fill(tenant: Tenant) -> None:
    for _ in range(MOST):
        tenant.make_key()


def test_revoked_and_expired_keys_make_room_in_their_tenant(own_service: Service) -> None:
    tenant = own_service.tenant()
    expires_at = "2033-05-18T04:00:00Z"
    own_service.clock.stop_at(2_000_000_000)  # 33 minutes before
    soon_expired = tenant.make_key(expires_at=expires_at)
    for _ in range(MOST - 1):
        tenant.make_key()
    own_service.clock.advance(HOUR_S + 1)
    admin = tenant.admin()
    assert soon_expired.expires_at is not None
    assert admin.post(KEYS, NEW).status_code == 201
    refused = admin.post(KEYS, NEW)
    assert (refused.status_code, refused.json()["limit"]) == (409, MOST)
    assert own_service.tenant().admin().post(KEYS, NEW).status_code == 201
    newest = admin.get(KEYS).json()["data"][0]["id"]
    assert admin.delete(f"{KEYS}/{newest}").status_code == 204
    assert admin.post(KEYS, NEW).status_code == 201


@SQLITE_FIRST
def test_a_tenant_creates_at_most_100_keys_an_hour(own_service: Service) -> None:
    own_service.clock.stop()
    tenant = own_service.tenant()
    admin = tenant.admin()
    first = tenant.make_key()
    own_service.clock.advance(60)
    for _ in range(MOST - 1):
        tenant.make_key()
    assert admin.delete(f"{KEYS}/{first.id}").status_code == 204
    refused = admin.post(KEYS, NEW)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_new_api_keys")
    assert refused.headers["retry-after"] == str(HOUR_S - 60)
    own_service.clock.advance(HOUR_S - 61)
    assert tenant.admin().post(KEYS, NEW).status_code == 429
    own_service.clock.advance(2)
    assert tenant.admin().post(KEYS, NEW).status_code == 201


@SQLITE_FIRST
def test_the_form_of_a_key_too_many_says_what_to_do(tenant: Tenant) -> None:
    _fill(tenant)
    visitor = logged_in(tenant)
    refused = visitor.submit(visitor.get(FORM).form(FORM), name="One more")
    assert (refused.status, "Revoke one that is not used" in refused.text) == (409, True)
    assert refused.form(FORM).value("name") == "One more"
