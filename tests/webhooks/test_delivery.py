"""Delivering: every event arrives at every endpoint that wants it, signed, in the end."""

import json

from tests.support.client import Key, Person
from tests.support.receiver import Receiver
from tests.support.service import Tenant
from tests.webhooks.managing import made


def test_an_event_arrives_as_it_happened(
    tenant: Tenant, key: Key, admin: Person, receiver: Receiver
) -> None:
    made(admin, receiver)
    ticket = key.ticket()
    (got,) = receiver.wait(1)
    sent = json.loads(got.body)
    assert (sent["type"], sent["data"]) == ("ticket.created", {"object": ticket, "changes": {}})
    assert got.webhook_id == sent["id"]
