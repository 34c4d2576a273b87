"""What a caller does with SLA policies; each action is the work of one transaction."""

from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid, must_exist, raise_any
from sealdesk.records import audit
from sealdesk.resources import merge_patch
from sealdesk.resources.identity import is_among
from sealdesk.resources.representation import check_seen
from sealdesk.tickets.hours import store as hours
from sealdesk.tickets.promises import rules, store
from sealdesk.tickets.promises.errors import TOO_MANY_POLICIES
from sealdesk.tickets.promises.types import MAX_POLICIES, NewPolicy, Policy, PolicyChange
from sealdesk.tickets.ticket.store import teams

_NO_TEAM = gettext_noop("There is no such team.")
_TAKEN = gettext_noop("There is already a policy with this name.")


async def get_policy(tx: Tx, tenant_id: str, policy_id: str) -> Policy:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, policy_id))


async def create_policy(tx: Tx, caller: Caller, new: NewPolicy, *, now_us: int) -> Policy:
    """Raises ValidationFailed, Conflict above MAX_POLICIES."""
    others = await _list_others(tx, caller, "")
    if len(others) >= MAX_POLICIES:
        raise Conflict(TOO_MANY_POLICIES, limit=MAX_POLICIES)
    fields = {**_as_stored(msgspec.structs.asdict(new)), "position": 0}
    policy = Policy(**fields, id=ids.mint(now_us), version=1, created_at=now_us, updated_at=now_us)
    position = rules.place(policy, others, new.position)
    policy = msgspec.structs.replace(policy, position=position)
    _check_name(policy, others)
    await _check(tx, caller, policy, others, now_us)
    await store.add(tx, caller.tenant_id, policy)
    await _tidy(tx, caller, policy, others)
    await _record_audit(tx, caller, "sla_policy.created", policy, now_us)
    return policy


async def change_policy(
    tx: Tx, caller: Caller, policy_id: str, change: PolicyChange, *, now_us: int, seen: str = ""
) -> Policy:
    """The policy after the change. seen: the version that the caller has seen, "" for any.

    Raises NotFound, PreconditionFailed, ValidationFailed.
    """
    others = await _list_others(tx, caller, policy_id)
    before = await get_policy(tx, caller.tenant_id, policy_id)
    check_seen(seen, str(before.version))
    given = _as_stored(merge_patch.given_fields(change))
    after = msgspec.structs.replace(before, **given)
    position = rules.place(after, others, after.position)
    after = msgspec.structs.replace(after, position=position)
    if after == before:
        return before
    after = msgspec.structs.replace(after, version=before.version + 1, updated_at=now_us)
    if after.name != before.name:
        _check_name(after, others)
    await _check(tx, caller, after, others, now_us)
    await store.replace(tx, caller.tenant_id, after)
    await _tidy(tx, caller, after, others)
    changes = merge_patch.differences(before, after, rules.CHANGED)
    await _record_audit(tx, caller, "sla_policy.updated", after, now_us, changes=changes)
    return after


async def delete_policy(tx: Tx, caller: Caller, policy_id: str, *, now_us: int) -> None:
    """Raises NotFound, also the second time."""
    others = await _list_others(tx, caller, policy_id)
    policy = await get_policy(tx, caller.tenant_id, policy_id)
    await store.delete(tx, caller.tenant_id, policy_id)
    await _tidy(tx, caller, None, others)
    await _record_audit(tx, caller, "sla_policy.deleted", policy, now_us)


async def _list_others(tx: Tx, caller: Caller, policy_id: str) -> list[Policy]:
    """The other policies, with the positions that they have without this one."""
    # Concurrent requests place their policies among each other's.
    await tx.lock("sla policies", caller.tenant_id)
    listed = await store.list_policies(tx, caller.tenant_id)
    others = [each for each in listed if each.id != policy_id]
    return [msgspec.structs.replace(each, position=at) for at, each in enumerate(others, 1)]


def _check_name(policy: Policy, others: list[Policy]) -> None:
    if is_among(policy.name, (each.name for each in others)):
        raise invalid([Fault("/name", "taken", _TAKEN)])


async def _check(tx: Tx, caller: Caller, policy: Policy, others: list[Policy], now_us: int) -> None:
    of_desk = await hours.find(tx, caller.tenant_id)
    asked = policy.team_ids or [each.id for each in await teams.list_teams(tx, caller.tenant_id)]
    of_teams = await hours.find_of_teams(tx, caller.tenant_id, asked)
    counted = [] if of_desk is None else [of_desk, *of_teams.values()]
    faults = rules.find_faults(policy, others, counted, now_us)
    for at, team_id in enumerate(policy.team_ids):
        if not await teams.is_team(tx, caller.tenant_id, team_id):
            faults.append(Fault(f"/team_ids/{at}", "unknown_team", _NO_TEAM))
    raise_any(faults)


async def _tidy(tx: Tx, caller: Caller, policy: Policy | None, others: list[Policy]) -> None:
    """Store the positions of the others, and let the worker go through the tickets."""
    at = policy.position if policy else MAX_POLICIES + 1
    placed = [
        msgspec.structs.replace(each, position=each.position + (each.position >= at))
        for each in others
    ]
    await store.place(tx, caller.tenant_id, placed)
    await store.renew(tx, caller.tenant_id)


def _as_stored(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(dict.fromkeys(value)) if isinstance(value, list) else value
        for name, value in fields.items()
    }


async def _record_audit(
    tx: Tx, caller: Caller, action: str, policy: Policy, now_us: int, **details: Any
) -> None:
    named = {"name": policy.name, "version": policy.version, **details}
    await audit.record(tx, caller, action, policy.id, named, now_us)
