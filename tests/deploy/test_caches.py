"""Behind caches that store whatever they may, each caller still gets only their own responses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sealdesk.web import assets
from tests.servers import Nginx, Varnish, free_port
from tests.support.client import Key
from tests.support.pages import INBOX, logged_in
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
KEYS = "/api/v1/api-keys"
_NGINX = """
proxy_cache_path {directory}/stored keys_zone=responses:1m use_temp_path=off;
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass http://127.0.0.1:{service};
        proxy_cache responses;
        proxy_cache_valid any 10m;
    }}
}}
"""


@contextmanager
def started(kind: str, directory: Path, service: int) -> Iterator[int]:
    """The port of a cache in front of a service, which has only its default rules."""
    place = directory / f"{kind}-cache"
    if kind == "varnish":
        varnish = Varnish.start(place, service)
        yield varnish.port
        varnish.kill()
    else:
        port = free_port()
        nginx = Nginx.start(place, _NGINX.format(directory=directory, port=port, service=service))
        yield port
        nginx.kill()


@pytest.fixture(scope="module", params=["varnish", "nginx"])
def port(request: pytest.FixtureRequest, directory: Path, served: Service) -> Iterator[int]:
    with started(request.param, directory, served.port) as port:
        yield port


@pytest.fixture
def cache(port: int) -> Iterator[httpx.Client]:
    """A client of the service behind the cache; with a cookie, Varnish would store nothing."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        yield client


@pytest.fixture
def one(served: Service) -> Tenant:
    return served.tenant("One")


@pytest.fixture
def two(served: Service) -> Tenant:
    return served.tenant("Two")


def signed(key: Key, path: str) -> dict[str, str]:
    return key.signature_headers("GET", path)


def code(response: httpx.Response) -> str:
    return str(response.json()["code"])


def test_the_cache_stores_what_it_may(cache: httpx.Client) -> None:
    path = assets.address("desk.css")
    ids = {cache.get(path).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 1


def test_a_list_is_given_to_no_other_tenant_and_to_nobody(
    cache: httpx.Client, one: Tenant, two: Tenant
) -> None:
    mine, theirs = one.key(), two.key()
    expected = {key: [key.ticket()["id"]] for key in (mine, theirs)}
    for key in (mine, mine, theirs, mine):
        listed = cache.get(TICKETS, headers=signed(key, TICKETS)).json()["data"]
        assert [ticket["id"] for ticket in listed] == expected[key]
        assert code(cache.get(TICKETS)) == "missing_credentials"


def test_the_same_headers_are_checked_each_time(cache: httpx.Client, one: Tenant) -> None:
    key = one.key()
    headers = signed(key, TICKETS)
    assert cache.get(TICKETS, headers=headers).status_code == 200
    forged = headers | {"x-api-signature": "0" * 64}
    assert code(cache.get(TICKETS, headers=forged)) == "invalid_signature"
    assert cache.get(TICKETS, headers=headers).status_code == 200
    one.admin().delete(f"{KEYS}/{key.id}")
    assert code(cache.get(TICKETS, headers=headers)) == "api_key_revoked"


def test_a_resource_with_an_etag_is_checked_each_time(
    cache: httpx.Client, one: Tenant, two: Tenant
) -> None:
    key = one.key()
    path = f"{TICKETS}/{key.ticket()['id']}"
    answer = cache.get(path, headers=signed(key, path))
    known = {"if-none-match": answer.headers["etag"]}
    # With a cache, nginx does not pass the condition on.
    assert cache.get(path, headers=signed(key, path) | known).status_code in (200, 304)
    forged = {"x-api-signature": "0" * 64}
    assert code(cache.get(path, headers=signed(key, path) | known | forged)) == "invalid_signature"
    assert code(cache.get(path, headers=known)) == "missing_credentials"
    assert code(cache.get(path, headers=signed(two.key(), path) | known)) == "not_found"


def test_what_one_tenant_does_not_find_another_does(
    cache: httpx.Client, one: Tenant, two: Tenant
) -> None:
    mine, theirs = one.key(), two.key()
    path = f"{TICKETS}/{theirs.ticket()['id']}"
    assert code(cache.get(path, headers=signed(mine, path))) == "not_found"
    assert cache.get(path, headers=signed(theirs, path)).status_code == 200


def test_lists_of_the_management_api_belong_to_their_administrator(
    cache: httpx.Client, one: Tenant, two: Tenant
) -> None:
    expected = [one.key().id], [two.key().id]
    for tenant, ids in zip((one, two), expected, strict=True):
        bearer = {"authorization": f"Bearer {tenant.admin().token}"}
        listed = cache.get(KEYS, headers=bearer).json()["data"]
        assert [key["id"] for key in listed] == ids
        assert code(cache.get(KEYS)) == "jwt_required"


def test_a_page_is_shown_to_its_user_only(cache: httpx.Client, one: Tenant, two: Tenant) -> None:
    for tenant in (one, two):
        cookies = logged_in(tenant).cookies
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        assert tenant.admin_email in cache.get(INBOX, headers=headers).text
        assert cache.get(INBOX).status_code == 303
