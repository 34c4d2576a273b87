"""Two tenants of one service: ours, in which every text is marked, and a foreign one."""

from typing import Any, NamedTuple

from sealdesk import clock, ids
from sealdesk.api_keys.request_log.recorder import write_requests
from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Tx
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    SUBSCRIBABLE,
    Attempt,
    Delivery,
    NewWebhook,
    Replay,
    WebhookChange,
)
from tests.mail.receiving.stored import received
from tests.support.client import Key, Person
from tests.support.feed import wait_until_placed
from tests.support.service import Service, Tenant, wait_until

# Part of every text of our tenant, so that a leak is recognised in any response.
CANARY = "canary-7f3a9c"
_CONTENTS = (
    "SELECT * FROM tickets WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM ticket_tags WHERE tenant_id = :tenant ORDER BY ticket_id LIMIT 100",
    "SELECT * FROM attachments WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM replies WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM customers WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM users WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM events WHERE tenant_id = :tenant ORDER BY id LIMIT 1000",
    "SELECT id, name, permissions, rate_limit, revoked_at, secret_version, sealed_secret"
    " FROM api_keys WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM teams WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT team_id, user_id FROM team_members WHERE tenant_id = :tenant"
    " ORDER BY team_id, user_id LIMIT 100",
    "SELECT * FROM endpoints WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM deliveries WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM automation_rules WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM sla_policies WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM macros WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM mailboxes WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM received_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM ticket_participants WHERE tenant_id = :tenant"
    " ORDER BY ticket_id, address_identity LIMIT 100",
    "SELECT * FROM mail_blocks WHERE tenant_id = :tenant ORDER BY pattern LIMIT 100",
    "SELECT * FROM replays WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM business_hours WHERE tenant_id = :tenant",
    "SELECT * FROM rating_settings WHERE tenant_id = :tenant",
    "SELECT * FROM reply_settings WHERE tenant_id = :tenant",
    "SELECT * FROM held_replies WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
    "SELECT * FROM field_definitions WHERE tenant_id = :tenant ORDER BY id LIMIT 100",
)


class Ours(NamedTuple):
    """A tenant with something in every table, and callers of every kind."""

    tenant: Tenant
    key: Key
    powerless: Key
    revoked: Key
    expired: Key
    admin: Person
    agent: Person
    ticket: dict[str, Any]
    attachment_id: str
    customer_id: str
    agent_id: str
    team_id: str
    webhook_id: str
    delivery_id: str
    replay_id: str
    field_id: str
    macro_id: str
    rule_id: str
    policy_id: str
    request_id: str
    erased_id: str
    mailbox_id: str
    received_id: str

    def contents(self) -> list[tuple[object, ...]]:
        """The rows that other tenants must not change."""
        self.tenant.service.settle()

        async def work(tx: Tx) -> list[tuple[object, ...]]:
            named = {"tenant": self.tenant.id}
            return [tuple(row) for sql in _CONTENTS for row in await tx.fetch_all(sql, named)]

        return self.tenant.service.read(work)


def marked_tenant(service: Service) -> Ours:
    """A tenant whose every text contains the canary."""
    tenant = service.tenant(f"{CANARY} Ltd")
    email, name = f"{CANARY}@example.test", f"{CANARY} agent"
    agent_id = tenant.user("agent", email, name)
    agent, admin = service.log_in(email), tenant.admin()
    key = tenant.key(name=f"{CANARY} key")
    soon = clock.iso(service.clock.now_us() + 60_000_000)
    expired, revoked = tenant.key(name=CANARY, expires_at=soon), tenant.key(name=CANARY)
    admin.delete(f"/api/v1/api-keys/{revoked.id}")
    service.clock.advance(61)
    team_id = _marked_team(tenant, admin, agent_id)
    ticket = _marked_ticket(key, agent_id, team_id)
    for _ in range(2):
        key.get(f"/api/v1/external/tickets?tag={CANARY}", x_api_signature="0" * 64)
    powerless = tenant.key(name=CANARY, permissions=[])
    customer_id = ticket["customer"]["id"]
    webhook = [_marked_webhook(tenant) for _ in range(2)][-1]
    attachment = key.attachment(f"{CANARY}.txt", CANARY.encode())["id"]
    macro_id = [_marked_macro(admin, number) for number in range(2)][-1]
    rule_id = [_marked_rule(admin, number) for number in range(2)][-1]
    policy_id = [_marked_policy(admin, number) for number in range(2)][-1]
    request_id = [_marked_request(key) for _ in range(2)][-1]
    erased_id = _erased_customer(key)
    mailbox_id = _marked_mailbox(admin)
    _add_participant(key, ticket)
    wait_until_placed(service)  # or events would change later
    return Ours(
        tenant, key, powerless, revoked, expired, admin, agent, ticket, attachment, customer_id,
        agent_id, team_id,
        *webhook, _marked_field(admin), macro_id, rule_id, policy_id, request_id, erased_id,
        mailbox_id, _marked_message(tenant),
    )  # fmt: skip


def _erased_customer(key: Key) -> str:
    """A customer whose erasure is finished, or the tenant would change later."""
    path = f"/api/v1/external/customers/{key.customer(f'{CANARY}@erased.test')['id']}"
    key.post(f"{path}/erase", None)
    key.service.clock.advance(11)
    wait_until(lambda: key.get(f"{path}/erasure").json()["data"]["status"] == "finished")
    return path.rpartition("/")[2]


def _marked_team(tenant: Tenant, admin: Person, agent_id: str) -> str:
    """The id of the last of two teams, with two members."""
    at = "/api/v1/teams"
    ids = [admin.post(at, {"name": f"{CANARY} {place}"}).json()["data"]["id"] for place in range(2)]
    for user_id in (agent_id, tenant.user("agent", name=f"{CANARY} 2")):
        answer = admin.post(f"{at}/{ids[-1]}/members", {"user_id": user_id})
        assert answer.status_code == 201, answer.text
    return str(ids[-1])


def _marked_ticket(key: Key, agent_id: str, team_id: str) -> dict[str, Any]:
    texts = ("name", "phone", "company", "external_id")
    customer = key.customer(
        f"{CANARY}@customers.test", metadata={CANARY: CANARY}, **dict.fromkeys(texts, CANARY)
    )
    for _ in range(3):  # two of each, so that every list has a cursor, also that of links
        ticket = key.ticket(
            subject=CANARY,
            description=CANARY,
            customer={"email": customer["email"]},
            assignee_id=agent_id,
            team_id=team_id,
            tags=[CANARY],
            custom_fields={CANARY: CANARY},
            external_id=CANARY,
        )
        for _ in range(2):
            key.post(f"/api/v1/external/tickets/{ticket['id']}/replies", {"body": CANARY})
    for agent in key.get("/api/v1/external/agents").json()["data"]:
        at = f"/api/v1/external/tickets/{ticket['id']}/followers"
        key.post(at, {"user_id": agent["id"]})
    for other in key.get("/api/v1/external/tickets?per_page=3").json()["data"][1:]:
        link = {"relation": "relates_to", "ticket_id": other["id"]}
        key.post(f"/api/v1/external/tickets/{ticket['id']}/links", link)
    key.customer(f"{CANARY}-2@customers.test", name=CANARY)
    key.customer("known-to-both@customers.test", name=CANARY)
    return ticket


def _marked_field(admin: Person) -> str:
    """The id of the last of some custom fields."""
    for key in ("first", "last"):
        new = {"key": key, "label": f"{CANARY} {key}", "type": "choice", "choices": [CANARY]}
        created = admin.post("/api/v1/custom-fields", new)
    return str(created.json()["data"]["id"])


def _marked_macro(admin: Person, number: int) -> str:
    name = f"{CANARY}-{number}"
    new = {"name": name, "shortcut": name, "body": CANARY, "tags": [CANARY]}
    return str(admin.post("/api/v1/macros", new).json()["data"]["id"])


def _marked_rule(admin: Person, number: int) -> str:
    new = {"name": f"{CANARY}{number}", "trigger": "created", "actions": {"note": CANARY}}
    return str(admin.post("/api/v1/rules", new).json()["data"]["id"])


def _marked_policy(admin: Person, number: int) -> str:
    name = f"{CANARY}{number}"
    new = {"name": name, "tags": [name], "resolution_minutes": 9}
    answer = admin.post("/api/v1/sla-policies", {**new, "counts": "calendar"})
    return str(answer.json()["data"]["id"])


def _marked_mailbox(admin: Person) -> str:
    """The id of the last of two mailboxes, which send through no server."""
    for pattern in ("@blocked-by-us.test", f"@{CANARY}.test"):
        admin.post("/api/v1/mail-blocks", {"pattern": pattern})
    for number in range(2):
        new = {"address": f"{CANARY}-{number}@acme.test", "signature": CANARY}
        created = admin.post("/api/v1/mailboxes", new)
    for name in (f"{CANARY}-former", "former-of-ours"):
        former = admin.post("/api/v1/mailboxes", {"address": f"{name}@acme.test"})
        admin.delete(f"/api/v1/mailboxes/{former.json()['data']['id']}")
    return str(created.json()["data"]["id"])


def _add_participant(key: Key, ticket: dict[str, Any]) -> None:
    path = f"/api/v1/external/tickets/{ticket['id']}/participants"
    someone = {"email": f"{CANARY}@participant.test", "name": CANARY}
    assert key.call("PUT", path, {"participants": [someone]}).status_code == 200


def _marked_message(tenant: Tenant) -> str:
    """The id of the last of two received messages that wait."""
    for number in range(2):
        head = f"From: {CANARY}@spam.test\nX-Spam-Flag: YES\nSubject: {CANARY} {number}\n"
        received_id = received(tenant, f"{head}\n{CANARY}\n".encode())
    return received_id


def _marked_request(key: Key) -> str:
    """The id of a request in the request log."""
    answer = key.get(f"/api/v1/external/tickets?{CANARY}=1")
    key.service.in_serving(write_requests)
    return answer.headers["x-request-id"]


def _marked_webhook(tenant: Tenant) -> tuple[str, str, str]:
    """The ids of a paused endpoint, and of the last of its deliveries and of its replays."""
    now_us, key_ring = tenant.service.clock.now_us(), tenant.service.state.key_ring
    caller = Caller(tenant.id, SYSTEM, frozenset(), "")
    new = NewWebhook(f"https://{CANARY}.test/", list(SUBSCRIBABLE), CANARY)

    async def work(tx: Tx) -> tuple[str, str, str]:
        endpoint = await webhooks.create_webhook(tx, caller, new, key_ring=key_ring, now_us=now_us)
        for _ in range(2):
            delivery = Delivery(
                tenant.id, ids.mint(now_us), endpoint.id, CANARY, CANARY, "failed", 1, 1, None, 1
            )
            await endpoint_store.add_delivery(tx, delivery)
            headers = f'{{"{CANARY}":""}}'
            attempt = Attempt(1, 1, 1, new.url, headers, 500, headers, CANARY, CANARY)
            await endpoint_store.add_attempt(tx, tenant.id, delivery.id, attempt)
            replay = Replay(tenant.id, ids.mint(now_us), endpoint.id, 1, 2, CANARY, 0, 1, 1)
            await endpoint_store.add_replay(tx, replay)
        pause = WebhookChange(is_active=False)
        await webhooks.change_webhook(tx, caller, endpoint.id, pause, now_us=now_us)
        return endpoint.id, delivery.id, replay.id

    return tenant.service.write(work)
