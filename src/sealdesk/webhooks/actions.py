"""Actions on webhook endpoints; each is the work of one transaction."""

from typing import Any

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Caller
from sealdesk.crypto import webhook_signing
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound, must_exist, raise_any
from sealdesk.event_log import events
from sealdesk.records import audit
from sealdesk.records.endpoints import seal_context
from sealdesk.resources.paging import PageRequest
from sealdesk.resources.representation import check_seen
from sealdesk.webhooks import rules
from sealdesk.webhooks.errors import (
    EVENT_DELETED,
    REPLAY_IN_PROGRESS,
    TOO_MANY_WEBHOOKS,
    WEBHOOK_DISABLED,
    WEBHOOK_INACTIVE,
)
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    Attempt,
    Delivery,
    DeliveryResponse,
    DeliveryWithAttempts,
    Endpoint,
    NewReplay,
    NewWebhook,
    Replay,
    ReplayResponse,
    WebhookChange,
    WebhookResponse,
    WebhookWithSecret,
)


async def create_webhook(
    tx: Tx, caller: Caller, new: NewWebhook, *, key_ring: KeyRing, now_us: int
) -> WebhookWithSecret:
    """Create an endpoint; its URL has been checked. Raises Conflict above MAX_ENDPOINTS."""
    # Concurrent requests count each other's endpoints.
    await tx.lock("webhooks", caller.tenant_id)
    await _check_limit(tx, caller.tenant_id)
    secret = webhook_signing.mint_secret()
    endpoint = _with_secret(
        Endpoint(
            tenant_id=caller.tenant_id,
            id=ids.mint(now_us),
            url=new.url,
            events=rules.sort_event_types(new.events),
            description=new.description,
            is_active=True,
            disabled_reason=None,
            sealed_secret=b"",
            secret_version=1,
            sealed_old_secret=None,
            old_secret_until=None,
            failing_since=None,
            created_at=now_us,
        ),
        secret,
        key_ring,
    )
    await endpoint_store.add(tx, endpoint)
    await record_audit(tx, caller, "webhook.created", endpoint, now_us)
    return rules.with_secret(endpoint, secret, now_us)


async def change_webhook(
    tx: Tx,
    caller: Caller,
    endpoint_id: str,
    change: WebhookChange,
    *,
    now_us: int,
    seen: str = "",
) -> WebhookResponse:
    """Change an endpoint; a new URL has been checked.

    seen: its `settings_hash` as the caller has seen it, "" for any.
    Raises NotFound, PreconditionFailed.
    """
    await _lock_endpoint(tx, caller.tenant_id, endpoint_id)
    endpoint = await get_webhook(tx, caller.tenant_id, endpoint_id)
    check_seen(seen, rules.settings_hash(endpoint))
    changed = rules.changed(endpoint, change)
    if changed == endpoint:
        return rules.endpoint_response(endpoint, now_us)
    await endpoint_store.update(tx, changed)
    if changed.is_active and not endpoint.is_active:
        await endpoint_store.resume(tx, caller.tenant_id, endpoint_id, now_us)
    elif endpoint.is_active and not changed.is_active:
        await endpoint_store.pause(tx, caller.tenant_id, endpoint_id)
    differences = rules.differences(endpoint, changed)
    await record_audit(tx, caller, "webhook.updated", changed, now_us, changes=differences)
    return rules.endpoint_response(changed, now_us)


async def delete_webhook(tx: Tx, caller: Caller, endpoint_id: str, *, now_us: int) -> None:
    """Delete an endpoint and its secrets. Raises NotFound, also the second time."""
    await _lock_endpoint(tx, caller.tenant_id, endpoint_id)
    endpoint = await get_webhook(tx, caller.tenant_id, endpoint_id)
    await endpoint_store.delete(tx, caller.tenant_id, endpoint_id, now_us)
    await record_audit(tx, caller, "webhook.deleted", endpoint, now_us)


async def rotate_secret(
    tx: Tx, caller: Caller, endpoint_id: str, *, key_ring: KeyRing, now_us: int
) -> WebhookWithSecret:
    """Make a new secret; the old one also signs for a day. Raises NotFound."""
    await _lock_endpoint(tx, caller.tenant_id, endpoint_id)
    endpoint = await get_webhook(tx, caller.tenant_id, endpoint_id)
    secret = webhook_signing.mint_secret()
    rotated = msgspec.structs.replace(
        endpoint,
        secret_version=endpoint.secret_version + 1,
        sealed_old_secret=endpoint.sealed_secret,
        old_secret_until=now_us + rules.OLD_SECRET_US,
    )
    rotated = _with_secret(rotated, secret, key_ring)
    await endpoint_store.store_secrets(tx, rotated)
    await record_audit(tx, caller, "webhook.rotated", rotated, now_us)
    return rules.with_secret(rotated, secret, now_us)


async def get_webhook(tx: Tx, tenant_id: str, endpoint_id: str) -> Endpoint:
    """Raises NotFound."""
    return must_exist(await endpoint_store.find(tx, tenant_id, endpoint_id))


async def get_delivery(
    tx: Tx, tenant_id: str, endpoint_id: str, delivery_id: str
) -> DeliveryWithAttempts:
    """A delivery with its attempts. Raises NotFound."""
    delivery = await _get_delivery(tx, tenant_id, endpoint_id, delivery_id)
    attempts = await endpoint_store.list_attempts(tx, tenant_id, delivery_id, rules.MAX_ATTEMPTS)
    event = await endpoint_store.find_event(tx, tenant_id, delivery.event_id)
    payload = None if event is None else events.payload(event)
    return rules.delivery_with_attempts(delivery, attempts, payload)


async def redeliver(
    tx: Tx, caller: Caller, endpoint_id: str, delivery_id: str, *, now_us: int
) -> DeliveryResponse:
    """Send an event again, with a schedule of its own. Raises NotFound, Conflict."""
    endpoint = await get_active(tx, caller.tenant_id, endpoint_id)
    delivery = await _get_delivery(tx, caller.tenant_id, endpoint_id, delivery_id)
    if await endpoint_store.find_event(tx, caller.tenant_id, delivery.event_id) is None:
        raise NotFound(EVENT_DELETED)
    last = await endpoint_store.list_attempts(tx, caller.tenant_id, delivery_id, 1)
    await endpoint_store.restart_delivery(tx, caller.tenant_id, delivery_id, now_us)
    await endpoint_store.wake(tx, caller.tenant_id, endpoint_id, now_us)
    details = {"delivery_id": delivery_id, "event_type": delivery.event_type}
    await record_audit(tx, caller, "webhook.redelivered", endpoint, now_us, **details)
    restarted = msgspec.structs.replace(delivery, status="pending", retry_count=0, due_at=now_us)
    return rules.delivery_response(restarted, rules.attempt_summary(last[0]) if last else None)


async def replay(
    tx: Tx, caller: Caller, endpoint_id: str, new: NewReplay, *, now_us: int
) -> ReplayResponse:
    """Deliver the events of a time range again. Raises NotFound, Conflict, ValidationFailed."""
    since, until = _parse_range(new, now_us)
    await _lock_endpoint(tx, caller.tenant_id, endpoint_id)
    endpoint = await get_active(tx, caller.tenant_id, endpoint_id)
    unfinished = await endpoint_store.find_open_replay(tx, caller.tenant_id, endpoint_id)
    if unfinished is not None:
        raise Conflict(REPLAY_IN_PROGRESS, replay_id=unfinished.id)
    added = Replay(
        tenant_id=caller.tenant_id,
        id=ids.mint(now_us),
        endpoint_id=endpoint_id,
        since=since,
        until=until,
        after_id=ids.lowest(since),
        delivery_count=0,
        created_at=now_us,
        finished_at=None,
    )
    await endpoint_store.add_replay(tx, added)
    response = rules.replay_response(added)
    details = {"since": response.since, "until": response.until}
    await record_audit(tx, caller, "webhook.replayed", endpoint, now_us, **details)
    return response


async def begin_test(
    tx: Tx, caller: Caller, endpoint_id: str, *, now_us: int
) -> tuple[Endpoint, str, bytes]:
    """Record a test before it is sent; the endpoint, the id of the event, and its payload.

    Raises NotFound.
    """
    endpoint = await get_webhook(tx, caller.tenant_id, endpoint_id)
    document = msgspec.json.encode(rules.endpoint_response(endpoint, now_us))
    event_id = await events.record(
        tx, caller.tenant_id, "webhook.test", document, events.NO_CHANGES, now_us
    )
    await record_audit(tx, caller, "webhook.tested", endpoint, now_us)
    event = await endpoint_store.find_event(tx, caller.tenant_id, event_id)
    return endpoint, event_id, events.payload(event)


async def end_test(
    tx: Tx, endpoint: Endpoint, event_id: str, attempt: Attempt, *, now_us: int
) -> DeliveryWithAttempts:
    """Store the attempt of a test. Raises NotFound if the endpoint was deleted."""
    delivery = Delivery(
        tenant_id=endpoint.tenant_id,
        id=ids.mint(now_us),
        endpoint_id=endpoint.id,
        event_id=event_id,
        event_type="webhook.test",
        status="succeeded" if rules.is_success(attempt.status) else "failed",
        attempt_count=1,
        retry_count=0,
        due_at=None,
        created_at=now_us,
    )
    await get_webhook(tx, endpoint.tenant_id, endpoint.id)
    await endpoint_store.add_delivery(tx, delivery)
    await endpoint_store.add_attempt(tx, endpoint.tenant_id, delivery.id, attempt)
    return await get_delivery(tx, endpoint.tenant_id, endpoint.id, delivery.id)


async def reseal_webhook(tx: Tx, tenant_id: str, endpoint_id: str, *, key_ring: KeyRing) -> bool:
    """Seal an endpoint's secrets with the first master key of the ring; whether any changed."""
    await _lock_endpoint(tx, tenant_id, endpoint_id)
    endpoint = await endpoint_store.find(tx, tenant_id, endpoint_id)
    if endpoint is None:
        return False
    version, old = endpoint.secret_version, endpoint.sealed_old_secret
    resealed = msgspec.structs.replace(
        endpoint,
        sealed_secret=_reseal(endpoint, endpoint.sealed_secret, version, key_ring),
        sealed_old_secret=None if old is None else _reseal(endpoint, old, version - 1, key_ring),
    )
    if resealed == endpoint:
        return False
    await endpoint_store.store_secrets(tx, resealed)
    return True


async def _lock_endpoint(tx: Tx, tenant_id: str, endpoint_id: str) -> None:
    # Serializes the changes of one endpoint.
    await tx.lock(f"webhook {endpoint_id}", tenant_id)


async def _check_limit(tx: Tx, tenant_id: str) -> None:
    limit = rules.MAX_ENDPOINTS
    page = PageRequest(limit - 1, None)
    if len(await endpoint_store.list_endpoints(tx, tenant_id, page)) >= limit:
        raise Conflict(TOO_MANY_WEBHOOKS, limit=limit)


async def get_active(tx: Tx, tenant_id: str, endpoint_id: str) -> Endpoint:
    """An endpoint that is neither paused nor disabled. Raises NotFound, Conflict."""
    endpoint = await get_webhook(tx, tenant_id, endpoint_id)
    if not endpoint.is_active:
        raise Conflict(WEBHOOK_INACTIVE if endpoint.disabled_reason is None else WEBHOOK_DISABLED)
    return endpoint


async def _get_delivery(tx: Tx, tenant_id: str, endpoint_id: str, delivery_id: str) -> Delivery:
    await get_webhook(tx, tenant_id, endpoint_id)
    return must_exist(await endpoint_store.find_delivery(tx, tenant_id, endpoint_id, delivery_id))


def _with_secret(endpoint: Endpoint, secret: str, key_ring: KeyRing) -> Endpoint:
    context = seal_context(endpoint.tenant_id, endpoint.id, endpoint.secret_version)
    return msgspec.structs.replace(endpoint, sealed_secret=key_ring.seal(secret, context))


def _reseal(endpoint: Endpoint, sealed: bytes, version: int, key_ring: KeyRing) -> bytes:
    if key_ring.is_current(sealed):
        return sealed
    context = seal_context(endpoint.tenant_id, endpoint.id, version)
    return key_ring.seal(key_ring.open(sealed, context), context)


def _parse_range(new: NewReplay, now_us: int) -> tuple[int, int]:
    since, until = clock.parse_instant(new.since) or 0, clock.parse_instant(new.until) or 0
    raise_any(rules.find_range_faults(since, until, now_us))
    return since, until


async def record_audit(
    tx: Tx, caller: Caller, action: str, endpoint: Endpoint, now_us: int, **details: Any
) -> None:
    # The query of a URL may contain a token.
    public = {"url": rules.without_query(endpoint.url), **details}
    await audit.record(tx, caller, action, endpoint.id, public, now_us)
