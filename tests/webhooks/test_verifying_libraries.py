"""The official libraries verify the webhooks of Sealdesk, also during a rotation."""

import base64
import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any, Self

import pytest
from standardwebhooks import Webhook, WebhookVerificationError, webhooks

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from tests.interop import run_node
from tests.support.client import Person
from tests.support.databases import SQLITE_FIRST
from tests.support.receiver import Got, Receiver
from tests.support.service import Service, Tenant
from tests.webhooks.factories import WEBHOOKS, made

COUNT = 40
MANY = pytest.param(1000, marks=pytest.mark.prove)
DAY_S = 24 * 3600
# Reads lines of {secret, now_ms, headers, body}; prints the count of each result.
NODE_VERIFIES = """
import { createInterface } from "node:readline";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
const counts = { true: 0, false: 0 };
for await (const line of createInterface({ input: process.stdin })) {
  const { secret, now_ms, headers, body } = JSON.parse(line);
  Date.now = () => now_ms;
  try {
    const event = new Webhook(secret).verify(Buffer.from(body, "base64"), headers);
    if (event.id !== headers["webhook-id"]) throw new Error("another event");
    counts.true += 1;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    counts.false += 1;
  }
}
console.log(JSON.stringify(counts));
"""
TEXTS = ("Hello", "Grüße, 日本 🎟", '"quoted" \\ / </script>', "line\nbreak\ttab", "\x7f\u2028")


def happen(tenant: Tenant, count: int) -> None:
    """Open tickets with texts of all kinds."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for number in range(count):
            fields = {"id": str(number), "subject": TEXTS[number % len(TEXTS)] * (1 + number % 50)}
            document = json.dumps(fields, ensure_ascii=number % 2 == 0).encode()
            await events.record(
                tx, tenant.id, "ticket.created", document, {"status": ("open", None)}, now_us
            )

    tenant.service.write(work)


def verified_by_python(secret: str, got: Iterable[Got], now_s: float) -> int:
    """How many of them the library verifies at this time."""

    class At(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(now_s, tz)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webhooks, "datetime", At)
        return Counter(_is_verified(secret, one) for one in got)[True]


def _is_verified(secret: str, one: Got) -> bool:
    try:
        event = Webhook(secret).verify(one.body, one.headers)
    except WebhookVerificationError:
        return False
    assert event["id"] == one.webhook_id
    return True


def verified_by_node(secret: str, got: Iterable[Got], now_s: float) -> int:
    """How many of them the library verifies at this time."""
    lines = [
        json.dumps(
            {
                "secret": secret,
                "now_ms": round(now_s * 1000),
                "headers": one.headers,
                "body": base64.b64encode(one.body).decode(),
            }
        )
        for one in got
    ]
    done = run_node(NODE_VERIFIES, "\n".join(lines))
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout)
    assert sum(counts.values()) == len(lines)
    return counts["true"]


def verified(secret: str, got: list[Got], service: Service) -> tuple[int, int]:
    """How many of them verify with this secret: in Python, and in Node."""
    now_s = service.clock.now_us() / 1_000_000
    return verified_by_python(secret, got, now_s), verified_by_node(secret, got, now_s)


def arrived(tenant: Tenant, receiver: Receiver, count: int) -> list[Got]:
    """The requests of this many events."""
    receiver.got.clear()
    happen(tenant, count)
    got = receiver.wait(count)
    assert len({one.webhook_id for one in got}) == len(got) == count
    return got


@SQLITE_FIRST
@pytest.mark.parametrize("count", [COUNT, MANY])
def test_the_libraries_verify_all_deliveries(
    service: Service, tenant: Tenant, admin: Person, receiver: Receiver, count: int
) -> None:
    secret = made(admin, receiver)["secret"]
    got = arrived(tenant, receiver, count)
    assert verified(secret, got, service) == (count, count)


@SQLITE_FIRST
def test_the_libraries_verify_with_both_secrets_for_a_day_after_a_rotation(
    own_service: Service, receiver: Receiver
) -> None:
    service, tenant = own_service, own_service.tenant()
    endpoint = made(tenant.admin(), receiver)
    old, new = endpoint["secret"], rotated(tenant.admin(), endpoint)
    for count in (COUNT, COUNT // 4):
        got = arrived(tenant, receiver, count)
        assert verified(old, got, service) == verified(new, got, service) == (count, count)
        service.clock.advance(DAY_S - 60 if count == COUNT else 120)
    got = arrived(tenant, receiver, COUNT // 4)
    assert verified(old, got, service) == (0, 0)
    assert verified(new, got, service) == (COUNT // 4, COUNT // 4)


def rotated(admin: Person, endpoint: dict[str, Any]) -> str:
    """The new secret of an endpoint."""
    answer = admin.post(f"{WEBHOOKS}/{endpoint['id']}/rotate-secret")
    assert answer.is_success, answer.text
    return str(answer.json()["data"]["secret"])
