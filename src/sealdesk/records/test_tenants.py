"""Test tenants: where the test keys of a tenant live, each with a clock that can be set ahead."""

from typing import NamedTuple

from sealdesk.db.column_lists import select_row
from sealdesk.db.engine import Tx
from sealdesk.records import endpoints

_COLUMNS = "tenant_id, live_id, clock_offset_us"
# The offset of the tenant of a statement, as a part of it.
OFFSET = """coalesce((SELECT t.clock_offset_us FROM test_tenants t
    WHERE t.tenant_id = :tenant_id LIMIT 1), 0)"""
_FIND = select_row("test_tenants", _COLUMNS, "tenant_id")
_FIND_OF = select_row("test_tenants", _COLUMNS, "live_id")
_LIST_AHEAD = f"""
SELECT {_COLUMNS} FROM test_tenants WHERE clock_offset_us > 0 AND tenant_id > :after
ORDER BY tenant_id LIMIT :limit
"""
_ADD = "INSERT INTO test_tenants (tenant_id, live_id, clock_offset_us) VALUES (:id, :live_id, 0)"
# Never backwards: ids and events carry their time, and lists are in its order.
_SET_AHEAD = """
UPDATE test_tenants SET clock_offset_us = :offset_us
WHERE tenant_id = :tenant_id AND clock_offset_us <= :offset_us
"""


class TestTenant(NamedTuple):
    """A test tenant. live_id: the tenant beside which it was made."""

    tenant_id: str
    live_id: str
    clock_offset_us: int


async def find(tx: Tx, tenant_id: str) -> TestTenant | None:
    """The test tenant with this id; None if it is a live one."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id})
    return None if row is None else TestTenant(*row)


async def find_of(tx: Tx, live_id: str) -> TestTenant | None:
    row = await tx.fetch_one(_FIND_OF, {"live_id": live_id})
    return None if row is None else TestTenant(*row)


async def add(tx: Tx, tenant_id: str, live_id: str) -> None:
    await tx.execute_one(_ADD, {"id": tenant_id, "live_id": live_id})


async def list_ahead(tx: Tx, after: str, limit: int) -> list[TestTenant]:
    """Test tenants whose clock is ahead of the real time, by their id."""
    rows = await tx.fetch_all(_LIST_AHEAD, {"after": after, "limit": limit})
    return [TestTenant(*row) for row in rows]


async def find_offset_us(tx: Tx, tenant_id: str) -> int:
    """How far the clock of a tenant is ahead of the real time; 0 for a live one."""
    found = await find(tx, tenant_id)
    return 0 if found is None else found.clock_offset_us


async def set_offset(tx: Tx, tenant_id: str, offset_us: int, real_us: int) -> bool:
    """Set a clock ahead, and look for webhooks that are now due; False if it would go back."""
    params = {"tenant_id": tenant_id, "offset_us": offset_us}
    if await tx.execute(_SET_AHEAD, params) != 1:
        return False
    await endpoints.wake_all(tx, tenant_id, real_us)
    return True
