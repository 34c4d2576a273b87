"""Every response to one caller forbids shared caches to keep it, and says what it depends on."""

from collections.abc import Iterator

import httpx

from sealdesk.routes import PAGES, ROUTES
from sealdesk.web.operation import Route
from tests.support.client import Key, Person, send
from tests.support.page_security import path_of
from tests.support.pages import logged_in
from tests.support.service import Service, Tenant

# The headers come from the route, and from no row.
TICKETS = "/api/v1/external/tickets"
VARY = {
    "hmac": "x-api-key",
    "jwt": "authorization, x-tenant-id",
    "session": "cookie, accept-language",
}
PUBLIC = ("/docs", "/llms", "/openapi", "/assets/")


def assert_private(route: Route, response: httpx.Response) -> None:
    """Check the headers of a response of a route that authenticates its callers."""
    keeping = "no-cache" if "etag" in response.headers else "no-store"
    found = response.headers.get_list("cache-control"), response.headers.get_list("vary")
    expected = [f"private, {keeping}"], [VARY[route.guard.scheme]]
    assert found == expected, f"{route.method} {route.path}: {response.status_code}"


def methods(route: Route) -> Iterator[str]:
    yield route.method
    if route.method == "GET":
        yield "HEAD"


def of_scheme(scheme: str) -> list[Route]:
    # A stream has no end; tests/tickets/live looks at its headers.
    return [
        route
        for route in (*ROUTES, *PAGES)
        if route.guard.scheme == scheme and route.operation.produces != "text/event-stream"
    ]


def test_every_guard_that_authenticates_is_tested_here() -> None:
    assert {route.guard.scheme for route in (*ROUTES, *PAGES)} == {*VARY, "none"}


def test_signed_routes_are_private_for_every_caller(
    service: Service, tenant: Tenant, key: Key
) -> None:
    powerless = tenant.key(permissions=[])
    for route in of_scheme("hmac"):
        for method in methods(route):
            assert_private(route, send(service, method, path_of(route), b"", {}))
            for caller in (key, powerless):
                assert_private(route, caller.call(method, path_of(route)))


def test_routes_of_the_management_api_are_private_for_every_caller(tenant: Tenant) -> None:
    people = Person(tenant.service, ""), tenant.log_in("agent"), tenant.admin()
    for route in of_scheme("jwt"):
        for method in methods(route):
            for person in people:
                assert_private(route, person.call(method, path_of(route)))


def test_pages_are_private_for_every_visitor(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    for route in of_scheme("session"):
        for method in methods(route):
            assert_private(route, send(tenant.service, method, path_of(route), b"", {}))
            # A page that is only read is the same for whatever site links to it.
            for site in ("cross-site", "same-origin") if method == "POST" else ("same-origin",):
                own = visitor.once(method, path_of(route), sec_fetch_site=site)
                assert_private(route, own)


def test_what_has_an_etag_must_be_revalidated_and_so_must_its_304(key: Key) -> None:
    (one,) = [r for r in ROUTES if (r.method, r.path) == ("GET", f"{TICKETS}/{{id}}")]
    path = f"{TICKETS}/{key.ticket()['id']}"
    for response in (key.get(path), key.call("HEAD", path), key.get(path, if_none_match="*")):
        assert "etag" in response.headers
        assert_private(one, response)
    assert response.status_code == 304


def test_a_created_resource_and_its_replayed_response_are_private(key: Key) -> None:
    (create,) = [r for r in ROUTES if (r.method, r.path) == ("POST", TICKETS)]
    new = {"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}
    for _ in ("first", "again"):
        response = key.post(TICKETS, new, idempotency_key="one")
        assert response.status_code == 201
        assert_private(create, response)
    assert response.headers["idempotent-replayed"] == "true"


def test_what_is_not_found_and_what_has_no_guard_is_not_stored(service: Service) -> None:
    kept = [r.path for r in of_scheme("none") if not r.path.startswith(PUBLIC)]
    for path in (*kept, "/nowhere", "/api/v1/nowhere"):
        for method in ("GET", "HEAD", "PUT"):
            response = send(service, method, path, b"", {})
            assert response.headers["cache-control"] == "private, no-store", path


def test_static_files_and_the_reference_keep_their_caching(service: Service) -> None:
    public = [r.path for r in of_scheme("none") if r.path.startswith(PUBLIC)]
    pages = [path for path in public if "{page}" not in path]
    assert len(public) == 30
    for path in (*pages, "/docs/start", "/docs/api/signing.md", "/docs/assets/site.css"):
        response = send(service, "GET", path, b"", {})
        assert response.status_code == 200
        has_one_form = path.startswith("/assets/") and not path.endswith((".css", ".js"))
        vary = None if has_one_form else "accept-encoding"
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers.get("vary") == vary, path
