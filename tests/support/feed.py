"""A tenant's feed as it is stored."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.event_log.events import EventType
from sealdesk.resources.paging import Listing, open_cursor
from sealdesk.state import AppState
from sealdesk.worker import log_tasks
from sealdesk_citus.tenant_logs import TenantLogs
from tests.support.service import Service, Tenant

EVENTS = "/api/v1/external/events"
_OF_TENANT = "SELECT * FROM events WHERE tenant_id = :tenant_id ORDER BY position LIMIT 10000"
_LOOP_WITHIN_S = 2.0
_ENDS = "SELECT * FROM feed_positions WHERE tenant_id = :tenant_id LIMIT 1"


def recorded_in(service: Service) -> str:
    """The table to which the transaction of a change adds its events."""
    return "event_outbox" if service.settings.database_url else "events"


def wait_until_placed(service: Service) -> None:
    """Wait until every event has its position, and its deliveries."""
    service.settle()


@contextmanager
def unplaced() -> Iterator[None]:
    """No event gets a position inside this context, on PostgreSQL."""

    called = threading.Event()

    async def nothing(state: AppState) -> int:
        called.set()
        return 0

    async def nothing_of(logs: TenantLogs, state: AppState) -> int:
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_tasks, "sequence", nothing)
        patch.setattr(TenantLogs, "_find_pending", nothing_of)
        patch.setattr(TenantLogs, "_find_behind", nothing_of)
        # A step that has begun is over when the next one is called; without a loop none is.
        called.wait(_LOOP_WITHIN_S)
        yield


def record(tenant: Tenant, kind: str, count: int = 1, at_us: int | None = None) -> list[str]:
    """Events of a type, as if they had happened now or at `at_us`; their ids."""
    now_us = tenant.service.clock.now_us() if at_us is None else at_us

    async def work(tx: Tx) -> list[str]:
        return [
            await events.record(
                tx, tenant.id, cast(EventType, kind), b"{}", events.NO_CHANGES, now_us
            )
            for _ in range(count)
        ]

    return tenant.service.write(work)


class Feed:
    """The stored feed of a tenant."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self._service = tenant.service

    def recorded(self) -> list[Any]:
        """The rows of all that has happened, in order, once each has its position."""
        wait_until_placed(self._service)
        return self._service.rows(_OF_TENANT, tenant_id=self._tenant.id)

    def last(self) -> int:
        """The last position that was given."""
        return int(self._ends()["last_position"])

    def pruned(self) -> int:
        """The last position whose event was deleted."""
        return int(self._ends()["pruned_position"])

    def _ends(self) -> Any:
        (row,) = self._service.rows(_ENDS, tenant_id=self._tenant.id)
        return row

    def position_of(self, cursor: str, **query: str) -> object:
        """Where in the feed a cursor stands."""
        listing = Listing(self._tenant.id, EVENTS, query)
        (position,) = open_cursor(self._service.state.key_ring, listing, cursor)
        return position
