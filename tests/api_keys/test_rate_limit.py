"""The rate limit of a key, as clients see it (spec decision 5)."""

from collections.abc import Callable

import httpx
import pytest

from tests.servers import free_port, run_redis_url
from tests.support.client import Key
from tests.support.service import Service

TICKETS = "/api/v1/external/tickets"
WHOAMI = "/api/v1/external/whoami"
WRONG = "0" * 64


@pytest.fixture
def still(own_service: Service) -> Service:
    """A service whose clock stands still until it is advanced."""
    own_service.clock.stop()
    return own_service


def accepted(key: Key, count: int) -> int:
    """How many of `count` requests are within the rate limit."""
    return sum(key.get(WHOAMI).status_code != 429 for _ in range(count))


def test_the_whole_limit_can_be_used_at_once_and_no_more(still: Service) -> None:
    assert accepted(still.tenant().key(rate_limit=30), 40) == 30


def test_the_limit_refills_evenly_over_a_minute(still: Service) -> None:
    key = still.tenant().key(rate_limit=60)
    accepted(key, 60)
    still.clock.advance(10)
    assert accepted(key, 20) == 10


def test_an_unused_minute_is_not_saved_up(still: Service) -> None:
    key = still.tenant().key(rate_limit=10)
    still.clock.advance(3600)
    assert accepted(key, 20) == 10


def test_each_key_has_its_own_rate_limit(still: Service) -> None:
    tenant = still.tenant()
    one, other = tenant.key(rate_limit=2), tenant.key(rate_limit=2)
    accepted(one, 3)
    assert accepted(other, 3) == 2


def test_over_the_limit_the_response_has_retry_after(still: Service) -> None:
    key = still.tenant().key(rate_limit=4)
    accepted(key, 4)
    response = key.get(WHOAMI)
    assert response.status_code == 429
    assert response.json()["code"] == "rate_limit_exceeded"
    assert response.headers["retry-after"] == "15"
    still.clock.advance(14)
    assert key.get(WHOAMI).headers["retry-after"] == "1"
    still.clock.advance(1)
    assert key.get(WHOAMI).status_code == 200


def test_a_key_may_make_1000_requests_a_minute_by_default(start: Callable[..., Service]) -> None:
    response = start(SEALDESK_TENANT_LIMIT="30000").tenant().key(rate_limit=None).get(WHOAMI)
    assert response.headers["ratelimit-policy"] == '"key";q=1000;w=60, "tenant";q=5000;w=10'


def reported(response: httpx.Response) -> dict[str, str]:
    """The headers about the key's limit; the key's policy comes first."""
    names = ("ratelimit-policy", "ratelimit", "x-ratelimit-limit", "x-ratelimit-remaining")
    return {name: response.headers[name].partition(",")[0] for name in names}


def test_every_authenticated_response_has_rate_limit_headers(still: Service) -> None:
    tenant = still.tenant()
    key, blind = tenant.key(rate_limit=60), tenant.key(rate_limit=60, permissions=[])
    responses = [key.get(WHOAMI), key.get(f"{TICKETS}/none"), key.post(TICKETS, {})]
    responses.append(key.call("POST", TICKETS, content=b"{"))
    for place, response in enumerate(
        [*responses, *(key.get(WHOAMI) for _ in range(56)), key.get(WHOAMI)]
    ):
        left = max(0, 59 - place)
        used_s = min(60, place + 1)
        assert reported(response) == {
            "ratelimit-policy": '"key";q=60;w=60',
            "ratelimit": f'"key";r={left};t={used_s}',
            "x-ratelimit-limit": "60",
            "x-ratelimit-remaining": str(left),
        }
    assert response.status_code == 429
    assert reported(blind.get(TICKETS))["ratelimit"] == '"key";r=59;t=1'


def test_reset_is_the_epoch_second_at_which_the_limit_is_full(still: Service) -> None:
    still.clock.stop_at(2_000_000_000)
    key = still.tenant().key(rate_limit=6)
    key.get(WHOAMI)
    assert key.get(WHOAMI).headers["x-ratelimit-reset"] == "2000000020"


def test_a_401_does_not_count_against_the_limit(still: Service) -> None:
    tenant = still.tenant()
    key = tenant.key(rate_limit=2, replay_protection="writes")
    assert key.post("/api/v1/external/customers", {"email": "a@example.test"}).status_code == 201
    replay = key.post("/api/v1/external/customers", {"email": "a@example.test"})
    assert replay.json()["code"] == "signature_replayed"
    for _ in range(5):
        assert key.get(WHOAMI, x_api_signature=WRONG).status_code == 401
    assert accepted(key, 3) == 1


def test_a_403_for_a_permission_counts_against_the_limit(still: Service) -> None:
    key = still.tenant().key(rate_limit=2, permissions=[])
    assert [key.get(TICKETS).status_code for _ in range(3)] == [403, 403, 429]


def test_a_changed_limit_applies_to_the_next_request(still: Service) -> None:
    tenant = still.tenant()
    key, admin = tenant.key(rate_limit=2), tenant.admin()
    accepted(key, 3)
    admin.patch(f"/api/v1/api-keys/{key.id}", {"rate_limit": 60})
    raised = key.get(WHOAMI)
    assert raised.headers["x-ratelimit-limit"] == "60"
    still.clock.advance(1)
    assert key.get(WHOAMI).status_code == 200
    admin.patch(f"/api/v1/api-keys/{key.id}", {"rate_limit": 1})
    lowered = key.get(WHOAMI)
    assert lowered.headers["x-ratelimit-limit"] == "1"
    assert lowered.status_code == 429


def test_a_lowered_limit_blocks_for_at_most_a_minute(still: Service) -> None:
    tenant = still.tenant()
    key, admin = tenant.key(rate_limit=60), tenant.admin()
    accepted(key, 60)
    admin.patch(f"/api/v1/api-keys/{key.id}", {"rate_limit": 1})
    assert int(key.get(WHOAMI).headers["retry-after"]) <= 60


def test_a_limit_in_redis_is_the_same_to_its_callers(start: Callable[..., Service]) -> None:
    # 15 s a request: none comes back while the test runs.
    key = start(SEALDESK_REDIS_URL=run_redis_url()).tenant().key(rate_limit=4)
    first = key.get(WHOAMI)
    assert reported(first)["ratelimit"] == '"key";r=3;t=15'
    assert first.json()["data"]["rate_limit"]["remaining"] == 3
    assert accepted(key, 6) == 3
    refused = key.get(WHOAMI)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limit_exceeded")
    assert 10 <= int(refused.headers["retry-after"]) <= 15


def test_without_redis_each_process_allows_its_share(start: Callable[..., Service]) -> None:
    service = start(
        SEALDESK_REDIS_URL=f"redis://127.0.0.1:{free_port()}", SEALDESK_EXPECTED_PROCESSES="3"
    )
    service.clock.stop()
    assert accepted(service.tenant().key(rate_limit=30), 40) == 10
