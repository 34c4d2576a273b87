"""The guide to events: its examples match real events, and its programs work."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from sealdesk.event_log import events
from sealdesk.mail.mailboxes.types import Failure
from sealdesk.routes.documented_events import DOCUMENTED_EVENTS
from tests.mail.mailboxes.stored import made, set_problem
from tests.support.client import Key, Person
from tests.support.closed_document import close
from tests.support.databases import SQLITE_FIRST
from tests.support.feed import EVENTS, Feed, record
from tests.support.mail_desk import Desk
from tests.support.mail_server import mail_server
from tests.support.openapi import validator
from tests.support.pages import Visitor, logged_in
from tests.support.receiver import LOOPBACK, receiving
from tests.support.service import Service, Tenant, wait_until

Json = dict[str, Any]
KEYS = "/api/v1/api-keys"
HOOKS = "/api/v1/webhooks"
TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
GUIDE = (Path(__file__).parents[2] / "docs" / "api" / "events.md").read_text()
EXAMPLES = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)]
# What the tenant writes into them is its own.
_FREE = ("custom_fields", "metadata")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def test_every_type_has_one_example_in_the_order_of_the_types() -> None:
    assert [example["type"] for example in EXAMPLES] == list(events.TYPES)


def test_the_table_says_when_as_the_openapi_document_does() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (.*?) \|", GUIDE, re.MULTILINE)
    assert rows == [(event.type, event.when) for event in DOCUMENTED_EVENTS]


@pytest.fixture
def recorded_events(start: Callable[..., Service]) -> dict[str, Json]:
    """A real event of each type, caused as in the examples."""
    service = start(**LOOPBACK, SEALDESK_MAIL_ALLOWED_CIDRS="127.0.0.0/8")
    tenant = service.tenant()
    admin, feed = tenant.admin(), Feed(tenant)
    _of_customers_and_tickets(tenant.key())
    _of_notes(tenant)
    _of_deliveries(tenant, feed)
    _of_keys(admin)
    _of_webhooks(admin, tenant.key(), feed)
    _of_erasure(tenant.key(), service, feed)
    _of_policies(tenant, service, feed)
    _of_rules(tenant, feed)
    _of_mailboxes(admin, service, tenant)
    first = {row["type"]: row for row in reversed(feed.recorded())}
    return {kind: json.loads(events.payload(row)) for kind, row in first.items()}


def _of_customers_and_tickets(key: Key) -> None:
    customer = key.customer(
        "maria.santos@example.com", name="Maria", company="S", external_id="C", metadata={"a": 1}
    )
    ticket = key.ticket(
        customer={"email": customer["email"]}, tags=["refund"], external_id="x", priority="high"
    )
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "We have sent two."})
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "pending", "priority": "urgent"})
    key.patch(f"{CUSTOMERS}/{customer['id']}", {"name": "Maria Santos-Lima"})
    other = key.customer("lima@example.com", name="L", company="S", external_id="L")
    assert key.delete(f"{CUSTOMERS}/{other['id']}").status_code == 204
    link = key.post(f"{TICKETS}/{ticket['id']}/rating-link", None).json()["data"]["url"]
    fields = [("rating", "5"), ("comment", "Both bowls arrived whole.")]
    assert Visitor(key.service).post(urlsplit(link).path, fields).status == 200
    merged = key.customer("m.santos@work.example", name="M. Santos")
    merge = key.post(f"{CUSTOMERS}/{merged['id']}/merge", {"into": customer["id"]})
    assert merge.status_code == 200, merge.text


def _of_erasure(key: Key, service: Service, feed: Feed) -> None:
    customer = key.customer("lima@example.com", name="L", company="S", external_id="L")
    assert key.post(f"{CUSTOMERS}/{customer['id']}/erase", None).status_code == 202
    service.clock.advance(11)
    wait_until(lambda: any(row["type"] == "customer.erased" for row in feed.recorded()))


def _of_notes(tenant: Tenant) -> None:
    visitor, at = logged_in(tenant), f"/tickets/{tenant.key().ticket()['id']}"
    note = {"body": "Ask the studio.", "is_internal": "yes"}
    page = visitor.submit(visitor.get(at).form(f"{at}/reply"), **note)
    (edit,) = [link for link in page.links if "/notes/" in link]
    visitor.submit(visitor.get(edit).form(edit), body="Ask the studio whether batch 77 has cracks.")


def _of_deliveries(tenant: Tenant, feed: Feed) -> None:
    with mail_server() as server:
        desk = Desk(tenant, server)
        for kind, answers in (("reply.delivered", []), ("reply.bounced", ["550 No such user"])):
            server.answers["maria.santos@example.com"] = answers
            desk.reply(desk.ticket("maria.santos@example.com"), "We have sent two.")
            wait_until(partial(_has, feed, kind))


def _of_policies(tenant: Tenant, service: Service, feed: Feed) -> None:
    promised = {"resolution_minutes": 2, "warning_minutes": 1, "counts": "calendar"}
    policy = {"name": "Fast", "tags": ["promised"], **promised}  # for no other ticket of the desk
    assert tenant.admin().post("/api/v1/sla-policies", policy).is_success
    key = tenant.key()
    customer = {"email": "maria@example.com", "name": "Maria Santos"}
    ticket = key.ticket(customer=customer, tags=["promised"], external_id="x")
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "We have sent two."})
    for kind in ("ticket.sla_warning", "ticket.sla_breached"):
        service.clock.advance(61)
        wait_until(partial(_has, feed, kind))


def _of_rules(tenant: Tenant, feed: Feed) -> None:
    rule = {"name": "VIP first", "trigger": "changed", "is_enabled": True}
    when = [{"field": "tag", "operator": "is", "values": ["vip"]}]
    new = {**rule, "conditions": when, "actions": {"send_event": True}}
    assert tenant.admin().post("/api/v1/rules", new).is_success
    customer = {"email": "maria@example.com", "name": "Maria Santos"}
    key = tenant.key()
    ticket = key.ticket(customer=customer, tags=["promised"], external_id="x")
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "We have sent two."})
    key.patch(f"{TICKETS}/{ticket['id']}", {"add_tags": ["vip"]})
    wait_until(partial(_has, feed, "ticket.rule_matched"))


def _has(feed: Feed, kind: str) -> bool:
    return any(row["type"] == kind for row in feed.recorded())


def _of_keys(admin: Person) -> None:
    new = {"name": "Shop", "permissions": ["tickets:read"], "expires_at": "2099-01-01T00:00:00Z"}
    path = f"{KEYS}/{admin.post(KEYS, new).json()['data']['id']}"
    admin.patch(path, {"name": "Shop (EU)", "rate_limit": 2000})
    admin.post(f"{path}/rotate")
    admin.delete(path)


def _of_webhooks(admin: Person, key: Key, feed: Feed) -> None:
    with receiving() as receiver:
        new = {"url": receiver.url, "events": ["reply.created"], "description": "d"}
        made = admin.post(HOOKS, new)
        assert made.status_code == 201, made.text
        path = f"{HOOKS}/{made.json()['data']['id']}"
        assert admin.post(f"{path}/test").status_code == 200
        receiver.answers(410)
        ticket = key.ticket()
        key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"})
        wait_until(lambda: any(row["type"] == "webhook.disabled" for row in feed.recorded()))


def _of_mailboxes(admin: Person, service: Service, tenant: Tenant) -> None:
    texts = dict.fromkeys(("address", "imap_username", "smtp_username"), "support@acme.test")
    texts |= dict.fromkeys(("imap_host", "smtp_host"), "mail.acme.test")
    texts |= dict.fromkeys(("imap_password", "smtp_password"), "correct")
    new = {**texts, "receives": "imap", "language": "en"}
    mailbox_id = made(admin, **new)["id"]
    for failure in (Failure("login_refused", "NO"), None):
        set_problem(service, tenant, mailbox_id, "receiving", failure)


@SQLITE_FIRST
def test_the_examples_have_the_form_of_real_events(recorded_events: dict[str, Json]) -> None:
    assert recorded_events.keys() == set(events.TYPES)
    for example in EXAMPLES:
        real = recorded_events[example["type"]]
        assert list(example) == list(real)
        assert _kinds(example) == _kinds(real), example["type"]


@SQLITE_FIRST
def test_real_events_fit_the_schemas_of_the_openapi_document(
    recorded_events: dict[str, Json], service: Service
) -> None:
    closed = close(Person(service, "").get("/openapi.json").json())
    for kind, event in recorded_events.items():
        content = closed["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
        root = {**content["schema"], "components": closed["components"]}
        validator(root).validate(event)


def _kinds(value: Any, name: str = "") -> Any:
    """The same with the kind of each value in its place; null stands for a text or a time."""
    if isinstance(value, dict):
        return {} if name in _FREE else {key: _kinds(part, key) for key, part in value.items()}
    if isinstance(value, list):
        is_pair = name not in ("tags", "permissions", "events")
        return [_kinds(part, name) for part in (value if is_pair else value[:1])]
    if name.endswith(("_at", "_since", "timestamp")):
        return "time" if value is None else _TIME.sub("time", value)
    return str if value is None else type(value)


class Program(NamedTuple):
    """A program of the guide that runs in a directory of its own."""

    command: list[str]
    text: str
    directory: Path
    key: Key

    @contextmanager
    def running(self) -> Iterator[Callable[[], str]]:
        """Run the program, yield its output so far, and kill it at the end."""
        output = self.directory / "output"
        env = {
            "PATH": os.environ["PATH"],
            "SEALDESK_API_URL": self.key.service.url,
            "SEALDESK_API_KEY": self.key.api_key,
            "SEALDESK_API_SECRET": self.key.api_secret,
        }
        with output.open("w") as said:
            process = subprocess.Popen(
                [*self.command, self.text], cwd=self.directory, env=env, stdout=said, stderr=said
            )
            try:
                yield output.read_text
            finally:
                process.kill()
                process.wait(120)

    def cursor(self) -> str:
        place = self.directory / "sealdesk-cursor"
        return place.read_text() if place.exists() else ""


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


@pytest.fixture
def python(key: Key, tmp_path: Path) -> Program:
    (text,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    return Program([sys.executable, "-c"], text, tmp_path, key)


@pytest.fixture
def curl(key: Key, tmp_path: Path) -> Program:
    (text,) = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    return Program(["sh", "-c"], text, tmp_path, key)


def _is_at_the_end(program: Program, feed: Feed) -> bool:
    feed.recorded()
    cursor = program.cursor()
    return bool(cursor) and feed.position_of(cursor) == feed.last()


def test_the_program_reads_everything_once_and_then_new_events(
    python: Program, tenant: Tenant, key: Key, feed: Feed
) -> None:
    tickets = [key.ticket() for _ in range(2)]
    feed.recorded()
    with python.running() as said:
        wait_until(lambda: "read tickets" in said())
        (later,) = record(tenant, "ticket.created")
        wait_until(lambda: later in said())
    read = [f"read customers {tickets[0]['customer']['id']}"]
    read += [f"read tickets {ticket['id']}" for ticket in reversed(tickets)]
    assert said().splitlines() == [*read, f"ticket.created {later}"]


def test_the_program_catches_up_after_an_outage(
    python: Program, tenant: Tenant, feed: Feed
) -> None:
    with python.running() as said:
        wait_until(lambda: bool(python.cursor()) or "Error" in said())
    missed = record(tenant, "ticket.created", 230)
    with python.running() as said:
        wait_until(lambda: _is_at_the_end(python, feed))
        (later,) = record(tenant, "ticket.created")
        wait_until(lambda: later in said())
    assert said().splitlines() == [f"ticket.created {event}" for event in (*missed, later)]


def test_the_program_starts_again_when_its_cursor_has_expired(
    python: Program, tenant: Tenant, key: Key, feed: Feed
) -> None:
    with python.running() as said:
        wait_until(lambda: bool(python.cursor()) or "Error" in said())
    ticket = key.ticket()
    feed.recorded()
    until_us = tenant.service.clock.now_us() + 1
    tenant.service.write(lambda tx: events.prune(tx, tenant.id, until_us, 1000))
    with python.running() as said:
        wait_until(lambda: f"read tickets {ticket['id']}" in said())
        (later,) = record(tenant, "ticket.created")
        wait_until(lambda: later in said())
    assert said().splitlines()[-1] == f"ticket.created {later}"


def test_the_terminal_follows_the_feed(curl: Program, tenant: Tenant, feed: Feed) -> None:
    missed = record(tenant, "ticket.created", 120)
    with curl.running() as said:
        wait_until(lambda: _is_at_the_end(curl, feed))
        (later,) = record(tenant, "ticket.created")
        wait_until(lambda: later in said())
    pages = [json.loads(line) for line in said().splitlines()]
    shown = [event["id"] for page in pages for event in page["data"]]
    assert shown == [*missed, later]


def test_the_guide_lists_all_parameters(service: Service) -> None:
    reported = set(re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE))
    operation = Person(service, "").get("/openapi.json").json()["paths"][EVENTS]["get"]
    names = {parameter["name"] for parameter in operation["parameters"]}
    assert reported == names - {"per_page", "cursor"}
