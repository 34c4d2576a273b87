"""The endpoints for time, health, readiness and metrics."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tests.servers import free_port, run_redis_url
from tests.support.client import Person
from tests.support.service import Service, wait_until

TOKEN = "a token of the metrics"


@pytest.fixture
def anybody(service: Service) -> Person:
    return Person(service, "")


def test_the_time_endpoint_is_public_and_has_both_formats(
    service: Service, anybody: Person
) -> None:
    before_s = service.clock.now_us() // 1_000_000
    response = anybody.get("/api/v1/time")
    told = response.json()["data"]
    assert (response.status_code, told.keys()) == (200, {"unix", "iso"})
    assert before_s <= told["unix"] <= service.clock.now_us() // 1_000_000
    moment = datetime.strptime(told["iso"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert int(moment.timestamp()) == told["unix"]


def test_a_running_service_is_alive_and_ready(own_service: Service) -> None:
    anybody = Person(own_service, "")
    alive, ready = anybody.get("/healthz"), anybody.get("/readyz")
    assert (alive.status_code, alive.json()) == (200, {"data": {"status": "ok"}})
    told = {"status": "ok", "reads": "ok", "writes": "ok", "rate_limit": "per_process"}
    assert (ready.status_code, ready.json()) == (200, {"data": told})


def test_rate_limits_in_redis_are_reported_as_shared(start: Callable[..., Service]) -> None:
    anybody = Person(start(SEALDESK_REDIS_URL=run_redis_url()), "")
    # Limits are local meanwhile if Redis answers late, as on a slow machine.
    wait_until(lambda: anybody.get("/readyz").json()["data"]["rate_limit"] == "shared")
    wait_until(lambda: "sealdesk_rate_limit_shared 1.0" in anybody.get("/metrics").text)


def test_a_service_without_redis_is_ready_and_reports_local_limits(
    start: Callable[..., Service],
) -> None:
    anybody = Person(start(SEALDESK_REDIS_URL=f"redis://127.0.0.1:{free_port()}"), "")
    ready = anybody.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["data"]["rate_limit"] == "local"
    metrics = anybody.get("/metrics").text.splitlines()
    assert "sealdesk_rate_limit_shared 0.0" in metrics
    assert "sealdesk_rate_limit_fallbacks_total 1.0" in metrics


def test_metrics_of_a_single_process_have_no_shared_rate_limit(anybody: Person) -> None:
    assert "rate_limit" not in anybody.get("/metrics").text


def test_a_draining_service_is_alive_and_not_ready(own_service: Service) -> None:
    anybody = Person(own_service, "")
    own_service.state.lifetime.is_draining = True
    refused = anybody.get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert int(refused.headers["retry-after"]) >= 1
    assert anybody.get("/healthz").status_code == 200


def test_metrics_are_shown_to_requests_from_the_same_machine(anybody: Person) -> None:
    response = anybody.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host"]
)
def test_metrics_are_not_shown_to_forwarded_requests(anybody: Person, header: str) -> None:
    response = anybody.call("GET", "/metrics", headers={header: "127.0.0.1"})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_metrics_behind_a_token_need_it(start: Callable[..., Service]) -> None:
    service = start(SEALDESK_METRICS_TOKEN=TOKEN)
    given = [Person(service, token).get("/metrics").status_code for token in (TOKEN, "", "x")]
    assert given == [200, 404, 404]
    forwarded = Person(service, TOKEN).get("/metrics", x_forwarded_for="192.0.2.7")
    assert forwarded.status_code == 200
