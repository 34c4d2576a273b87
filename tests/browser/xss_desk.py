"""A tenant in which every text is hostile, and the paths of all its pages."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from sealdesk import ids
from sealdesk.api_keys.request_log.recorder import write_requests
from sealdesk.api_keys.usage import recorder as usage
from sealdesk.caller import SYSTEM, Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.mail.contact_form import actions as contact_form
from sealdesk.mail.contact_form import tokens
from sealdesk.mail.contact_form.types import FormRequest, FormSettings
from sealdesk.mail.mailboxes.types import Failure
from sealdesk.mail.ratings import actions as ratings
from sealdesk.mail.ratings import links as rating_links
from sealdesk.mail.ratings.types import AskSettings, Rating
from sealdesk.mail.threads import actions as threads
from sealdesk.mail.threads import links
from sealdesk.mail.weekly_reports import links as weekly_links
from sealdesk.mail.weekly_reports import store as weekly_reports
from sealdesk.mail.weekly_reports.types import SavedReport
from sealdesk.routes import PAGES
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros.types import NewMacro
from sealdesk.tickets.tags import store as renamings
from sealdesk.tickets.tags.actions import new_renaming
from sealdesk.tickets.views import actions as views
from sealdesk.tickets.views.actions import Editor
from tests.browser.xss_stored import force
from tests.browser.xss_texts import BREAKOUT, SUM, Texts
from tests.mail.mailboxes.stored import MAILBOXES, made, set_problem
from tests.mail.receiving.stored import received
from tests.support.client import Key, Person
from tests.support.receiver import Receiver
from tests.support.service import Tenant, wait_until

# Routes that give no page: fragments, downloads and assets.
PIECES = frozenset(route.path for route in PAGES if "/assets/" in route.path) | {
    "/live",
    "/notifications/bell",
    "/tickets/arrived",
    "/tickets/people",
    "/tickets/{id}/links/suggestions",
    "/tickets/{id}/notes/{note_id}",
    "/tickets/tags",
    "/customers/suggestions",
    "/tickets/export/file",
    "/customers/export/file",
    "/reports/file",
    "/team-now/file",
    "/settings/tags/progress",
    "/settings/tags/rename",
    "/tickets/views/counts",
    "/tickets/{id}/answering",
    "/tickets/{id}/macro/{macro_id}",
    "/attachments/{id}/content",
    "/settings/audit/export",
    "/{path_name}/ticket/{token}/files/{id}",
    "/held-messages/{id}/raw",
}
_TICKETS = "/api/v1/external/tickets"


def hostile_desk(tenant: Tenant, receiver: Receiver, texts: Texts | None = None) -> dict[str, str]:
    """Fill every field with hostile texts; the ids for the paths of its pages.

    First through the API, as many as a field holds; then all of them in storage, past the rules.
    """
    texts = texts or Texts()
    service, admin = tenant.service, tenant.admin()
    key = tenant.key(name=texts.fit(100))
    user = tenant.user("agent", name=texts.fit(100, 9))
    team = _team(admin, user, texts)
    ticket = _ticket(key, user, team, texts)
    rating_token = _rating_token(tenant, key, ticket["id"])
    notification = _notification(tenant, key, texts)
    _refuse(key, texts)
    receiver.answers(500, texts.fit(4000).encode(), {"content-type": "text/html"})
    webhook, delivery = _webhook(admin, receiver, texts)
    field = _field(admin, texts)
    service.settle()
    service.write(lambda tx: _answering(tx, tenant, ticket["id"], texts))
    held_reply = service.write(lambda tx: _failed_reply(tx, tenant, ticket["id"], user, texts))
    mailbox = _mailbox(tenant, admin, texts)
    desk, token = _contact_form(tenant, mailbox)
    page_token = _page_token(tenant, mailbox, ticket["id"])
    held = _held(tenant, texts)
    view = service.write(lambda tx: _view(tx, tenant, texts))
    macro = service.write(lambda tx: _macro(tx, tenant, texts))
    rule = _rule(admin, team, texts)
    policy = _policy(admin, team, texts)
    (reply,) = service.rows(
        "SELECT id FROM replies WHERE ticket_id = :id AND NOT is_internal LIMIT 1", id=ticket["id"]
    )
    service.write(lambda tx: _renaming(tx, tenant, texts))
    service.in_serving(usage.write_counts)
    service.in_serving(write_requests)
    service.write(lambda tx: force(tx, tenant.id, texts))
    tag = texts.fit(64)
    service.write(lambda tx: _tag(tx, tenant, ticket["id"], tag))
    weekly = service.write(lambda tx: _weekly(tx, tenant, tag))
    return {
        "tag": quote(tag, safe=""),
        "/tickets/views": view,
        "/tickets": ticket["id"],
        "/customers": ticket["customer"]["id"],
        "/notifications": notification,
        "/settings/people": user,
        "/settings/api-keys": key.id,
        "/settings/teams": team,
        "/settings/webhooks": webhook,
        "/settings/custom-fields": field,
        "/settings/macros": macro,
        "/settings/rules": rule,
        "/settings/sla-policies": policy,
        "/settings/email": mailbox,
        "desk": desk,
        "/confirm": token,
        "/ticket": page_token,
        "/r": rating_token,
        "/reports/weekly": weekly,
        "/unsubscribe": weekly_links.token_of(service.state.key_ring, tenant.id, weekly),
        "/held-messages": held,
        "delivery": delivery,
        "reply": reply[0],
        "held_reply": held_reply,
    }


def address(path: str, places: dict[str, str]) -> str:
    """The path of a route, with these ids."""
    for start, found in places.items():
        path = path.replace(f"{start}/{{id}}", f"{start}/{found}")
    path = path.replace("{other_id}", places.get("/tickets", ""))
    path = path.replace("{note_id}", places.get("reply", ""))
    path = path.replace("{held_id}", places.get("held_reply", ""))
    path = path.replace("{user_id}", places["/settings/people"])
    path = path.replace("{delivery_id}", places["delivery"])
    path = path.replace("{path_name}", places.get("desk", ""))
    for start in ("/confirm", "/ticket", "/r", "/unsubscribe"):
        path = path.replace(f"{start}/{{token}}", f"{start}/{places.get(start, '')}")
    assert "{" not in path, "a page without an id for it"
    return path


def page_paths(places: dict[str, str], asked: Iterable[str]) -> list[str]:
    """The paths of all GET routes, and of searches and filters for `asked`."""
    routes = [route.path for route in PAGES if route.method == "GET"]
    key, webhook = places["/settings/api-keys"], places["/settings/webhooks"]
    paths = [address(path, places) for path in routes if path not in PIECES]
    paths += [
        "/tickets?status=all", f"/tickets/{places['/tickets']}/merge?into=2",
        f"/tickets/{places['/tickets']}/split?reply={places['reply']}",
        f"/settings/api-keys/{key}?span=month",
        f"/settings/api-keys/debug?key={key}", f"/settings/tags/rename?tag={places['tag']}",
    ]  # fmt: skip
    for text in (quote(each, safe="") for each in asked):
        paths += [
            f"/tickets?status=all&tag={text}&customer={text}&priority={text}&sort={text}",
            f"/tickets?q={text}", f"/customers?email={text}",
            f"/settings/audit?action={text}&actor={text}&since={text}",
            f"/settings/webhooks/{webhook}?status={text}",
            f"/settings/api-keys/requests?key={text}&status={text}&request_id={text}",
        ]  # fmt: skip
    return paths


async def _weekly(tx: Tx, tenant: Tenant, tag: str) -> str:
    (user,) = await tx.fetch_all(
        "SELECT id FROM users WHERE tenant_id = :id AND role <> 'agent' ORDER BY id LIMIT 1",
        {"id": tenant.id},
    )
    query = urlencode({"by": "tag", "of": "tag", "value": tag})
    report = SavedReport(tenant.id, ids.mint(1), user["id"], query, "en", "https://x", 1, 2**52)
    await weekly_reports.add(tx, report)
    return report.id


async def _view(tx: Tx, tenant: Tenant, texts: Texts) -> str:
    """A view of the desk."""
    editor = Editor(tenant.id, "", is_administrator=True)
    query = f"tag={quote(texts.fit(64, 2))}"
    name, now_us = texts.fit(64), tenant.service.clock.now_us()
    saved = await views.save_view(tx, editor, name, query, is_for_desk=True, now_us=now_us)
    return saved.id


def _mailbox(tenant: Tenant, admin: Person, texts: Texts) -> str:
    """A mailbox that fails with a server's words, and a blocked sender."""
    new = {"signature": texts.fit(100), "receives": "imap"}
    for protocol in ("imap", "smtp"):
        new |= {f"{protocol}_host": "mail.acme.test"}
        new |= {f"{protocol}_{name}": "correct" for name in ("username", "password")}
    mailbox_id = made(admin, f"{ids.mint(1)[-31:]}@acme.test", **new)["id"]
    # Otherwise its servers would be tried, which have another problem.
    assert admin.patch(f"{MAILBOXES}/{mailbox_id}", {"is_paused": True}).status_code == 200
    admin.post("/api/v1/mail-blocks", {"pattern": "@spam.test"})
    set_problem(tenant.service, tenant, mailbox_id, "sending", Failure("closed", SUM))
    return str(mailbox_id)


def _contact_form(tenant: Tenant, mailbox: str) -> tuple[str, str]:
    """The name of a form with a custom field, and the token that confirms what it has sent."""
    name, caller = f"desk-{tenant.id[-12:]}", Caller(tenant.id, SYSTEM, frozenset(), "")
    now_us = tenant.service.clock.now_us()
    wanted = FormSettings(name, mailbox, "https://help.example", ["hostile"], True, True)

    async def work(tx: Tx) -> None:
        form = await contact_form.save_form(tx, caller, wanted, now_us=now_us)
        request = FormRequest(SUM, SUM, f"form@{name}.example")  # each address gets few e-mails
        await contact_form.submit(tx, form, request, language="en", now_us=now_us)

    tenant.service.write(work)
    sql = "SELECT id FROM form_submissions WHERE tenant_id = :id LIMIT 1"
    (row,) = tenant.service.rows(sql, id=tenant.id)
    key_ring = tenant.service.state.key_ring
    return name, tokens.confirmation_token(key_ring, tenant.id, row[0])


def _page_token(tenant: Tenant, mailbox: str, ticket_id: str) -> str:
    """What the link to the page of a ticket contains."""
    people = [("form@customer.example", SUM)]
    added = tenant.service.write(
        lambda tx: threads.add_people(tx, tenant.id, ticket_id, mailbox, people, 0)
    )
    return links.token_of(tenant.service.state.key_ring, added[0])


def _rating_token(tenant: Tenant, key: Key, ticket_id: str) -> str:
    """What a link to rate another ticket contains; this one is rated. The desk asks for them."""
    service, caller = tenant.service, Caller(tenant.id, SYSTEM, frozenset(), "")
    key_ring, now_us = service.state.key_ring, service.clock.now_us()
    asks = AskSettings(is_on=True, delay_hours=72, base_url="https://help.example")
    service.write(lambda tx: ratings.save_settings(tx, caller, asks, now_us=now_us))
    rated = rating_links.opened_until(tenant.id, ticket_id, now_us)
    service.write(lambda tx: ratings.rate(tx, rated, Rating(1, SUM), key_ring, now_us))
    other = key.ticket(subject=SUM)["id"]
    return rating_links.token_of(key_ring, rating_links.opened_until(tenant.id, other, now_us))


def _held(tenant: Tenant, texts: Texts) -> str:
    """A message that waits, with hostile texts in each field that is shown."""
    text = texts.whole().encode("utf-8", "replace")
    files = b"\n".join(
        b'--x\nContent-Disposition: attachment; filename="' + BREAKOUT.encode() + b'"\n\nfile\n'
        for _ in range(2)
    )
    head = b"From: " + BREAKOUT.encode() + b" <eve@evil.test>\nX-Spam-Flag: YES\nSubject: " + text
    kind = b"\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
    return received(tenant, head + kind + b"--x\n\n" + text + b"\n" + files + b"--x--\n")


async def _macro(tx: Tx, tenant: Tenant, texts: Texts) -> str:
    """A macro, past the check of its variables."""
    caller, fit = Caller(tenant.id, SYSTEM, frozenset(), ""), texts.fit
    new = NewMacro(fit(100), SUM, texts.whole(), "pending", "high", "me", tags=[fit(64)])
    made = await macros.create_macro(tx, caller, new, now_us=tenant.service.clock.now_us())
    return made.id


def _rule(admin: Person, team: str, texts: Texts) -> str:
    """An automation rule, which is not switched on."""
    condition = {"field": "subject", "operator": "contains", "values": [texts.fit(100)]}
    actions = {"team_id": team, "add_tags": [texts.fit(64)], "note": texts.whole()}
    new = {"name": texts.fit(100), "trigger": "created", "conditions": [condition]}
    answer = admin.post("/api/v1/rules", {**new, "actions": actions})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["id"])


def _policy(admin: Person, team: str, texts: Texts) -> str:
    new = {"name": texts.fit(100), "team_ids": [team], "tags": [texts.fit(64)]}
    promised = {"resolution_minutes": 60, "counts": "calendar", "customers": [f"@{texts.fit(99)}"]}
    answer = admin.post("/api/v1/sla-policies", {**new, **promised})
    assert answer.status_code == 201, answer.text
    # The worker changes the tickets of the team.
    wait_until(lambda: not admin.service.rows("SELECT tenant_id FROM sla_renewals LIMIT 9"))
    return str(answer.json()["data"]["id"])


async def _renaming(tx: Tx, tenant: Tenant, texts: Texts) -> None:
    """A tag that has got another name."""
    caller = Caller(tenant.id, Actor("user", ids.mint(1), texts.fit(100)), frozenset(), "")
    now_us = tenant.service.clock.now_us()
    renaming = new_renaming(caller, texts.fit(64), texts.fit(64, 3), 1, now_us)
    await renamings.add(tx, msgspec.structs.replace(renaming, finished_at=now_us))


async def _tag(tx: Tx, tenant: Tenant, ticket_id: str, tag: str) -> None:
    """A tag that is short enough for an address."""
    sql = "INSERT INTO ticket_tags (tenant_id, tag, ticket_id) VALUES (:tenant, :tag, :ticket)"
    await tx.execute(sql, {"tenant": tenant.id, "tag": tag, "ticket": ticket_id})


def _team(admin: Person, user: str, texts: Texts) -> str:
    """A team with this member."""
    team_id = str(admin.post("/api/v1/teams", {"name": texts.fit(64)}).json()["data"]["id"])
    added = admin.post(f"/api/v1/teams/{team_id}/members", {"user_id": user})
    assert added.status_code == 201
    return team_id


def _ticket(key: Key, user: str, team: str, texts: Texts) -> dict[str, Any]:
    """A ticket, its customer, replies and changes."""
    fit, unique = texts.fit, f"c{ids.mint(0)}@example.test"
    fields = {"phone": fit(64), "company": fit(255, 5), "external_id": fit(255, 10)}
    metadata = {fit(99, n): fit(999, n) for n in range(0, len(texts.payloads), 20)}
    key.customer(unique, name=fit(255, 15), metadata=metadata, **fields)
    ticket = key.ticket(
        subject=fit(255, 20), description=texts.whole(), tags=[fit(64)],
        external_id=fit(255, 25), customer={"email": unique}, assignee_id=user, team_id=team,
        custom_fields={fit(99): fit(999)}, attachment_ids=[_file(key)],
    )  # fmt: skip
    for is_internal in (False, True):
        body = "\n".join((BREAKOUT, *texts.payloads))
        reply = {"body": body, "is_internal": is_internal, "attachment_ids": [_file(key)]}
        assert key.post(f"{_TICKETS}/{ticket['id']}/replies", reply).status_code == 201
    changed = {"subject": fit(255, 30), "tags": [fit(64), fit(63)[1:]], "status": "pending"}
    assert key.patch(f"{_TICKETS}/{ticket['id']}", changed).status_code == 200
    return ticket


def _notification(tenant: Tenant, key: Key, texts: Texts) -> str:
    """A notification of the administrator, of a ticket assigned to them."""
    me = tenant.admin().get("/api/v1/auth/me").json()["data"]["id"]
    key.ticket(subject=texts.fit(255, 35), assignee_id=me)
    (row,) = tenant.service.rows(
        "SELECT id FROM notifications WHERE tenant_id = :tenant AND user_id = :me LIMIT 1",
        tenant=tenant.id, me=me,
    )  # fmt: skip
    return str(row[0])


def _file(key: Key) -> str:
    """An attachment whose name becomes a hostile one in storage."""
    return str(key.attachment(f"{SUM}.txt")["id"])


def _refuse(key: Key, texts: Texts) -> None:
    """Send requests with a wrong signature and hostile targets, which are recorded."""
    text = texts.fit(999)
    raw = "".join(letter for letter in text if "!" <= letter <= "~" and letter != "#")
    for target in (raw, quote(text)):
        key.get(f"{_TICKETS}?tag={target}", x_api_signature="0" * 64)


def _webhook(admin: Person, receiver: Receiver, texts: Texts) -> tuple[str, str]:
    new = {"url": receiver.url, "events": ["ticket.created"], "description": texts.fit(255)}
    webhook = admin.post("/api/v1/webhooks", new).json()["data"]["id"]
    delivery = admin.post(f"/api/v1/webhooks/{webhook}/test").json()["data"]["id"]
    return webhook, delivery


def _field(admin: Person, texts: Texts) -> str:
    """A custom field, which every ticket shows."""
    new = {"key": "hostile", "label": texts.fit(100), "type": "choice", "choices": [texts.fit(99)]}
    return str(admin.post("/api/v1/custom-fields", new).json()["data"]["id"])


async def _failed_reply(tx: Tx, tenant: Tenant, ticket_id: str, user_id: str, texts: Texts) -> str:
    """A held reply that could not leave; its id."""
    named = {"tenant": tenant.id, "id": ids.mint(1), "ticket": ticket_id, "user": user_id}
    fields = msgspec.json.encode([["body", texts.fit(255)]]).decode()
    await tx.execute(
        "INSERT INTO held_replies (tenant_id, id, ticket_id, user_id, user_name, form, due_at,"
        " failed_at, reason) VALUES (:tenant, :id, :ticket, :user, :text, :form, 1, :now, :text)",
        {**named, "text": texts.fit(100), "form": fields, "now": tenant.service.clock.now_us()},
    )
    return str(named["id"])


async def _answering(tx: Tx, tenant: Tenant, ticket_id: str, texts: Texts) -> None:
    columns = "tenant_id, ticket_id, user_id, user_name, seen_at"
    await tx.execute(
        f"INSERT INTO answering ({columns}) VALUES (:tenant, :ticket, :user, :text, :now)",
        {
            "tenant": tenant.id, "ticket": ticket_id, "user": ids.mint(0), "text": texts.fit(100),
            "now": tenant.service.clock.now_us(),
        },
    )  # fmt: skip
    await tx.execute(
        "INSERT INTO viewers (tenant_id, topic, user_id, process_id, user_name, seen_at)"
        " VALUES (:tenant, :ticket, :user, '', :text, :now)",
        {
            "tenant": tenant.id, "ticket": ticket_id, "user": ids.mint(1), "text": texts.fit(100),
            "now": tenant.service.clock.now_us(),
        },
    )  # fmt: skip
