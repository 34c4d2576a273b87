"""What administrators do with business hours."""

from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, gettext_noop, invalid, raise_any
from sealdesk.event_log.events import Changes
from sealdesk.records import audit
from sealdesk.resources.representation import check_seen, fingerprint
from sealdesk.tickets.hours import parsing, public_holidays, store
from sealdesk.tickets.hours.types import MAX_HOLIDAYS, Hours, HoursBody
from sealdesk.tickets.promises import rules
from sealdesk.tickets.promises import store as promises
from sealdesk.tickets.ticket.clocks import TARGETS
from sealdesk.tickets.ticket.store import teams

_NEVER = gettext_noop(
    "By these hours and holidays, the SLA policy “%(name)s” would not be due in three months."
)
_NO_TEAM = gettext_noop("There is no such team any more. Choose another one.")


async def set_hours(
    tx: Tx, caller: Caller, typed: HoursBody | None, *, team_id: str, now_us: int, seen: str = ""
) -> None:
    """Store the hours of a team, or of the desk for "". None: the team has those of the desk.

    seen: the `version_of` what the caller has seen, "" for any.
    Raises ValidationFailed, PreconditionFailed.
    """
    hours = None if typed is None else parsing.to_hours(typed)
    await tx.lock("business hours", caller.tenant_id)
    details: dict[str, Any] = {}
    if team_id:
        if not await teams.is_team(tx, caller.tenant_id, team_id):
            raise invalid([Fault("/team", "unknown_team", _NO_TEAM)])
        details["name"] = (await teams.list_names(tx, caller.tenant_id, [team_id]))[team_id]
    before = await find_own(tx, caller.tenant_id, team_id)
    check_seen(seen, version_of(before))
    if hours is not None and hours.country:
        is_same = before is not None and before.country == hours.country
        last_year = before.last_year if before and is_same else public_holidays.next_year(now_us)
        hours = msgspec.structs.replace(hours, last_year=last_year)
    if hours == before:
        return
    await _check_policies(tx, caller, hours, team_id, now_us)
    if team_id:
        await store.save_of_team(tx, caller.tenant_id, team_id, hours)
    elif hours is not None:
        await store.save(tx, caller.tenant_id, hours, now_us)
    await promises.renew(tx, caller.tenant_id)
    details["changes"] = _changes(before, hours)
    await audit.record(tx, caller, "business_hours.updated", team_id or None, details, now_us)


async def _check_policies(
    tx: Tx, caller: Caller, hours: Hours | None, team_id: str, now_us: int
) -> None:
    """Raises ValidationFailed if an SLA policy of the tickets would never be due."""
    applying = hours or await store.find(tx, caller.tenant_id)
    if applying is None:
        return
    never = [
        Fault("/monday", "never_due", _NEVER, {"name": policy.name})
        for policy in await promises.list_policies(tx, caller.tenant_id)
        if policy.counts == "business"
        and (not team_id or not policy.team_ids or team_id in policy.team_ids)
        and any(rules.is_never_due(policy, each, applying, now_us) for each in TARGETS)
    ]
    raise_any(never[:1])


async def extend(
    tx: Tx, tenant_id: str, team_id: str, listed: Hours, days: Iterable[str], now_us: int
) -> None:
    """Add public holidays up to next year, unless the hours have changed since they were listed.

    The oldest days make room.
    """
    await tx.set_tenant(tenant_id)
    await tx.lock("business hours", tenant_id)
    if await find_own(tx, tenant_id, team_id) != listed:
        return
    all_days = sorted({*listed.holidays, *map(date.fromisoformat, days)})
    hours = msgspec.structs.replace(
        listed,
        holidays=frozenset(all_days[-MAX_HOLIDAYS:]),
        last_year=public_holidays.next_year(now_us),
    )
    if team_id:
        await store.save_of_team(tx, tenant_id, team_id, hours)
    else:
        await store.save(tx, tenant_id, hours, now_us)


async def find_own(tx: Tx, tenant_id: str, team_id: str) -> Hours | None:
    """The hours of a team, or of the desk for ""; None if it has none of its own."""
    if not team_id:
        return await store.find(tx, tenant_id)
    return (await store.find_of_teams(tx, tenant_id, [team_id])).get(team_id)


def version_of(hours: Hours | None) -> str:
    """A text that is another one after each change of the hours."""
    return fingerprint(_texts(hours))


def _changes(before: Hours | None, after: Hours | None) -> Changes:
    old, new = (_texts(each) for each in (before, after))
    return {name: (old[name], new[name]) for name in new if old[name] != new[name]}


def _texts(hours: Hours | None) -> dict[str, str | None]:
    if hours is None:
        return dict.fromkeys(HoursBody.__struct_fields__)
    return msgspec.structs.asdict(parsing.to_typed(hours))
