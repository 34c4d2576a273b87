"""Interface section 9: versioning."""

from sealdesk.routes import ROUTES
from tests.support.client import Key

# What serves operators and browsers is no endpoint of the API.
NOT_API = ("/healthz", "/readyz", "/metrics", "/openapi", "/docs", "/llms", "/attachments")


def test_9_all_endpoints_have_the_path_prefix_api_v1() -> None:
    others = {route.path for route in ROUTES if not route.path.startswith("/api/v1/")}
    assert [path for path in others if not path.startswith(NOT_API)] == []


def test_9_an_endpoint_is_not_found_without_its_version(key: Key) -> None:
    assert key.get("/api/external/tickets").status_code == 404
