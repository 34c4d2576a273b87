"""What administrators do with business hours."""

import msgspec

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.records import audit
from sealdesk.tickets.hours import parsing, store
from sealdesk.tickets.hours.types import Hours, HoursBody
from sealdesk.tickets.promises import store as promises


async def set_hours(tx: Tx, caller: Caller, typed: HoursBody, *, now_us: int) -> Hours:
    """Raises ValidationFailed."""
    hours = parsing.to_hours(typed)
    await tx.lock("business hours", caller.tenant_id)
    before = await store.find(tx, caller.tenant_id)
    if hours != before:
        await store.save(tx, caller.tenant_id, hours, now_us)
        await promises.renew(tx, caller.tenant_id)
        new = msgspec.structs.asdict(parsing.to_typed(hours))
        old = msgspec.structs.asdict(parsing.to_typed(before)) if before else dict.fromkeys(new)
        changes = {name: [old[name], new[name]] for name in new if old[name] != new[name]}
        await audit.record(tx, caller, "business_hours.updated", None, {"changes": changes}, now_us)
    return hours
