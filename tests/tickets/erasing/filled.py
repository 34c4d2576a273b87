"""A desk that has a customer in every place, and a search for what is left of them."""

import base64
import json
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from sealdesk.api_keys.request_log import recorder
from sealdesk.db.engine import Tx
from sealdesk.mail.receiving import store as received
from sealdesk.mail.receiving.types import ReceivedMessage
from sealdesk.mail.sending import store as outgoing
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads import actions as threads
from sealdesk.worker import stepper
from tests.support.client import Key
from tests.support.pages import Visitor, logged_in
from tests.support.receiver import Got, Receiver, Reply
from tests.support.searching import wait_until_customers
from tests.support.service import Service, Tenant, wait_until

API = "/api/v1/external"
TICKETS, CUSTOMERS = f"{API}/tickets", f"{API}/customers"
_ALPHABET = "bcdfghjklmnpqrstvwxz"
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 999",
    "postgresql": "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
    " ORDER BY tablename LIMIT 999",
}
_MAILBOX = """
INSERT INTO mailboxes (tenant_id, id, address, address_identity, display_name, signature, receives,
    per_minute, is_paused, created_at, version)
VALUES (:tenant_id, :id, 'd@desk.example', 'd@desk.example', 'D', '', 'no', 60, FALSE, :now, 1)
"""
_SUBMISSION = """
INSERT INTO form_submissions (tenant_id, id, address, address_identity, language, request,
    created_at)
VALUES (:tenant_id, :id, :email, :email, 'en', :request, :now)
"""
Rows = dict[str, list[dict[str, Any]]]


class Markers:
    """Texts that occur nowhere else. Letters only, so that they are one word of the search."""

    def __init__(self) -> None:
        self.all: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        word = "".join(secrets.choice(_ALPHABET) for _ in range(12))
        return self.all.setdefault(name, word)


class Desk:
    """A desk with a customer who is in every place, and another customer."""

    def __init__(self, service: Service, receiver: Receiver) -> None:
        self.service, self.receiver, self.markers = service, receiver, Markers()
        receiver.answer = self._echo
        self.tenant = service.tenant()
        self.user_id = self.tenant.user("agent", name="Ada Agent")
        self.key = self.tenant.key(name="Shop")
        self.admin = logged_in(self.tenant)
        mark = self.markers
        self.email = f"{mark['email']}@shop.example"
        self.name = f"Zoë {mark['name']}"
        self.customer = self.key.customer(
            self.email, name=self.name, phone=f"+49 {mark['phone']}", company=mark["company"],
            external_id=mark["external id"], metadata={"note": mark["metadata"]},
        )  # fmt: skip
        self.id = self.customer["id"]
        self.theirs: list[str] = []
        self.merging: list[tuple[str, str]] = []
        self.earlier_address()
        self._fill()

    def _fill(self) -> None:
        self.webhook()
        first = self.conversation()
        self.other_customer()
        self.moved_texts()
        self.merged_customers()
        self.repeated_requests()
        self.lookups()
        self.mail(first)
        self.submission(self.email, self.markers["asked"])
        self.key.patch(f"{CUSTOMERS}/{self.id}", {"phone": f"+49 {self.markers['phone']} 1"})
        self.first = first
        self.service.settle()
        wait_until_customers(self.tenant, self.markers["email"], self.id)
        wait_until(lambda: "search_documents" in self.found())
        wait_until(lambda: "attempts" in self.found())

    def _echo(self, got: Got) -> Reply:
        """What receivers may answer, and the delivery log keeps."""
        echoed = {self.markers["email"]} & {*got.body.decode().replace("@", '"').split('"')}
        return Reply(200, got.body[:4000], {"x-echo": "".join(echoed)})

    def webhook(self) -> None:
        url = f"http://127.0.0.1:{self.receiver.port}/hook"
        made = self.tenant.admin().post("/api/v1/webhooks", {"url": url, "events": ["*"]})
        assert made.status_code == 201, made.text

    def earlier_address(self) -> None:
        """The customer has another address now; an agent looks for the earlier one."""
        earlier = f"{self.markers['earlier email']}@shop.example"
        path = f"{CUSTOMERS}/{self.id}"
        for email in (earlier, self.email):
            assert self.key.patch(path, {"email": email}).status_code == 200
        form = self.admin.get(f"/tickets/views/new?q={earlier}").form("/tickets/views")
        self.admin.submit(form, name="Earlier")

    def submission(self, email: str, text: str) -> None:
        """A form that waits for its confirmation."""
        sent = {
            "tenant_id": self.tenant.id, "id": str(uuid4()), "email": email, "request": text,
            "now": self.service.clock.now_us(),
        }  # fmt: skip
        self.service.write(lambda tx: tx.execute(_SUBMISSION, sent))

    def conversation(self) -> dict[str, Any]:
        mark, key = self.markers, self.key
        file = key.attachment(f"{mark['file']}.txt", mark["content"].encode())
        ticket = key.ticket(
            subject=f"About {mark['subject']}", description=f"Dear desk, {mark['description']}",
            customer={"email": self.email}, custom_fields={"order": mark["field"]},
            external_id=mark["ticket id"], tags=["vip"], assignee_id=self.user_id,
            attachment_ids=[file["id"]],
        )  # fmt: skip
        path = f"{TICKETS}/{ticket['id']}"
        in_reply = key.attachment(f"{mark['reply file']}.txt", mark["reply content"].encode())
        self.reply(ticket, f"I am {mark['reply']}", author="customer", file=in_reply["id"])
        self.reply(ticket, f"Dear {mark['answer']}")
        self.reply(ticket, f"They say {mark['internal']}", is_internal=True)
        key.patch(path, {"subject": f"Now {mark['new subject']}", "priority": "high"})
        key.patch(path, {"custom_fields": {"order": mark["new field"]}})
        key.patch(path, {"status": "pending"})
        self.theirs.append(ticket["id"])
        return ticket

    def other_customer(self) -> None:
        self.other = self.key.ticket(
            subject="Their own kiln", description="It is cold", customer={"email": "bo@b.example"},
            custom_fields={"order": "B-1"},
            attachment_ids=[self.key.attachment("kiln.txt", b"kiln")["id"]],
        )  # fmt: skip
        self.reply(self.other, "It is still cold", author="customer")

    def merged_customers(self) -> None:
        """Two who were the same person: one was merged into the other, who then into this one."""
        into, mark = self.id, self.markers
        for step in ("merged", "merged before"):
            made = self.key.customer(
                f"{mark[f'{step} email']}@shop.example", name=f"Z. {mark[f'{step} name']}",
                other_emails=[f"{mark[f'{step} other email']}@shop.example"],
                phone=f"+49 {mark[f'{step} phone']}", metadata={"at": mark[f"{step} metadata"]},
            )  # fmt: skip
            ticket = self.key.ticket(
                subject=mark[f"{step} subject"], customer={"email": made["email"]}
            )
            self.reply(ticket, f"I am {mark[f'{step} reply']}", author="customer")
            self.theirs.append(ticket["id"])
            self.merging.append((made["id"], into))
            into = made["id"]
        for source_id, target_id in reversed(self.merging):
            path = f"{CUSTOMERS}/{source_id}/merge"
            assert self.key.post(path, {"into": target_id}).status_code == 200

    def moved_texts(self) -> None:
        """A ticket of the customer that is merged into one of another customer, and a split one."""
        mark = self.markers
        mixed = self.key.ticket(customer={"email": "cy@c.example"}, subject="Mixed")
        merged = self.key.ticket(
            subject=mark["merged subject"], description=mark["merged"],
            customer={"email": self.email},
        )  # fmt: skip
        self.reply(merged, mark["merged reply"], author="customer")
        self.reply(merged, mark["merged answer"])
        made = self.key.post(f"{TICKETS}/{merged['id']}/merge", {"into": mixed["id"]})
        assert made.status_code == 200, made.text
        both = self.key.ticket(customer={"email": self.email}, subject=mark["both"])
        later = self.reply(both, mark["later"], author="customer")
        wanted = {"reply_id": later["id"], "subject": mark["split"]}
        made = self.key.post(f"{TICKETS}/{both['id']}/split", wanted)
        assert made.status_code == 201, made.text
        self.mixed = mixed
        self.theirs += [merged["id"], both["id"], made.json()["data"]["id"]]

    def repeated_requests(self) -> None:
        mark, key = self.markers, self.key
        new = {
            "subject": mark["stored"], "description": "D",
            "customer": {"email": self.email, "name": self.name},
        }  # fmt: skip
        self.repeated = new
        for sent in ("order-1", f"order-{self.email}"):
            made = key.post(TICKETS, new, idempotency_key=sent)
            self.theirs.append(made.json()["data"]["id"])
        bulk = {"tickets": [new]}
        made = key.post(f"{TICKETS}/bulk", bulk, idempotency_key="bulk-1")
        assert made.status_code == 200, made.text
        self.theirs.append(self.key.walk(f"{TICKETS}?customer_email={quote(self.email)}")[0]["id"])
        path = f"{CUSTOMERS}/{self.id}"
        key.call("PATCH", path, {"name": self.name}, headers={"idempotency-key": "name"})

    def lookups(self) -> None:
        """Requests, views and exports that name the person."""
        email = quote(self.email, safe="")
        self.key.get(f"{CUSTOMERS}?email={email}")
        self.key.get(f"{API}/search?q={email}")
        self.key.call(
            "PUT", f"{CUSTOMERS}/by-external-id/{self.markers['external id']}",
            {"email": self.email},
        )  # fmt: skip
        wrong = self.key.api_secret[:-4] + "AAAA"
        refused = Key(self.service, self.key.id, self.key.api_key, wrong)
        assert refused.get(f"{CUSTOMERS}?email={email}").status_code == 401
        query = f"status=all&q={email}"
        form = self.admin.get(f"/tickets/views/new?{query}").form("/tickets/views")
        self.admin.submit(form, name=f"All of {self.name}")
        filters = f"status=all&customer={email}"
        assert self.admin.get(f"/tickets/export/file?{filters}").status == 200
        self.service.in_serving(recorder.write_requests)  # which has no values anyway

    def mail(self, ticket: dict[str, Any]) -> None:
        """E-mail of a ticket, of a ticket of somebody else, and of no ticket."""
        self.mailbox_id, now_us = str(uuid4()), self.service.clock.now_us()
        people = [(self.email, self.name)]
        tenant_id = self.tenant.id
        mailbox = {"tenant_id": tenant_id, "id": self.mailbox_id, "now": now_us}
        ours = [self._received(ticket["id"], "in"), self._received(None, "held")]

        async def work(tx: Tx) -> None:
            await tx.execute(_MAILBOX, mailbox)
            for each in (ticket, self.other):
                await threads.add_people(tx, tenant_id, each["id"], self.mailbox_id, people, now_us)
            for message in ours:
                await received.add(tx, message)
            await outgoing.add(tx, [self._outgoing(ticket["id"])])

        self.service.write(work)

    def _received(self, ticket_id: str | None, name: str) -> ReceivedMessage:
        mark, now_us = self.markers, self.service.clock.now_us()
        return ReceivedMessage(
            tenant_id=self.tenant.id, id=str(uuid4()), mailbox_id=self.mailbox_id,
            message_key=f"<{mark[name + ' key']}@m.example>", from_identity=self.email,
            subject=mark[name + " subject"], raw_sha256="0" * 64, outcome="held",
            reason=mark[name + " reason"], size_bytes=1, ticket_id=ticket_id, reply_id=None,
            received_at=now_us, raw_until=now_us + 10**12,
        )  # fmt: skip

    def _outgoing(self, ticket_id: str) -> OutgoingMessage:
        now_us = self.service.clock.now_us()
        return OutgoingMessage(
            tenant_id=self.tenant.id, id=str(uuid4()), mailbox_id=self.mailbox_id,
            ticket_id=ticket_id, about_id=str(uuid4()), kind="reply", address=self.email,
            message_id="<a@b.example>", state="queued", reason=self.markers["out reason"],
            attempt_count=1, created_at=now_us, due_at=now_us + 10**12, leased_until=None,
            finished_at=None,
        )  # fmt: skip

    def reply(
        self, ticket: dict[str, Any], body: str, *, author: str = "", file: str = "", **more: Any
    ) -> dict[str, Any]:
        by = {"author": {"type": author}} if author else {}
        attached = {"attachment_ids": [file]} if file else {}
        sent = {"body": body, **by, **attached, **more}
        made = self.key.post(f"{TICKETS}/{ticket['id']}/replies", sent)
        assert made.status_code == 201, made.text
        return dict(made.json()["data"])

    def erase(self) -> None:
        """Begin, and wait until the worker can."""
        begun = self.key.post(f"{CUSTOMERS}/{self.id}/erase", None)
        assert begun.status_code == 202, begun.text
        self.service.clock.advance(11)

    def step(self) -> int:
        return self.service.in_background(stepper.ERASURES.step)

    def finish(self) -> None:
        wait_until(self._is_finished)
        self.service.settle()
        wait_until(lambda: "search_index_data" not in self.found())

    def _is_finished(self) -> bool:
        self.step()
        state = self.key.get(f"{CUSTOMERS}/{self.id}/erasure").json()["data"]["status"]
        return bool(state == "finished")

    def found(self) -> dict[str, set[str]]:
        """table.column → the markers in it."""
        found: dict[str, set[str]] = {}
        forms = {name: [*_forms(marker)] for name, marker in self.markers.all.items()}
        for table, rows in all_rows(self.service).items():
            for row in rows:
                text = b"\n".join(_bytes(value) for value in row.values()).lower()
                for name, parts in forms.items():
                    if any(part in text for part in parts):
                        found.setdefault(table, set()).add(name)
        return found


def all_rows(service: Service) -> Rows:
    """The rows of every table that the database has."""
    dialect = "postgresql" if service.settings.database_url else "sqlite"
    names = [row["name"] for row in service.rows(_TABLES[dialect])]
    assert "tickets" in names
    return {name: [*_rows_of(service, name)] for name in names}


def _rows_of(service: Service, table: str) -> Iterator[dict[str, Any]]:
    for row in service.rows(f"SELECT * FROM {table} LIMIT 100000"):
        yield dict(zip(row.keys(), row, strict=True))


def _forms(marker: str) -> Iterator[bytes]:
    """The marker as it may be stored: as it is, and in base64 at each of three places."""
    yield marker.encode()
    for before in ("", "a", "ab"):
        encoded = base64.b64encode(f"{before}{marker}".encode()).decode()
        yield encoded[4:12].lower().encode()


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def as_json(row: dict[str, Any]) -> str:
    return json.dumps(row, default=str, sort_keys=True)


def visitor_of(tenant: Tenant) -> Visitor:
    return logged_in(tenant)
