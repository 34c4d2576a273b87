"""A desk of which every text is hostile, and the addresses of all its pages."""

import json
from typing import Any
from urllib.parse import quote

from sealdesk import ids
from sealdesk.api_keys import usage
from sealdesk.db.engine import Tx
from sealdesk.routes import PAGES
from tests.support.client import Key, Person
from tests.support.receiver import Receiver
from tests.support.service import Tenant

# Reads as a page, and is none: a line of one, a file to keep, and what pages are made of.
PIECES = (
    "/tickets/arrived", "/tickets/{id}/answering", "/settings/audit/export",
    "/assets/desk.css", "/assets/desk.js", "/assets/icon.svg",
)  # fmt: skip
# Short enough for a name; each ends what it may stand in, and none hides another.
TEXTS = (
    "\"><script>alert(1)</script><img src=x onerror=alert(2)>' autofocus onfocus='alert(3)",
    "</title></textarea></pre></select><svg onload=alert(4)>javascript:alert(5){{7919*7907}}%s",
    "=cmd|' /C calc'!A0 https://x.test/\"onclick=\"x \u202egnp \u2066\u2028\x1b[31m\x7f ]]> <!--",
)  # fmt: skip
_LONG = (
    '<a href="javascript:alert(7)">x</a> [x](javascript:alert(8)) <iframe srcdoc="<script>'
    'alert(9)</script>"></iframe> https://x.test/<img/src=x/onerror=alert(10)> @SUM(1) {0} &lt;'
)
_TICKETS = "/api/v1/external/tickets"
# What rules refuse stands there all the same, as if a rule had failed.
_FORCED = {
    ("customers", "id"): "email = :text || id",
    ("users", "id"): "name = :text",
    ("endpoints", "id"): "url = :text",
    ("audit", "id"): "actor_name = :text, address = :text, details = :json",
    ("refusals", "id"): "method = :text, target = :text, timestamp = :text",
    ("attempts", "delivery_id"): "url = :text, answer_body = :text, request_headers = :json",
}


def hostile_desk(tenant: Tenant, receiver: Receiver) -> list[list[str]]:
    """Put every text into every field; the pages that show it, by text, each page once."""
    service, admin = tenant.service, tenant.admin()
    places = [_one(tenant, admin, receiver, text) for text in TEXTS]
    service.in_serving(usage.write_down)
    service.write(lambda tx: _force(tx, tenant.id))
    seen = {"/"}
    found = []
    for place in places:
        paths = [path for path in page_paths(place) if path not in seen]
        seen |= {*paths}
        found.append(paths)
    return found


def page_paths(place: dict[str, str]) -> list[str]:
    """All pages of the table of routes that are fetched, of what is at this place."""
    paths = [row.path for row in PAGES if row.method == "GET" and row.path not in PIECES]
    for start, found in place.items():
        paths = [path.replace(f"{start}/{{id}}", f"{start}/{found}") for path in paths]
    paths = [path.replace("{delivery_id}", place["delivery"]) for path in paths]
    assert not [path for path in paths if "{" in path], "a page without an id for it"
    return [*paths, *(f"{path}{query}" for path, query in _asked(place))]


def _asked(place: dict[str, str]) -> list[tuple[str, str]]:
    text = quote(place["text"], safe="")
    return [
        ("/tickets", f"?status=all&tag={text[:64]}&customer={text}&q={text}"),
        ("/tickets", "?status=all"),
        ("/customers", f"?email={text}&q={text}"),
        ("/settings/audit", f"?action={text}&actor={text}"),
        ("/settings/api-keys/debug", f"?key={place['/settings/api-keys']}"),
        ("/reset", f"?token={text}&next={text}"),
    ]


def _one(tenant: Tenant, admin: Person, receiver: Receiver, text: str) -> dict[str, str]:
    """A thing of each kind with this text, and where it is."""
    key = tenant.key(name=text[:100])
    user = tenant.user("agent", name=text[:100])
    ticket = _ticket(key, user, text)
    _refuse(key, text)
    receiver.answers(500, text.encode(), {"content-type": "text/html"})
    new = {"url": receiver.url, "events": ["ticket.created"], "description": text}
    webhook = admin.post("/api/v1/webhooks", new).json()["data"]["id"]
    delivery = admin.post(f"/api/v1/webhooks/{webhook}/test").json()["data"]["id"]
    admin.patch(f"/api/v1/webhooks/{webhook}", {"is_active": False})
    tenant.service.write(lambda tx: _answering(tx, tenant, ticket["id"], text))
    return {
        "text": text,
        "/tickets": ticket["id"],
        "/customers": ticket["customer"]["id"],
        "/settings/people": user,
        "/settings/api-keys": key.id,
        "/settings/webhooks": webhook,
        "delivery": delivery,
    }


def _ticket(key: Key, user: str, text: str) -> dict[str, Any]:
    """A ticket, its customer, replies and changes, all in these words."""
    unique = f"c{ids.mint(0)}@example.test"
    fields = {"phone": text[:64], "company": text, "external_id": text, "metadata": {text: text}}
    key.customer(unique, name=text, **fields)
    ticket = key.ticket(
        subject=text, description=text + _LONG, tags=[text[:64]], external_id=text,
        customer={"email": unique}, custom_fields={text: text}, assignee_id=user,
    )  # fmt: skip
    at = f"{_TICKETS}/{ticket['id']}"
    for is_internal in (False, True):
        reply = {"body": text + _LONG, "is_internal": is_internal}
        assert key.post(f"{at}/replies", reply).status_code == 201
    changed = {"subject": f"{text} ", "tags": [text[1:65]], "status": "pending"}
    assert key.patch(at, changed).status_code == 200
    return ticket


def _refuse(key: Key, text: str) -> None:
    """Requests whose signature is wrong, with a target as raw as HTTP takes it."""
    raw = "".join(letter for letter in text if "!" <= letter <= "~" and letter != "#")
    for target in (raw, quote(text)):
        key.get(f"{_TICKETS}?tag={target}", x_api_signature="0" * 64)


async def _answering(tx: Tx, tenant: Tenant, ticket_id: str, text: str) -> None:
    columns = "tenant_id, ticket_id, user_id, user_name, seen_at"
    await tx.run(
        f"INSERT INTO answering ({columns}) VALUES (:tenant, :ticket, :user, :text, :now)",
        {
            "tenant": tenant.id, "ticket": ticket_id, "user": ids.mint(0), "text": text,
            "now": tenant.service.clock.now_us(),
        },
    )  # fmt: skip


async def _force(tx: Tx, tenant_id: str) -> None:
    """Texts where the rules let none."""
    for (table, column), values in _FORCED.items():
        sql = f"SELECT {column} FROM {table} WHERE tenant_id = :tenant LIMIT 1000"
        for number, (found,) in enumerate(await tx.all(sql, {"tenant": tenant_id})):
            text = TEXTS[number % len(TEXTS)]
            params = {"id": found, "text": text, "json": json.dumps({text: text})}
            await tx.run(f"UPDATE {table} SET {values} WHERE {column} = :id", params)
