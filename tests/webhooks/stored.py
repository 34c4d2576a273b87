"""Stored webhook endpoints and replays without a receiver."""

from sealdesk import ids
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import Endpoint, Replay
from tests.support.service import Service, Tenant

_NEVER = 2**62


def stored_endpoint(
    tenant: Tenant, *wanted: str, is_active: bool = True, description: str | None = None
) -> Endpoint:
    """An endpoint to which nothing is sent, because its lease never expires."""
    service = tenant.service
    now_us = service.clock.now_us()
    endpoint = Endpoint(
        tenant_id=tenant.id,
        id=ids.mint(now_us),
        url="https://hooks.example.test/secret",
        events=wanted,
        description=description,
        is_active=is_active,
        disabled_reason=None,
        sealed_secret=b"",
        secret_version=1,
        sealed_old_secret=None,
        old_secret_until=None,
        failing_since=None,
        created_at=now_us,
    )
    service.write(lambda tx: endpoint_store.add(tx, endpoint))
    service.run(f"UPDATE endpoints SET leased_until = {_NEVER} WHERE id = '{endpoint.id}'")
    return endpoint


def add_replay(service: Service, endpoint: Endpoint) -> None:
    """A finished replay."""
    now_us = service.clock.now_us()
    replay = Replay(
        tenant_id=endpoint.tenant_id,
        id=ids.mint(now_us),
        endpoint_id=endpoint.id,
        since=now_us,
        until=now_us + 1,
        after_id=ids.lowest(now_us),
        delivery_count=0,
        created_at=now_us,
        finished_at=now_us,
    )
    service.write(lambda tx: endpoint_store.add_replay(tx, replay))
