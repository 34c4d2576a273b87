"""The SQL with which the worker runs automation rules."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.automation.rules import MAX_RULES
from sealdesk.automation.store import RULES
from sealdesk.automation.types import PauseReason, Rule
from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import Tx

BATCH_EVENTS = 200
_LOOK_EVERY_US = 30 * 1_000_000  # at tickets that were unchanged for long enough
_POSTPONED_US = 60 * 1_000_000
_MAX_EFFECTS = 100  # of a ticket, that are read back
_COLUMNS = column_list(RULES.columns)
_RUNS = "is_enabled AND paused_because IS NULL"

_IS_USED = f"SELECT id FROM automation_rules WHERE {_RUNS} ORDER BY id LIMIT 1"
_LIST_STAMPS = f"""
SELECT tenant_id, count(*) AS rule_count, max(updated_at) AS updated_at
FROM automation_rules
WHERE {_RUNS} AND tenant_id IN (SELECT tenant_id FROM events
    WHERE log_position >= :first AND log_position <= :last)
GROUP BY tenant_id ORDER BY tenant_id LIMIT :limit
"""
_LIST_STAMPS_OF = f"""
SELECT tenant_id, count(*) AS rule_count, max(updated_at) AS updated_at
FROM automation_rules WHERE tenant_id = :tenant_id AND {_RUNS}
GROUP BY tenant_id ORDER BY tenant_id LIMIT :limit
"""
_LIST_RUNNING = f"""
SELECT {_COLUMNS} FROM automation_rules WHERE tenant_id = :tenant_id AND {_RUNS}
ORDER BY position, id LIMIT :limit
"""
_OBJECTS = """
SELECT id, object FROM events
WHERE tenant_id = :tenant_id AND position >= :first AND position <= :last
ORDER BY position LIMIT :limit
"""
_ADD_TASK = """
INSERT INTO automation_tasks (tenant_id, id, ticket_id, caused_by, created_at, due_at)
VALUES (:tenant_id, :id, :ticket_id, :caused_by, :created_at, :due_at)
"""
_LIST_TENANTS = f"""
SELECT tenant_id FROM (
    SELECT tenant_id FROM (SELECT tenant_id, due_at FROM automation_tasks WHERE due_at <= :now
        ORDER BY due_at, tenant_id, id LIMIT 10000) t
    UNION
    SELECT tenant_id FROM automation_rules
    WHERE hours > 0 AND {_RUNS} AND looked_at <= :looked_before
) d ORDER BY tenant_id LIMIT :limit
"""
_NEXT_TASK = """
SELECT id, ticket_id, caused_by, created_at FROM automation_tasks
WHERE tenant_id = :tenant_id AND due_at <= :now ORDER BY due_at, id LIMIT 1
"""
_DELETE_TASK = delete_row("automation_tasks")
_POSTPONE_TASK = update_row("automation_tasks", "due_at")
_NEXT_TIMED = f"""
SELECT {_COLUMNS}, reached_at, reached_id FROM automation_rules
WHERE tenant_id = :tenant_id AND hours > 0 AND {_RUNS} AND looked_at <= :looked_before
ORDER BY looked_at, position, id LIMIT 1
"""
_STORE_REACHED = update_row("automation_rules", "reached_at reached_id looked_at")
_UNCHANGED = """
SELECT id, updated_at FROM tickets
WHERE tenant_id = :tenant_id AND status = :status AND updated_at <= :until
    AND updated_at >= :reached_at AND (updated_at > :reached_at OR id > :reached_id)
ORDER BY updated_at, id LIMIT :limit
"""
_PAUSE = """
UPDATE automation_rules SET paused_because = :reason, version = version + 1, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id
"""
_ADD_EFFECT = insert_into(
    "automation_effects",
    "tenant_id ticket_id last_version first_version rule_id created_at",
)
_IS_CAUSED = """
SELECT rule_id FROM automation_effects
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND last_version >= :version
    AND first_version < :version ORDER BY last_version LIMIT 1
"""
_IS_RULE = """
SELECT rule_id FROM automation_effects
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND rule_id = :rule_id
ORDER BY last_version LIMIT 1
"""
_OBJECT = select_row("events", "object")
_EFFECTS = """
SELECT rule_id, first_version, last_version, created_at FROM automation_effects
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
ORDER BY last_version DESC LIMIT :limit
"""


class Stamp(NamedTuple):
    """Which running rules a tenant has: other ones have another stamp."""

    tenant_id: str
    rule_count: int
    updated_at: int


class Task(NamedTuple):
    """A ticket for which rules may hold after an event, and when it happened by the tenant's clock.

    caused_by: a trigger, or the id of a rule on time.
    """

    id: str
    ticket_id: str
    caused_by: str
    created_at: int


class Timed(NamedTuple):
    """A rule on time, and the last ticket that it has looked at."""

    rule: Rule
    reached_at: int
    reached_id: str


class Effect(NamedTuple):
    """What a rule did to a ticket: its versions behind first_version, up to last_version."""

    rule_id: str
    first_version: int
    last_version: int
    created_at: int


async def is_used(tx: Tx) -> bool:
    """Whether any tenant has a rule that runs."""
    return await tx.fetch_one(_IS_USED, {}) is not None


async def list_stamps(tx: Tx, first: int, last: int) -> list[Stamp]:
    """Of the tenants that have rules, and events in a range of the log."""
    params = {"first": first, "last": last, "limit": BATCH_EVENTS}
    return [Stamp(*row) for row in await tx.fetch_all(_LIST_STAMPS, params)]


async def list_stamps_of(tx: Tx, tenant_id: str) -> list[Stamp]:
    """The same of one tenant."""
    rows = await tx.fetch_all(_LIST_STAMPS_OF, {"tenant_id": tenant_id, "limit": 1})
    return [Stamp(*row) for row in rows]


async def list_running(tx: Tx, tenant_id: str) -> list[Rule]:
    """The rules that run, in their order."""
    params = {"tenant_id": tenant_id, "limit": MAX_RULES}
    return [RULES.read(row) for row in await tx.fetch_all(_LIST_RUNNING, params)]


async def list_objects(tx: Tx, tenant_id: str, first: int, last: int) -> dict[str, bytes]:
    """Event id → its object, in a range of a tenant's feed."""
    params = {"tenant_id": tenant_id, "first": first, "last": last, "limit": last - first + 1}
    return {row["id"]: row["object"] for row in await tx.fetch_all(_OBJECTS, params)}


async def add_task(tx: Tx, tenant_id: str, task: Task, now_us: int) -> None:
    # The clock of a test tenant may be ahead of the worker's.
    due = {"due_at": min(task.created_at, now_us)}
    await tx.execute_one(_ADD_TASK, {"tenant_id": tenant_id, **task._asdict(), **due})


async def list_due_tenants(tx: Tx, now_us: int, limit: int) -> list[str]:
    """The desks whose rules have something to do."""
    params = {"now": now_us, "looked_before": now_us - _LOOK_EVERY_US, "limit": limit}
    return [row["tenant_id"] for row in await tx.fetch_all(_LIST_TENANTS, params)]


async def find_task(tx: Tx, tenant_id: str, now_us: int) -> Task | None:
    """The oldest that is due."""
    row = await tx.fetch_one(_NEXT_TASK, {"tenant_id": tenant_id, "now": now_us})
    return None if row is None else Task(*row)


async def delete_task(tx: Tx, tenant_id: str, task: Task) -> None:
    await tx.execute_one(_DELETE_TASK, {"tenant_id": tenant_id, "id": task.id})


async def postpone_task(tx: Tx, tenant_id: str, task: Task, now_us: int) -> None:
    params = {"tenant_id": tenant_id, "id": task.id, "due_at": now_us + _POSTPONED_US}
    await tx.execute_one(_POSTPONE_TASK, params)


async def find_timed(tx: Tx, tenant_id: str, now_us: int) -> Timed | None:
    """The rule on time that has not looked at tickets for the longest time, if that is due."""
    params = {"tenant_id": tenant_id, "looked_before": now_us - _LOOK_EVERY_US}
    row = await tx.fetch_one(_NEXT_TIMED, params)
    return None if row is None else Timed(RULES.read(row), row["reached_at"], row["reached_id"])


async def store_reached(tx: Tx, timed: Timed, looked_at: int) -> None:
    """looked_at: 0 when there may be more tickets."""
    params = {"reached_at": timed.reached_at, "reached_id": timed.reached_id}
    of = {"tenant_id": timed.rule.tenant_id, "id": timed.rule.id}
    await tx.execute_one(_STORE_REACHED, {**of, **params, "looked_at": looked_at})


async def list_unchanged(
    tx: Tx, timed: Timed, statuses: Sequence[str], until: int, limit: int
) -> list[tuple[int, str]]:
    """(updated_at, id) of the next tickets in these statuses that are unchanged since then."""
    found: list[tuple[int, str]] = []
    params = {"tenant_id": timed.rule.tenant_id, "until": until, "limit": limit}
    reached = {"reached_at": timed.reached_at, "reached_id": timed.reached_id}
    for status in statuses:
        rows = await tx.fetch_all(_UNCHANGED, {**params, **reached, "status": status})
        found += [(row["updated_at"], row["id"]) for row in rows]
    return sorted(found)[:limit]


async def pause(tx: Tx, rule: Rule, reason: PauseReason, now_us: int) -> None:
    params = {"tenant_id": rule.tenant_id, "id": rule.id, "reason": reason, "now": now_us}
    await tx.execute_one(_PAUSE, params)


async def add_effect(tx: Tx, tenant_id: str, ticket_id: str, effect: Effect) -> None:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, **effect._asdict()}
    await tx.execute_one(_ADD_EFFECT, params)


async def is_caused(tx: Tx, tenant_id: str, ticket_id: str, version: int) -> bool:
    """Whether a rule made this version of a ticket."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "version": version}
    return await tx.fetch_one(_IS_CAUSED, params) is not None


async def is_rule(tx: Tx, tenant_id: str, ticket_id: str, rule_id: str) -> bool:
    """Whether this is a rule that has acted on the ticket."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "rule_id": rule_id}
    return await tx.fetch_one(_IS_RULE, params) is not None


async def find_object(tx: Tx, tenant_id: str, event_id: str) -> bytes | None:
    """What an event shows; None if it is pruned."""
    row = await tx.fetch_one(_OBJECT, {"tenant_id": tenant_id, "id": event_id})
    return None if row is None else bytes(row["object"])


async def list_effects(tx: Tx, tenant_id: str, ticket_id: str) -> list[Effect]:
    """The newest effects on a ticket, newest first."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _MAX_EFFECTS}
    return [Effect(*row) for row in await tx.fetch_all(_EFFECTS, params)]
