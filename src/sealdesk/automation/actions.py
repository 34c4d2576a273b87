"""What a caller does with automation rules; each action is the work of one transaction."""

from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.automation import references, rules, store
from sealdesk.automation.errors import TOO_MANY_RULES
from sealdesk.automation.types import NewRule, Rule, RuleChange
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, invalid, must_exist, raise_any
from sealdesk.records import audit
from sealdesk.resources.identity import is_among
from sealdesk.resources.representation import check_seen

_TAKEN = gettext_noop("There is already a rule with this name.")


async def get_rule(tx: Tx, tenant_id: str, rule_id: str) -> Rule:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, rule_id))


async def create_rule(tx: Tx, caller: Caller, new: NewRule, *, now_us: int) -> Rule:
    """Raises ValidationFailed, Conflict above MAX_RULES."""
    await _lock_rules(tx, caller)
    existing = await store.list_rules(tx, caller.tenant_id)
    if len(existing) >= rules.MAX_RULES:
        raise Conflict(TOO_MANY_RULES, limit=rules.MAX_RULES)
    last = existing[-1].position if existing else 0
    rule = new_rule(caller.tenant_id, new, last + 1, now_us)
    _check_name(rule, existing)
    await _check(tx, rule)
    await store.add(tx, rule)
    await _record_audit(tx, caller, "rule.created", rule, now_us)
    return rule


def new_rule(tenant_id: str, new: NewRule, position: int, now_us: int) -> Rule:
    """The first version of a rule. position: if the request names none."""
    fields = msgspec.structs.asdict(new) | {
        "conditions": tuple(new.conditions),
        "position": new.position or position,
    }
    return Rule(
        **fields,
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        paused_because=None,
        version=1,
        enabled_at=now_us,
        created_at=now_us,
        updated_at=now_us,
    )


async def change_rule(
    tx: Tx, caller: Caller, rule_id: str, change: RuleChange, *, now_us: int, seen: str = ""
) -> Rule:
    """The rule after the change. seen: the version that the caller has seen, "" for any.

    Raises NotFound, PreconditionFailed, ValidationFailed.
    """
    await _lock_rules(tx, caller)
    rule = await get_rule(tx, caller.tenant_id, rule_id)
    check_seen(seen, str(rule.version))
    changed = rules.changed(rule, change, now_us)
    if changed is rule:
        return rule
    if changed.name != rule.name:
        _check_name(changed, await store.list_rules(tx, caller.tenant_id))
    # A rule whose team is gone can be switched off, and must be corrected before it runs again.
    if changed.is_enabled or changed.actions != rule.actions:
        await _check(tx, changed)
    await store.replace(tx, changed)
    changes = rules.differences(rule, changed)
    await _record_audit(tx, caller, "rule.updated", changed, now_us, changes=changes)
    return changed


async def delete_rule(tx: Tx, caller: Caller, rule_id: str, *, now_us: int) -> None:
    """Raises NotFound, also the second time."""
    await _lock_rules(tx, caller)
    rule = await get_rule(tx, caller.tenant_id, rule_id)
    await store.delete(tx, caller.tenant_id, rule_id)
    await _record_audit(tx, caller, "rule.deleted", rule, now_us)


async def find_faults(tx: Tx, rule: Rule) -> list[Fault]:
    """What is wrong with a rule, by itself and among what the desk has."""
    return rules.find_faults(rule) + await references.find_faults(tx, rule)


def _check_name(rule: Rule, listed: list[Rule]) -> None:
    if is_among(rule.name, (each.name for each in listed if each.id != rule.id)):
        raise invalid([Fault("/name", "taken", _TAKEN)])


async def _check(tx: Tx, rule: Rule) -> None:
    raise_any(await find_faults(tx, rule))


async def _lock_rules(tx: Tx, caller: Caller) -> None:
    # Concurrent requests count each other's rules.
    await tx.lock("automation rules", caller.tenant_id)


async def _record_audit(
    tx: Tx, caller: Caller, action: str, rule: Rule, now_us: int, **details: Any
) -> None:
    named = {"name": rule.name, "version": rule.version, **details}
    await audit.record(tx, caller, action, rule.id, named, now_us)
