"""The SQL of SLA policies."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.hours import store as hours
from sealdesk.tickets.promises.types import MAX_POLICIES, Policy, Promises
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store.tickets import encode_part
from sealdesk.tickets.ticket.types import Ticket

_COLUMNS = (
    "tenant_id",
    "id",
    "name",
    "position",
    "settings",
    "version",
    "created_at",
    "updated_at",
)
_LISTED = column_list(_COLUMNS)
_FIND = select_row("sla_policies", _LISTED)
_HAS = "SELECT id FROM sla_policies WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit"
_LIST = f"""
SELECT {_LISTED} FROM sla_policies WHERE tenant_id = :tenant_id ORDER BY position, id LIMIT :limit
"""
_LIST_PAGE = f"""
SELECT {_LISTED} FROM sla_policies WHERE tenant_id = :tenant_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""
_ADD = insert_into("sla_policies", _COLUMNS)
_REPLACE = update_row("sla_policies", "name position settings version updated_at")
_PLACE = update_row("sla_policies", "position")
_DELETE = delete_row("sla_policies")
_RENEW = """
INSERT INTO sla_renewals (tenant_id, ticket_id, stepped_at) VALUES (:tenant_id, '', 0)
ON CONFLICT (tenant_id) DO UPDATE SET ticket_id = '', stepped_at = 0
"""
_STORE_RENEWED = """
UPDATE tickets SET clocks = :clocks, due_at = :due_at, alert_at = :alert_at, document = :document,
    version = :version
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
    AND coalesce(alert_at, 0) = :alert_before
"""


async def find(tx: Tx, tenant_id: str, policy_id: str) -> Policy | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": policy_id})
    return None if row is None else _policy(row)


async def has_policies(tx: Tx, tenant_id: str) -> bool:
    return await tx.fetch_one(_HAS, {"tenant_id": tenant_id, "limit": 1}) is not None


async def list_policies(tx: Tx, tenant_id: str) -> list[Policy]:
    """All policies of a desk, in their order."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": MAX_POLICIES})
    return [_policy(row) for row in rows]


async def list_page(tx: Tx, tenant_id: str, page: PageRequest) -> list[Policy]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id)
    rows = await tx.fetch_page(_LIST_PAGE, params, ("settings",), page.max_bytes)
    return [_policy(row) for row in rows]


async def read(tx: Tx, tenant_id: str, team_ids: Iterable[str | None]) -> Promises:
    """The policies of a desk, and its business hours if one counts them. team_ids: of tickets."""
    policies = await tx.keep("sla_policies", tenant_id, lambda: list_policies(tx, tenant_id))
    if not any(each.counts == "business" for each in policies):
        return Promises(policies, None, {})
    of_teams = await hours.find_of_teams(tx, tenant_id, team_ids)
    return Promises(policies, await hours.find(tx, tenant_id), of_teams)


async def add(tx: Tx, tenant_id: str, policy: Policy) -> None:
    await tx.execute_one(_ADD, _params(tenant_id, policy))


async def replace(tx: Tx, tenant_id: str, policy: Policy) -> None:
    await tx.execute_one(_REPLACE, _params(tenant_id, policy))


async def place(tx: Tx, tenant_id: str, policies: Sequence[Policy]) -> None:
    """Store the positions of policies."""
    params = [
        {"tenant_id": tenant_id, "id": each.id, "position": each.position} for each in policies
    ]
    await tx.execute_many(_PLACE, params)


async def delete(tx: Tx, tenant_id: str, policy_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": policy_id})


async def store_renewed(tx: Tx, before: Ticket, after: Ticket) -> None:
    """Store a ticket with other due times, which are a new version of it."""
    await tx.execute_one(
        _STORE_RENEWED,
        {
            "tenant_id": before.tenant_id,
            "id": before.id,
            "before": before.version,
            "alert_before": before.alert_at or 0,
            "clocks": encode_part(after.clocks),
            "due_at": after.due_at,
            "alert_at": after.alert_at,
            "version": after.version,
            "document": documents.ready_document(after),
        },
    )


async def renew(tx: Tx, tenant_id: str) -> None:
    """Let the worker go through the tickets of a desk."""
    await tx.execute_one(_RENEW, {"tenant_id": tenant_id})


def _policy(row: Row) -> Policy:
    return _policy_of(*row)


@lru_cache(maxsize=1000)
def _policy_of(*values: Any) -> Policy:
    named = dict(zip(_COLUMNS, values, strict=True))
    settings = msgspec.json.decode(named.pop("settings"))
    named.pop("tenant_id")
    return msgspec.convert(settings | named, Policy)


def _params(tenant_id: str, policy: Policy) -> dict[str, object]:
    fields = msgspec.structs.asdict(policy)
    settings = {name: value for name, value in fields.items() if name not in _COLUMNS}
    named = {name: fields[name] for name in fields if name in _COLUMNS}
    return {**named, "tenant_id": tenant_id, "settings": msgspec.json.encode(settings).decode()}
