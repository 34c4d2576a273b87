"""Hostile texts, a desk of which every text is one, and the addresses of all its pages."""

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
PIECES = frozenset(route.path for route in PAGES if "/assets/" in route.path) | {
    "/tickets/arrived",
    "/tickets/{id}/answering",
    "/settings/audit/export",
}
# What a text says that a template engine has worked out: 7919 * 7907.
SUM, WORKED_OUT = "7919*7907", "62615533"
# Short enough for a tag. Ends what it may stand in, runs there, is a template, and turns text.
BREAKOUT = f"x\"'></title></textarea><svg/onload=alert(1)>{{{{{SUM}}}}}%s\u202e"
CORPUS = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "<<script>alert(1)//<</script>", "\" autofocus onfocus=alert(1) x=\"",
    "' autofocus onfocus=alert(1) x='", "` onfocus=alert(1) `",
    "</select></pre></code></bdi></dialog></noscript></template><img src=x onerror=alert(1)>",
    "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>", "<iframe src=javascript:alert(1)>",
    "<object data=javascript:alert(1)>", "<embed src=javascript:alert(1)>",
    "<body onload=alert(1)>", "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>", "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;"
    "&lt;img src=1 onerror=alert(1)&gt;\">",
    "<form action=javascript:alert(1)><button autofocus>",
    "<button formaction=javascript:alert(1)>", "<base href=//x.test/>",
    "<meta http-equiv=refresh content='0;url=//x.test'>", "<link rel=stylesheet href=//x.test>",
    "<style>@import '//x.test'</style>", "<p style=color:red>",
    "<!--><img src=x onerror=alert(1)>-->", "<![CDATA[<img src=x onerror=alert(1)>]]>", "<!--",
    "]]>", "<a href=javascript:alert(1)>x</a>", "[x](javascript:alert(1))", "javascript:alert(1)",
    "java\tscript:alert(1)", "data:text/html,<script>alert(1)</script>", "//x.test/a.js",
    "https://x.test/\"onmouseover=\"alert(1)", "https://x.test/'onmouseover='alert(1)",
    "https://x.test/<img/src=x/onerror=alert(1)>", "https://x.test/&quot;onmouseover=alert(1)",
    "http://javascript:alert(1)", "HTTPS://x.test/\u202ecod.exe", "https://x.test)<b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;alert(1)", "&amp;lt;b&amp;gt;",
    "%3Cscript%3Ealert(1)%3C/script%3E", "\\u003cscript\\u003ealert(1)", "\\x3cscript\\x3e",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "\uff1cscript\uff1ealert(1)", "\u2028alert(1)",
    f"{{{{ {SUM} }}}}", "{% include 'frame.html' %}", "{{ ''.__class__.__mro__ }}",
    f"<%= {SUM} %>", f"${{{SUM}}}", f"#{{{SUM}}}", "{0}{x!r}%n%(x)s", "=cmd|' /C calc'!A0",
    "@SUM(1)", "';--", "\u202egnp.exe\u202c", "\u2066\u2028\u0085", "\x01\x08\x1b[31m\x7f",
    "\U000e0041\ufffe", "\u0301" * 40,
)  # fmt: skip
_TICKETS = "/api/v1/external/tickets"
# What rules refuse, or the service writes itself, stands there all the same, as if a rule failed.
_FORCED = {
    "tenants": "name = :text",
    "customers": "email = :text || id",
    "users": "name = :text, email = :text || id",
    "endpoints": "url = :text",
    "audit": "actor_name = :text, address = :text, details = :json",
    "refusals": "method = :text, target = :text, timestamp = :text",
    "attempts": "url = :text, answer_body = :text, error = :text, status = NULL,"
    " request_headers = :json, answer_headers = :json",
}


def hostile(most: int, turn: int = 0) -> str:
    """The breakout and as many of the others as fit, beginning with another one at every turn."""
    text = BREAKOUT
    for each in CORPUS[turn:] + CORPUS[:turn]:
        if len(text) + len(each) < most:
            text += f" {each}"
    return text


def hostile_desk(tenant: Tenant, receiver: Receiver) -> dict[str, str]:
    """Fill every field with hostile texts; where the pages of what was made stand."""
    service, admin = tenant.service, tenant.admin()
    key = tenant.key(name=hostile(100))
    user = tenant.user("agent", name=hostile(100, 9))
    ticket = _ticket(key, user)
    _refuse(key)
    receiver.answers(500, hostile(4000).encode(), {"content-type": "text/html"})
    webhook, delivery = _webhook(admin, receiver)
    service.settle()
    service.write(lambda tx: _answering(tx, tenant, ticket["id"]))
    service.in_serving(usage.write_down)
    service.write(lambda tx: _force(tx, tenant.id))
    return {
        "/tickets": ticket["id"],
        "/customers": ticket["customer"]["id"],
        "/settings/people": user,
        "/settings/api-keys": key.id,
        "/settings/webhooks": webhook,
        "delivery": delivery,
    }


def address(path: str, places: dict[str, str]) -> str:
    """The address of a route, of what is at these places."""
    for start, found in places.items():
        path = path.replace(f"{start}/{{id}}", f"{start}/{found}")
    path = path.replace("{delivery_id}", places["delivery"])
    assert "{" not in path, "a page without an id for it"
    return path


def page_paths(places: dict[str, str]) -> list[str]:
    """All pages of the table of routes that are fetched, and what they show when asked for more."""
    routes = [route.path for route in PAGES if route.method == "GET"]
    text, key = quote(hostile(200), safe=""), places["/settings/api-keys"]
    asked = (
        f"/tickets?status=all&tag={quote(BREAKOUT)}&customer={text}&priority={text}&sort={text}",
        f"/tickets?q={text}", "/tickets?status=all", f"/customers?email={text}",
        f"/settings/audit?action={text}&actor={text}&since={text}",
        f"/settings/webhooks/{places['/settings/webhooks']}?status={text}",
        f"/settings/api-keys/debug?key={key}", f"/settings/api-keys/{key}?span=month",
    )  # fmt: skip
    return [*(address(path, places) for path in routes if path not in PIECES), *asked]


def _ticket(key: Key, user: str) -> dict[str, Any]:
    """A ticket, its customer, replies and changes."""
    unique = f"c{ids.mint(0)}@example.test"
    fields = {"phone": hostile(64), "company": hostile(255, 5), "external_id": hostile(255, 10)}
    metadata = {hostile(99, n): hostile(999, n) for n in range(0, len(CORPUS), 20)}
    key.customer(unique, name=hostile(255, 15), metadata=metadata, **fields)
    ticket = key.ticket(
        subject=hostile(255, 20), description=hostile(65536), tags=[hostile(64)],
        external_id=hostile(255, 25), customer={"email": unique}, assignee_id=user,
        custom_fields={hostile(99): hostile(999)},
    )  # fmt: skip
    for is_internal in (False, True):
        reply = {"body": "\n".join((BREAKOUT, *CORPUS)), "is_internal": is_internal}
        assert key.post(f"{_TICKETS}/{ticket['id']}/replies", reply).status_code == 201
    changed = {
        "subject": hostile(255, 30),
        "tags": [hostile(64), hostile(63)[1:]],
        "status": "pending",
    }
    assert key.patch(f"{_TICKETS}/{ticket['id']}", changed).status_code == 200
    return ticket


def _refuse(key: Key) -> None:
    """Requests whose signature is wrong, with a target as raw as HTTP takes it."""
    raw = "".join(letter for letter in hostile(999) if "!" <= letter <= "~" and letter != "#")
    for target in (raw, quote(hostile(999))):
        key.get(f"{_TICKETS}?tag={target}", x_api_signature="0" * 64)


def _webhook(admin: Person, receiver: Receiver) -> tuple[str, str]:
    new = {"url": receiver.url, "events": ["ticket.created"], "description": hostile(255)}
    webhook = admin.post("/api/v1/webhooks", new).json()["data"]["id"]
    delivery = admin.post(f"/api/v1/webhooks/{webhook}/test").json()["data"]["id"]
    return webhook, delivery


async def _answering(tx: Tx, tenant: Tenant, ticket_id: str) -> None:
    columns = "tenant_id, ticket_id, user_id, user_name, seen_at"
    await tx.run(
        f"INSERT INTO answering ({columns}) VALUES (:tenant, :ticket, :user, :text, :now)",
        {
            "tenant": tenant.id, "ticket": ticket_id, "user": ids.mint(0), "text": hostile(100),
            "now": tenant.service.clock.now_us(),
        },
    )  # fmt: skip


async def _force(tx: Tx, tenant_id: str) -> None:
    """Texts where the rules let none."""
    text = hostile(255, 3)
    values = {"tenant": tenant_id, "text": text, "json": json.dumps({text: text})}
    for table, what in _FORCED.items():
        own = "id" if table == "tenants" else "tenant_id"
        await tx.run(f"UPDATE {table} SET {what} WHERE {own} = :tenant", values)


def with_hostile_texts(tenant: Tenant, columns: set[str]) -> set[str]:
    """Those columns, as in tickets.subject, in which the tenant has one of these texts."""
    found = set()
    for table in {column.partition(".")[0] for column in columns}:
        own = "id" if table == "tenants" else "tenant_id"
        sql = f"SELECT * FROM {table} WHERE {own} = :tenant LIMIT 1000"
        for row in tenant.service.rows(sql, tenant=tenant.id):
            found |= {f"{table}.{name}" for name in row.keys() if SUM in str(row[name])}  # noqa: SIM118
    return found & columns
