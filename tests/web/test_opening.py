"""Every page opens on every database."""

from sealdesk.routes import PAGES
from sealdesk.web.operation import EVENT_STREAM
from tests.support.pages import logged_in
from tests.support.service import Tenant

_OPENED = [
    route.path
    for route in PAGES
    if route.method == "GET" and route.guard.needs and route.operation.produces != EVENT_STREAM
]
# These are about something that does not exist here, or for operators.
_REFUSED = {
    "/customers/{id}/erasure": 404,
    "/settings/email/callback": 409,
    "/settings/installation": 403,
    "/settings/tags/rename": 404,
    "/tickets/{id}/macro/{macro_id}": 404,
    "/tickets/{id}/notes/{note_id}": 404,
}


def test_every_page_opens(tenant: Tenant) -> None:
    key, visitor = tenant.key(), logged_in(tenant)
    ticket = key.ticket(tags=["kiln"])
    key.post(f"/api/v1/external/tickets/{ticket['id']}/replies", {"body": "Hello"})
    ids = {"/tickets/{": ticket["id"], "/customers/{": ticket["customer"]["id"]}
    found = {}
    for path in _OPENED:
        before, name, after = path.partition("{")
        if name and before + name not in ids:
            continue
        shown = f"{before}{ids[before + name]}{after.partition('}')[2]}" if name else path
        found[path] = visitor.once("GET", shown).status_code
    assert len(found) >= 40
    assert {path: code for path, code in found.items() if code not in (200, 303)} == _REFUSED
