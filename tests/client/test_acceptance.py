"""The service accepts whatever the client signs: every method, path byte and body."""

import asyncio
import random
import string
import threading
import time
from collections.abc import Callable, Iterator

import aiohttp
import httpx
import pytest
import requests
from requests.auth import AuthBase

from sealdesk.client import Desk, RetryPolicy
from sealdesk.client.signing import Signer
from tests.support.client import Key
from tests.support.service import Tenant

# Unreserved, reserved and escaped characters, and those that httpx would encode (RFC 3986).
_CHARACTERS = [*string.ascii_letters, *string.digits, *"-._~!$&'()*+,;=:@/?%\"<>\\^`{|}[]"]
_ESCAPES = [f"%{byte:02{case}}" for byte in range(256) for case in "xX"]
_METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS")
_TICKETS = "/api/v1/external/tickets"
_QUERIES = [
    "cursor=a%2Bb%2F%3D%3D", "tag=%2f%3a", "tag=a%20b", "tag=a+b", "br[]=1", "tag='", "", "&&",
    "tag=%c3%A9", "tag=a&tag=b", "x=//%2e%2E/../", "tag=~*-._!()", "%74ag=a",
]  # fmt: skip


def random_target(draw: random.Random) -> str:
    """A path with every byte that a URL may hold."""
    letters = draw.choices(_CHARACTERS + _ESCAPES, k=draw.randrange(1, 60))
    return draw.choice((_TICKETS + "/", _TICKETS + "?", "/api/v1/external/")) + "".join(letters)


def refusals_of(desk: Desk, seed: int, count: int) -> Iterator[tuple[str, str, int, str]]:
    """Send random requests; yield those whose signature was refused."""
    draw = random.Random(seed)
    for _ in range(count):
        method, target = draw.choice(_METHODS), random_target(draw)
        body = draw.randbytes(draw.choice((0, 0, 1, 30, 3000))) if method != "HEAD" else b""
        # Bodies are not JSON: nothing is stored, and the signature is checked before.
        response = desk.request(method, target, body)
        code = response.json().get("code", "") if response.content else ""
        if response.status_code == 401 or code in ("malformed_request", "internal_error"):
            yield method, target, response.status_code, code


def test_random_requests_are_accepted(desk: Desk) -> None:
    assert list(refusals_of(desk, seed=1, count=300)) == []
    for target in (f"{_TICKETS}?", f"{_TICKETS}/a>?", f"{_TICKETS}/a?>?"):
        assert desk.request("GET", target).status_code != 401, target


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_100_000_random_requests_are_accepted(
    tenant: Tenant, make_desk: Callable[..., Desk]
) -> None:
    # A tenant each, as all keys of a tenant share its limit; the rest is waited for.
    found: list[tuple[str, str, int, str]] = []

    def work(desk: Desk, seed: int) -> None:
        found.extend(refusals_of(desk, seed, 25_000))

    tenants = [tenant, *(tenant.service.tenant() for _ in range(3))]
    threads = [
        threading.Thread(target=work, args=(_waiting(each, make_desk), seed))
        for seed, each in enumerate(tenants)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == []


def _waiting(tenant: Tenant, make_desk: Callable[..., Desk]) -> Desk:
    return make_desk(tenant.key(), retry=RetryPolicy(retries=20), sleep=time.sleep)


class _Signed(AuthBase):
    """Signs what requests will send."""

    def __init__(self, key: Key) -> None:
        self._signer = Signer(key.api_key, key.api_secret)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        body = request.body or b""
        sent = body if isinstance(body, bytes) else str(body).encode()
        headers = self._signer.sign(str(request.method), request.path_url.encode(), sent)
        request.headers.update(headers or {})
        return request


def test_what_requests_sends_is_accepted(key: Key) -> None:
    with requests.Session() as session:
        session.auth = _Signed(key)
        for query in _QUERIES:
            response = session.get(f"{key.service.url}{_TICKETS}?{query}", timeout=120)
            assert response.status_code != 401, (query, response.text)
        found = session.get(
            f"{key.service.url}{_TICKETS}", params={"tag": "a b/ü+é:'"}, timeout=120
        )
        body = {"email": "é@example.test", "name": "É / \\u"}
        url = f"{key.service.url}/api/v1/external/customers"
        made = session.post(url, json=body, timeout=120)
    assert (found.status_code, made.status_code) == (200, 201)


def test_what_httpx_sends_is_accepted(desk: Desk, key: Key) -> None:
    auth = desk._session.auth
    with httpx.Client(base_url=key.service.url, auth=auth, timeout=60) as http:
        for query in _QUERIES:
            response = http.get(f"{_TICKETS}?{query}")
            assert response.status_code != 401, (query, response.text)
        assert http.get(f"{_TICKETS}?a=1", params={"tag": "ü b"}).status_code == 200


def test_what_aiohttp_sends_is_accepted(key: Key) -> None:
    signer = Signer(key.api_key, key.api_secret)

    async def sign(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        target = request.url.raw_path_qs.encode()
        request.headers.update(signer.sign(request.method, target, b"") or {})
        return await handler(request)

    async def statuses() -> dict[str, int]:
        async with aiohttp.ClientSession(key.service.url, middlewares=[sign]) as session:
            found = {}
            for query in _QUERIES:
                async with session.get(f"{_TICKETS}?{query}") as response:
                    found[query] = response.status
            async with session.get(_TICKETS, params={"tag": "a b/ü+é:'"}) as response:
                found["params"] = response.status
        return found

    found = asyncio.run(statuses())
    assert {query for query, status in found.items() if status == 401} == set()
    assert found["params"] == 200
