"""The SQL of automation rules."""

from collections import defaultdict

from sealdesk.automation import rules
from sealdesk.automation.types import Rule
from sealdesk.db.column_lists import (
    assignment_list,
    column_list,
    delete_row,
    insert_into,
    select_row,
)
from sealdesk.db.engine import StructRows, Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.resources.paging import PageRequest

RULES = StructRows(Rule)
_COLUMNS = column_list(RULES.columns)
_CHANGED = (*rules.CHANGED, "paused_because", "enabled_at", "version", "updated_at")
_FIND = select_row("automation_rules", _COLUMNS)
_LIST = f"""
SELECT {_COLUMNS} FROM automation_rules WHERE tenant_id = :tenant_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""
_LIST_ALL = f"""
SELECT {_COLUMNS} FROM automation_rules WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit
"""
_ADD = insert_into("automation_rules", RULES.columns)
# A rule that is enabled looks at all tickets that are unchanged for so long.
_REPLACE = f"""
UPDATE automation_rules SET {assignment_list(_CHANGED)}, reached_at = 0, reached_id = '',
    looked_at = 0
WHERE tenant_id = :tenant_id AND id = :id
"""
_DELETE = delete_row("automation_rules")
_EVENTS = """
SELECT position, id, type, created_at, object FROM events
WHERE tenant_id = :tenant_id AND position >= :position ORDER BY position LIMIT :limit
"""
# A ticket whose rules have failed is due later; others are due at once.
_FAILING = """
SELECT k.caused_by, t.id, t.number FROM automation_tasks k
JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = k.ticket_id
WHERE k.tenant_id = :tenant_id AND k.due_at > :now ORDER BY k.due_at, k.id LIMIT :limit
"""
_MAX_FAILING = 100
_MAX_BYTES = 1024 * 1024


async def list_page(tx: Tx, tenant_id: str, page: PageRequest) -> list[Rule]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id)
    large = ("conditions", "actions")
    return [RULES.read(row) for row in await tx.fetch_page(_LIST, params, large, page.max_bytes)]


async def list_rules(tx: Tx, tenant_id: str) -> list[Rule]:
    """All rules of a tenant in the order in which they run."""
    params = {"tenant_id": tenant_id, "limit": rules.MAX_RULES}
    return sorted(map(RULES.read, await tx.fetch_all(_LIST_ALL, params)), key=rules.order)


async def find(tx: Tx, tenant_id: str, rule_id: str) -> Rule | None:
    return await RULES.find(tx, _FIND, {"tenant_id": tenant_id, "id": rule_id})


async def list_failing(tx: Tx, tenant_id: str, now_us: int) -> dict[str, dict[str, int]]:
    """Rule on time → the tickets on which it has failed and that it will try again: id → number."""
    params = {"tenant_id": tenant_id, "now": now_us, "limit": _MAX_FAILING}
    failing = defaultdict[str, dict[str, int]](dict)
    for rule_id, ticket_id, number in map(tuple, await tx.fetch_all(_FAILING, params)):
        failing[rule_id][ticket_id] = number
    return failing


async def add(tx: Tx, rule: Rule) -> None:
    await tx.execute_one(_ADD, RULES.params(rule))


async def replace(tx: Tx, rule: Rule) -> None:
    """Store the changed fields of a rule."""
    await tx.execute_one(_REPLACE, RULES.params(rule))


async def delete(tx: Tx, tenant_id: str, rule_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": rule_id})


async def list_events(tx: Tx, tenant_id: str, after: int, limit: int) -> list[LogEvent]:
    """The next events behind a position, with their objects."""
    params = {"tenant_id": tenant_id, "position": after + 1, "limit": limit}
    rows = await tx.fetch_page(_EVENTS, params, ("object",), _MAX_BYTES)
    return [
        LogEvent(position, tenant_id, position, *values) for position, *values in map(tuple, rows)
    ]
