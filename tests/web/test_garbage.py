"""What a request leaves behind."""

import gc

from sealdesk.web.request import Request
from tests.support.service import Service


def test_requests_are_freed_without_the_garbage_collector(service: Service) -> None:
    """Otherwise their bodies stay in memory until it runs, and it has more to visit."""
    key = service.tenant().key()
    ticket = {"subject": "s", "description": "d", "customer": {"email": "a@example.com"}}
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            assert key.post("/api/v1/external/tickets", ticket).status_code == 201
            assert key.get("/api/v1/external/tickets").status_code == 200
        kept = [each for each in gc.get_objects() if type(each) is Request]
    finally:
        gc.enable()
    assert len(kept) < 10
