"""Each operation of the external API has a method in both clients."""

import re
from collections.abc import Callable

import pytest

from sealdesk.client import AsyncDesk, Desk, InvalidConfiguration, SealdeskError
from sealdesk.client.error_codes import NoMailbox
from sealdesk.client.errors import NotFound
from sealdesk.client.parameters import NewRule, RuleCondition
from sealdesk.client.rule_requests import DryRun
from tests import vectors
from tests.support.openapi import openapi_document
from tests.support.service import Tenant, wait_until
from tests.typescript.sources import CLIENT

_ROOT = "/api/v1/external"
# The Python method of each operation; in TypeScript it has the same name in camel case.
_METHODS = {
    "add_follower": "followers.add",
    "add_link": "links.add",
    "change_customer": "customers.update",
    "change_ticket": "tickets.update",
    "change_tickets": "tickets.bulk_update",
    "change_webhook_by_key": "webhooks.update",
    "create_customer": "customers.create",
    "create_reply": "replies.create",
    "create_ticket": "tickets.create",
    "create_tickets": "tickets.bulk_create",
    "create_webhook_by_key": "webhooks.create",
    "change_rule_by_key": "rules.update",
    "create_rule_by_key": "rules.create",
    "delete_rule_by_key": "rules.delete",
    "get_rule_by_key": "rules.get",
    "list_rules_by_key": "rules.list",
    "try_rule_by_key": "rules.dry_run",
    "delete_customer": "customers.delete",
    "delete_webhook_by_key": "webhooks.delete",
    "download": "attachments.download",
    "erase_customer": "customers.erase",
    "get_attachment": "attachments.get",
    "get_customer": "customers.get",
    "get_delivery_by_key": "webhooks.delivery",
    "get_erasure": "customers.erasure",
    "get_participants": "participants.get",
    "get_ticket": "tickets.get",
    "get_test_clock": "test_clock",
    "get_webhook_by_key": "webhooks.get",
    "list_agents": "agents",
    "list_choices": "teams",
    "list_customers": "customers.list",
    "list_deliveries_by_key": "webhooks.deliveries",
    "list_events": "events.page",
    "get_report": "report",
    "list_report_tickets": "report_tickets",
    "list_followers": "followers.list",
    "list_links": "links.list",
    "list_replays_by_key": "webhooks.replays",
    "list_replies": "replies.list",
    "list_tickets": "tickets.list",
    "list_webhooks_by_key": "webhooks.list",
    "merge_customer": "customers.merge",
    "merge_ticket": "tickets.merge",
    "redeliver_by_key": "webhooks.redeliver",
    "redeliver_failed_by_key": "webhooks.redeliver_failed",
    "remove_follower": "followers.remove",
    "remove_link": "links.remove",
    "replay_events_by_key": "webhooks.replay",
    "retry_now_by_key": "webhooks.retry_now",
    "rotate_webhook_secret_by_key": "webhooks.rotate_secret",
    "search_tickets": "tickets.search",
    "set_participants": "participants.set",
    "set_test_clock": "set_test_clock",
    "split_ticket": "tickets.split",
    "create_rating_link": "tickets.rating_link",
    "test_webhook_by_key": "webhooks.test",
    "undo_customer_merge": "customers.undo_merge",
    "undo_merge": "tickets.undo_merge",
    "upload": "attachments.upload",
    "upsert_customer": "customers.upsert",
    "whoami": "whoami",
}

_CLASS = re.compile(r"^export class (\w+)[^{]*\{\n(.*?)^\}", re.M | re.S)


def _operations() -> set[str]:
    return {
        operation["operationId"]
        for path, item in openapi_document()["paths"].items()
        if path.startswith(_ROOT)
        for operation in item.values()
        if isinstance(operation, dict)
    }


def test_every_operation_has_a_method_in_the_list() -> None:
    assert set(_METHODS) == _operations()


def test_the_python_client_has_every_method() -> None:
    url = "http://desk.example.test"
    for desk in (
        Desk(vectors.API_KEY, vectors.API_SECRET, url),
        AsyncDesk(vectors.API_KEY, vectors.API_SECRET, url),
    ):
        for method in _METHODS.values():
            found: object = desk
            for name in method.split("."):
                found = getattr(found, name)
            assert callable(found)


def test_the_typescript_client_has_every_method() -> None:
    found = _typescript_methods()
    assert {_camel(method) for method in _METHODS.values()} - found == set()


def _typescript_methods() -> set[str]:
    """The methods of each class, such as tickets.bulkCreate, and those of the desk."""
    found: set[str] = set()
    for file in (CLIENT / "src").glob("*.ts"):
        for name, body in re.findall(
            r"^export class (\w+)[^{]*\{\n(.*?)^\}", file.read_text(), re.M | re.S
        ):
            prefix = "" if name == "Desk" else f"{name.lower()}."
            methods = re.findall(r"^  (?:async )?(\w+)(?:<\w+>)?\(", body, re.M)
            found |= {prefix + method for method in methods}
    return found


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def test_what_few_ask_for_is_read_too(desk: Desk) -> None:
    customer = desk.customers.create(email="ann@customer.test")
    ticket = desk.tickets.create(
        subject="Help", description="Please", customer={"email": customer.email}
    )
    first = desk.replies.create(ticket.id, body="We look at it.")
    split = desk.tickets.split(ticket.id, reply_id=first.id, subject="Another matter")
    assert (split.subject, split.description) == ("Another matter", "We look at it.")
    assert desk.tickets.rating_link(split.id).url.startswith("http")
    assert list(desk.participants.get(ticket.id).participants) == []
    with pytest.raises(NoMailbox):
        desk.participants.set(ticket.id, [{"email": "bo@customer.test", "name": "Bo"}])
    wait_until(lambda: list(desk.report_tickets(figure="created")) != [])
    begun = desk.customers.erase(customer.id)
    assert begun.customer_id == customer.id
    assert desk.customers.erasure(customer.id).created_at == begun.created_at


def test_the_clock_of_a_test_tenant_is_set_ahead(
    tenant: Tenant, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(tenant.test_key())
    before = desk.test_clock()
    assert desk.set_test_clock(advance_s=3600).now > before.now
    later = desk.test_clock().now
    with pytest.raises(SealdeskError):
        desk.set_test_clock(now=before.now)
    assert desk.test_clock().now >= later


def test_a_key_manages_rules(tenant: Tenant, make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(tenant.key(permissions=["rules:read", "rules:write"]))
    vip: RuleCondition = {"field": "tag", "operator": "is", "values": ["vip"]}
    new: NewRule = {"name": "VIP first", "trigger": "created", "actions": {"priority": "high"}}
    new["conditions"] = [vip]
    rule = desk.rules.create(**new, idempotency_key="vip")
    assert desk.rules.create(**new, idempotency_key="vip") == rule
    assert (rule.actions["priority"], rule.is_enabled, [*desk.rules.list()]) == ("high", 0, [rule])
    assert desk.rules.update(rule.id, is_enabled=True).version == 2
    assert desk.rules.dry_run(rule.id) == DryRun(tickets=[], next_after=None)
    with pytest.raises(InvalidConfiguration, match="did you mean 'conditions'"):
        desk.rules.update(rule.id, condition=[])  # type: ignore[call-arg]
    desk.rules.delete(rule.id)
    with pytest.raises(NotFound):
        desk.rules.get(rule.id)
