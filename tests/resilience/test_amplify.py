"""What one request can cost, in the short form: every route has an attack, some are made."""

from sealdesk.routes import PAGES, ROUTES
from tests.resilience.amplify import Attacker, Client, measure
from tests.resilience.hostile_requests import ALL_ROUTES, MEBIBYTE, hostile_requests
from tests.resilience.large_tenant import FEW
from tests.support.service import Service, Tenant

_SOME = {
    "POST /api/v1/external/tickets": ("deep arrays", "many values", "largest values"),
    "POST /api/v1/auth/login": ("many values", "escapes"),
    "GET /api/v1/external/events": ("largest page",),
    "GET /tickets/{id}": ("largest answer",),
    "POST /settings/api-keys/debug": (
        "target: '.'",
        "signature: '\"'",
        "body: '\"'",
        "every field",
    ),
    "POST /settings/macros/new": ("tags: '\"'",),
}


def test_every_route_is_attacked() -> None:
    names = {(route.method, route.path): [*hostile_requests(route)] for route in ALL_ROUTES}
    assert len(names) == len(ROUTES) + len(PAGES)
    assert min(map(len, names.values())) > 0
    with_body = [route for route in ALL_ROUTES if route.operation.takes is not None]
    assert all(len(names[route.method, route.path]) > 20 for route in with_body)


def test_the_worst_requests_get_a_clean_answer(service: Service, tenant: Tenant) -> None:
    attacker, client = Attacker(tenant, FEW), Client(service)
    costs = {}
    for route in ALL_ROUTES:
        wanted = _SOME.get(f"{route.method} {route.path}", ())
        for request in hostile_requests(route):
            if request.name in wanted:
                costs[request.name] = measure(attacker, client, request)
    assert len(costs) == len({name for names in _SOME.values() for name in names})
    assert {name: cost.status for name, cost in costs.items() if cost.status not in _CLEAN} == {}
    # A refused form shows the beginning of what was sent.
    assert {name for name, cost in costs.items() if cost.answer_bytes > MEBIBYTE} == set()


_CLEAN = (200, 201, 400, 401, 413, 422)
