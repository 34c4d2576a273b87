"""Every filter finds a ticket or customer by what was sent, also in another spelling of it."""

from functools import partial
from urllib.parse import quote

from sealdesk import clock
from sealdesk.routes import ROUTES
from tests.support.client import Key
from tests.support.service import Tenant, wait_until

CUSTOMERS = "/api/v1/external/customers"
TICKETS = "/api/v1/external/tickets"
# Signs of URLs and of our own syntax, letters with two forms, joiners, what LIKE reads.
ODD = 'Größe "50%_" & R&D, c++ #1/a=b: Σίσυφος می\u200cخواهم 👩\u200d🚀'  # noqa: RUF001
DECOMPOSED = ODD.replace("ö", "o\u0308").upper()
EMAIL, SAME_EMAIL = "O'Brien+ü@Bücher.example", "o'brien+u\u0308@XN--BCHER-KVA.example"
_OF_PAGES = {"sort_by", "sort", "include", "per_page", "cursor"}
_LATER = "2999-01-01T00:00:00+01:00"


def _filters(path: str) -> set[str]:
    (route,) = (each for each in ROUTES if (each.method, each.path) == ("GET", path))
    return {param.name for param in route.operation.params} - _OF_PAGES


def _is_found(key: Key, path: str, name: str, value: str, wanted: str) -> bool:
    found = key.get(f"{path}?{name}={quote(value, safe='')}")
    assert found.status_code == 200, (name, found.text)
    return wanted in [each["id"] for each in found.json()["data"]]


def test_what_was_sent_finds_its_ticket(tenant: Tenant, key: Key) -> None:
    admin, agent = tenant.admin(), tenant.user("agent")
    team = admin.post("/api/v1/teams", {"name": ODD}).json()["data"]["id"]
    tomorrow = clock.iso(tenant.service.clock.now_us() + 86_400_000_000)
    policy = {"name": ODD, "counts": "calendar", "resolution_minutes": 60}
    assert admin.post("/api/v1/sla-policies", policy).status_code == 201
    ticket = key.ticket(
        customer={"email": EMAIL},
        priority="urgent",
        assignee_id=agent,
        team_id=team,
        external_id=ODD,
        tags=[ODD[:60]],
        custom_fields={"Ärger.1": ODD},
        snoozed_until=tomorrow,
    )
    key.post(f"{TICKETS}/{ticket['id']}/followers", {"user_id": agent})
    values = {
        "status": [ticket["status"]],
        "priority": ["urgent"],
        "number": [str(ticket["number"])],
        "customer_id": [ticket["customer"]["id"], ticket["customer"]["id"].upper()],
        "customer_email": [EMAIL, SAME_EMAIL],
        "assignee_id": [agent, agent.upper()],
        "team_id": [team, team.upper()],
        "follower_id": [agent, agent.upper()],
        "waiting": ["true"],
        "snoozed": ["true"],
        "tag": [ODD[:60], DECOMPOSED[:61]],
        "custom_field": [f"Ärger.1:{ODD}", f"Ärger.1:{DECOMPOSED}"],
        "external_id": [ODD],
        "created_after": [ticket["created_at"]],
        "created_before": [_LATER],
        "updated_after": [ticket["created_at"]],
        "updated_before": [_LATER],
        "due_before": [_LATER],
    }
    assert {*values} == _filters(TICKETS) - {"rating"}  # that of the customer: tests/mail/ratings
    for name, sent in values.items():
        for value in sent:
            wait_until(partial(_is_found, key, TICKETS, name, value, ticket["id"]))


def test_what_was_sent_finds_its_customer(key: Key) -> None:
    fields = {"name": ODD, "phone": "+49 (30) 123-4567", "company": ODD, "external_id": ODD}
    customer = key.customer(EMAIL, **fields)
    values = {
        "email": [EMAIL, SAME_EMAIL],
        "external_id": [ODD],
        "updated_after": [customer["updated_at"]],
        "q": [*fields.values(), EMAIL, DECOMPOSED],
    }
    assert {*values} == _filters(CUSTOMERS)
    for name, sent in values.items():
        for value in sent:
            wait_until(partial(_is_found, key, CUSTOMERS, name, value, customer["id"]))
