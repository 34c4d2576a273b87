"""What works in a copy to which the recipes were applied; `test_adding.py` runs it there."""

import msgspec

from sealdesk.routes import ROUTES
from sealdesk.settings import from_env
from tests.support.databases import SQLITE_ONLY
from tests.support.pages import logged_in
from tests.support.service import Service

pytestmark = SQLITE_ONLY


def test_a_recipe_works(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    ticket = key.ticket(topic="glaze", tags=["refund"])
    changed = key.patch(f"/api/v1/external/tickets/{ticket['id']}", {"topic": "cracks"})
    assert (ticket["topic"], changed.json()["data"]["topic"]) == ("glaze", "cracks")
    tag = key.get("/api/v1/external/tags/refund").json()["data"]
    assert tag == {"tag": "refund", "ticket_count": 1}
    assert "/api/v1/external/tags/{tag}" in {route.path for route in ROUTES}
    visitor = logged_in(tenant)
    assert "glaze → cracks" in visitor.get(f"/tickets/{ticket['id']}/history").text
    assert "/settings/topics" in visitor.get("/settings/tags").links
    assert "shipping" in visitor.get("/settings/topics").text
    settings = msgspec.structs.asdict(from_env({"SEALDESK_TOPICS": "12"}, needs_keys=False))
    assert settings["topics"] == 12
