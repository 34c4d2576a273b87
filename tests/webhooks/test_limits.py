"""The limit of endpoints per tenant, also under concurrent requests."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support.client import Person
from tests.support.receiver import LOOPBACK, Receiver
from tests.support.service import Service
from tests.webhooks.factories import WEBHOOKS, made

MOST = 50


def test_of_60_concurrently_created_endpoints_50_exist(
    start_nodes: Callable[..., list[Service]], receiver: Receiver
) -> None:
    nodes = start_nodes(**LOOPBACK)
    tenant = nodes[0].tenant()
    token = tenant.admin().token
    new = {"url": receiver.url, "events": ["ticket.created"]}

    def make(number: int) -> tuple[int, str | None]:
        answer = Person(nodes[number % len(nodes)], token).post(WEBHOOKS, new)
        return answer.status_code, answer.json().get("code")

    with ThreadPoolExecutor(16) as pool:
        made_at_once = Counter(pool.map(make, range(60)))
    assert made_at_once == {(201, None): MOST, (409, "too_many_webhooks"): 10}
    listed = Person(nodes[0], token).get(f"{WEBHOOKS}?per_page=100").json()["data"]
    assert len(listed) == MOST


def test_a_deleted_endpoint_makes_room_in_its_own_tenant(
    service: Service, receiver: Receiver
) -> None:
    admin, other = service.tenant().admin(), service.tenant().admin()
    paths = [f"{WEBHOOKS}/{made(admin, receiver)['id']}" for _ in range(MOST)]
    new = {"url": receiver.url, "events": ["ticket.created"]}
    refused = admin.post(WEBHOOKS, new)
    assert (refused.status_code, refused.json()["limit"]) == (409, MOST)
    made(other, receiver)
    admin.delete(paths[7])
    made(admin, receiver)
    assert admin.post(WEBHOOKS, new).status_code == 409
