"""Problems of what is stored: states, limits and merges."""

from typing import Any

import httpx

from sealdesk import clock
from tests.advice.desk import CUSTOMERS, KEYS, MAILBOXES, TICKETS, WEBHOOKS, Desk, Steps
from tests.mail.mailboxes import stored as mailboxes
from tests.mail.receiving.stored import received

_FIELDS, _MACROS = "/api/v1/custom-fields", "/api/v1/macros"
_RULES, _POLICIES = "/api/v1/rules", "/api/v1/sla-policies"
_TEAMS, _BLOCKS = "/api/v1/teams", "/api/v1/mail-blocks"
_HI = {"body": "Hello"}


def _path(made: dict[str, Any], under: str = TICKETS) -> str:
    return f"{under}/{made['id']}"


def _closed(desk: Desk) -> str:
    path = _path(desk.key.ticket())
    assert desk.key.patch(path, {"status": "closed"}).status_code == 200
    return path


def _snoozed(desk: Desk) -> dict[str, str]:
    return {"snoozed_until": clock.iso(desk.service.clock.now_us() + 3_600_000_000)}


def _hook(desk: Desk) -> dict[str, Any]:
    return {"url": f"{desk.service.url}/", "events": ["ticket.created"]}


def _full(desk: Desk, limit: str, path: str, new: dict[str, Any], other: dict[str, Any]) -> Steps:
    """One is as many as there may be: delete it, and there is room for the other one."""
    desk.limit(limit)
    first = desk.made(path, **new)
    yield desk.admin.post(path, other)
    yield desk.admin.delete(_path(first, path))
    yield desk.admin.post(path, other)


def invalid_transition(desk: Desk) -> Steps:
    path = _closed(desk)
    refused = desk.key.patch(path, {"status": "pending"})
    yield refused
    yield desk.key.patch(path, {"status": refused.json()["allowed"][0]})
    yield desk.key.patch(path, {"status": "pending"})


def ticket_closed(desk: Desk) -> Steps:
    path = _closed(desk)
    yield desk.key.post(f"{path}/replies", _HI)
    yield desk.key.patch(path, {"status": "open"})
    yield desk.key.post(f"{path}/replies", _HI)


def _merged(desk: Desk, under: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The path of what was merged, it, and what it was merged into."""
    if under == TICKETS:
        source, target = desk.key.ticket(), desk.key.ticket()
    else:
        source, target = desk.key.customer("a@b.test"), desk.key.customer("b@b.test")
    path = _path(source, under)
    assert desk.key.post(f"{path}/merge", {"into": target["id"]}).status_code == 200
    return path, source, target


def ticket_merged(desk: Desk) -> Steps:
    path, _, _ = _merged(desk, TICKETS)
    for method, at, body in (
        ("POST", f"{path}/replies", _HI),
        ("PATCH", path, {"subject": "B"}),
    ):
        refused = desk.key.call(method, at, body)
        yield refused
        into = refused.json()["merged_into_id"]
        yield desk.key.call(method, at.replace(path, f"{TICKETS}/{into}"), body)


def customer_merged(desk: Desk) -> Steps:
    path, _, _ = _merged(desk, CUSTOMERS)
    refused = desk.key.patch(path, {"name": "A"})
    yield refused
    yield desk.key.patch(f"{CUSTOMERS}/{refused.json()['merged_into_id']}", {"name": "A"})


def merge_into_itself(desk: Desk) -> Steps:
    one, other = desk.key.ticket(), desk.key.ticket()
    yield desk.key.post(f"{_path(one)}/merge", {"into": one["id"]})
    yield desk.key.post(f"{_path(one)}/merge", {"into": other["id"]})


def merge_final(desk: Desk) -> Steps:
    """Of both kinds the problem names what was merged since; undo that first."""
    for under in (TICKETS, CUSTOMERS):
        path, _, target = _merged(desk, under)
        third = desk.key.ticket() if under == TICKETS else desk.key.customer("c@b.test")
        desk.key.post(f"{_path(target, under)}/merge", {"into": third["id"]})
        refused = desk.key.delete(f"{path}/merge")
        yield refused
        later = f"{under}/{refused.json()['merged_into_id']}/merge"
        yield desk.key.delete(later)
        yield desk.key.delete(f"{path}/merge")


def too_many_replies(desk: Desk) -> Steps:
    one, other = desk.key.ticket(), desk.key.ticket()
    for _ in "12":
        desk.key.post(f"{_path(one)}/replies", _HI)
    desk.limit("MAX_REPLIES")
    yield desk.key.post(f"{_path(one)}/merge", {"into": other["id"]})
    link = {"relation": "duplicate_of", "ticket_id": other["id"]}
    assert desk.key.post(f"{_path(one)}/links", link).status_code == 201
    yield desk.key.post(f"{_path(other)}/merge", {"into": one["id"]})


def too_many_tickets(desk: Desk) -> Steps:
    one, other = desk.key.customer("a@b.test"), desk.key.customer("b@b.test")
    for _ in "12":
        desk.key.ticket(customer={"email": one["email"]})
    desk.limit("MAX_TICKETS")
    yield desk.key.post(f"{_path(one, CUSTOMERS)}/merge", {"into": other["id"]})
    yield desk.key.post(f"{_path(other, CUSTOMERS)}/merge", {"into": one["id"]})


def snooze_of_ended(desk: Desk) -> Steps:
    path = _closed(desk)
    yield desk.key.patch(path, _snoozed(desk))
    yield desk.key.patch(path, {**_snoozed(desk), "status": "open"})


def too_many_snoozed(desk: Desk) -> Steps:
    one, other = _path(desk.key.ticket()), _path(desk.key.ticket())
    desk.limit("MAX_SNOOZED")
    desk.key.patch(one, _snoozed(desk))
    yield desk.key.patch(other, _snoozed(desk))
    yield desk.key.patch(one, {"snoozed_until": None})
    yield desk.key.patch(other, _snoozed(desk))


def too_many_followers(desk: Desk) -> Steps:
    path = f"{_path(desk.key.ticket())}/followers"
    one, other = desk.tenant.user(), desk.tenant.user()
    desk.limit("MAX_FOLLOWERS")
    desk.key.post(path, {"user_id": one})
    yield desk.key.post(path, {"user_id": other})
    yield desk.key.delete(f"{path}/{one}")
    yield desk.key.post(path, {"user_id": other})


def _linked(desk: Desk, one: str, relation: str, other: str) -> httpx.Response:
    new = {"relation": relation, "ticket_id": other}
    return desk.key.post(f"{TICKETS}/{one}/links", new)


def linked_otherwise(desk: Desk) -> Steps:
    one, other = (desk.key.ticket()["id"] for _ in range(2))
    _linked(desk, one, "relates_to", other)
    yield _linked(desk, one, "blocks", other)
    yield desk.key.delete(f"{TICKETS}/{one}/links/{other}")
    yield _linked(desk, one, "blocks", other)


def link_circle(desk: Desk) -> Steps:
    one, two, three = (desk.key.ticket()["id"] for _ in range(3))
    _linked(desk, one, "blocks", two)
    _linked(desk, two, "blocks", three)
    yield _linked(desk, three, "blocks", one)
    yield _linked(desk, three, "relates_to", one)


def too_many_links(desk: Desk) -> Steps:
    one, two, three = (desk.key.ticket()["id"] for _ in range(3))
    desk.limit("MAX_LINKS")
    _linked(desk, one, "relates_to", two)
    yield _linked(desk, one, "relates_to", three)
    yield desk.key.delete(f"{TICKETS}/{one}/links/{two}")
    yield _linked(desk, one, "relates_to", three)


def external_id_not_unique(desk: Desk) -> Steps:
    for name in "ab":
        desk.key.customer(f"{name}@b.test", external_id="7")
    yield desk.key.call("PUT", f"{CUSTOMERS}/by-external-id/7", {"email": "c@b.test"})
    listed = desk.key.get(f"{CUSTOMERS}?external_id=7")
    yield listed
    yield desk.key.patch(_path(listed.json()["data"][0], CUSTOMERS), {"name": "A"})


def customer_has_tickets(desk: Desk) -> Steps:
    path = f"{CUSTOMERS}/{desk.key.ticket()['customer']['id']}"
    yield desk.key.delete(path)
    yield desk.key.post(f"{path}/erase", None)


def customer_email_taken(desk: Desk) -> Steps:
    for taken in ({"email": "a@b.test"}, {"email": "c@b.test", "other_emails": ["d@b.test"]}):
        desk.key.customer(**taken)
        refused = desk.key.post(CUSTOMERS, _last(taken))
        yield refused
        yield desk.key.patch(f"{CUSTOMERS}/{refused.json()['existing_id']}", {"name": "A"})


def _last(taken: dict[str, Any]) -> dict[str, Any]:
    return {"email": taken.get("other_emails", [taken["email"]])[-1]}


def too_many_teams(desk: Desk) -> Steps:
    yield from _full(desk, "MAX_TEAMS", _TEAMS, {"name": "A"}, {"name": "B"})


def too_many_members(desk: Desk) -> Steps:
    path = f"{_path(desk.made(_TEAMS, name='A'), _TEAMS)}/members"
    one, other = desk.tenant.user(), desk.tenant.user()
    desk.limit("MAX_MEMBERS")
    desk.admin.post(path, {"user_id": one})
    yield desk.admin.post(path, {"user_id": other})
    yield desk.admin.delete(f"{path}/{one}")
    yield desk.admin.post(path, {"user_id": other})


def _macro(name: str) -> dict[str, str]:
    return {"name": name, "shortcut": name, **_HI}


def too_many_macros(desk: Desk) -> Steps:
    yield from _full(desk, "MAX_MACROS", _MACROS, _macro("A"), _macro("B"))


def too_many_rules(desk: Desk) -> Steps:
    new = {"trigger": "created", "actions": {"priority": "high"}}
    yield from _full(desk, "MAX_RULES", _RULES, {"name": "A", **new}, {"name": "B", **new})


def too_many_sla_policies(desk: Desk) -> Steps:
    new = {"first_response_minutes": 60, "counts": "calendar"}
    yield from _full(desk, "MAX_POLICIES", _POLICIES, {"name": "A", **new}, {"name": "B", **new})


def too_many_webhooks(desk: Desk) -> Steps:
    yield from _full(desk, "MAX_ENDPOINTS", WEBHOOKS, _hook(desk), _hook(desk))


def too_many_mailboxes(desk: Desk) -> Steps:
    name = desk.tenant.id[-12:]
    one, other = ({"address": f"{each}@{name}.test"} for each in "ab")
    yield from _full(desk, "MAX_MAILBOXES", MAILBOXES, one, other)


def too_many_mail_blocks(desk: Desk) -> Steps:
    desk.limit("MAX_BLOCKS")
    desk.made(_BLOCKS, pattern="a@b.test")
    yield desk.admin.post(_BLOCKS, {"pattern": "b@b.test"})
    yield desk.admin.delete(f"{_BLOCKS}/a@b.test")
    yield desk.admin.post(_BLOCKS, {"pattern": "b@b.test"})


def too_many_custom_fields(desk: Desk) -> Steps:
    """Deactivate one first; and when there are no keys left, activate an inactive one."""
    desk.limit("MAX_ACTIVE")
    first = _path(desk.made(_FIELDS, key="a", label="A", type="text"), _FIELDS)
    yield desk.admin.post(_FIELDS, {"key": "b", "label": "B", "type": "text"})
    yield desk.admin.patch(first, {"is_active": False})
    second = _path(desk.made(_FIELDS, key="b", label="B", type="text"), _FIELDS)
    desk.limit("MAX_FIELDS", 2)
    yield desk.admin.patch(second, {"is_active": False})
    yield desk.admin.post(_FIELDS, {"key": "c", "label": "C", "type": "text"})
    yield desk.admin.patch(first, {"is_active": True})
    yield desk.admin.delete(first)
    desk.made(_FIELDS, key="c", label="C", type="text")


def too_many_api_keys(desk: Desk) -> Steps:
    desk.limit("MAX_ACTIVE_KEYS")
    yield desk.admin.post(KEYS, {"name": "B"})
    yield desk.admin.delete(f"{KEYS}/{desk.key.id}")
    yield desk.admin.post(KEYS, {"name": "B"})


def too_many_new_api_keys(desk: Desk) -> Steps:
    desk.limit("MAX_NEW_KEYS_PER_HOUR")
    refused = desk.admin.post(KEYS, {"name": "B"})
    yield refused
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    yield desk.admin.post(f"{KEYS}/{desk.key.id}/rotate")


def webhook_inactive(desk: Desk) -> Steps:
    path = _path(desk.made(WEBHOOKS, **_hook(desk)), WEBHOOKS)
    desk.admin.patch(path, {"is_active": False})
    yield desk.admin.post(f"{path}/retry-now")
    yield desk.admin.patch(path, {"is_active": True})
    yield desk.admin.post(f"{path}/retry-now")


def mailbox_address_taken(desk: Desk) -> Steps:
    """The desk that had the address frees it."""
    address, other = f"help@{desk.tenant.id[-12:]}.test", desk.service.tenant().admin()
    desk.admin.delete(f"{MAILBOXES}/{mailboxes.made(desk.admin, address)['id']}")
    yield other.post(MAILBOXES, {"address": address})
    yield desk.admin.delete(f"/api/v1/former-addresses/{address}")
    yield other.post(MAILBOXES, {"address": address})


def no_mailbox(desk: Desk) -> Steps:
    path, people = f"{_path(desk.key.ticket())}/participants", [{"email": "a@b.test"}]
    yield desk.key.call("PUT", path, {"participants": people})
    yield desk.admin.post(MAILBOXES, {"address": f"help@{desk.tenant.id[-12:]}.test"})
    yield desk.key.call("PUT", path, {"participants": people})


def not_merged(desk: Desk) -> Steps:
    """Nothing is to be done: the one that was asked for is as it should be."""
    for path in (_path(desk.key.ticket()), _path(desk.key.customer("a@b.test"), CUSTOMERS)):
        yield desk.key.delete(f"{path}/merge")
        assert desk.key.get(path).json()["data"]["merged_into_id"] is None
        yield desk.key.get(path)


def customer_erased(desk: Desk) -> Steps:
    gone, other = desk.key.customer("a@b.test"), desk.key.customer("b@b.test")
    desk.key.post(f"{_path(gone, CUSTOMERS)}/erase", None)
    refused = desk.key.post(f"{_path(other, CUSTOMERS)}/merge", {"into": gone["id"]})
    yield refused
    yield desk.key.get(f"{CUSTOMERS}/{refused.json()['customer_id']}/erasure")


def file_type_not_allowed(desk: Desk) -> Steps:
    yield desk.key.upload("a.exe", b"text")
    yield desk.key.upload("a.zip", b"text")


def _released(desk: Desk) -> tuple[str, str]:
    """The path of a released message, and that of its ticket."""
    desk.made(MAILBOXES, address=f"help@{desk.tenant.id[-12:]}.test")
    message = b"From: a@b.test\nX-Spam-Flag: YES\nSubject: A\n\nHello\n"
    path = f"/api/v1/received-messages/{received(desk.tenant, message)}"
    made = desk.admin.post(f"{path}/release").json()["data"]
    return path, f"{TICKETS}/{made['ticket_id']}"


def message_not_held(desk: Desk) -> Steps:
    path, ticket = _released(desk)
    yield desk.admin.post(f"{path}/release")
    named = desk.admin.get(path).json()["data"]["ticket_id"]
    assert ticket.endswith(named)
    yield desk.key.get(f"{TICKETS}/{named}")


def message_decided(desk: Desk) -> Steps:
    path, _ = _released(desk)
    yield desk.admin.post(f"{path}/add-sender")
    yield desk.key.get(f"{TICKETS}/{desk.admin.get(path).json()['data']['ticket_id']}")


def sender_cannot_be_added(desk: Desk) -> Steps:
    """The message becomes that of a stranger, as one is that comes to a reply address."""
    path, ticket = _released(desk)
    sql = "UPDATE received_messages SET reason_code = 'stranger' WHERE tenant_id = :tenant_id"
    desk.service.write(lambda tx: tx.execute(sql, {"tenant_id": desk.tenant.id}))
    desk.key.call("PUT", f"{ticket}/participants", {"participants": [{"email": "b@b.test"}]})
    desk.limit("MAX_PARTICIPANTS")
    yield desk.admin.post(f"{path}/add-sender")
    yield desk.key.call("PUT", f"{ticket}/participants", {"participants": []})
    yield desk.admin.post(f"{path}/add-sender")
