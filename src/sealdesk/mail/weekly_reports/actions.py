"""Saves and ends weekly reports; each action is the work of one transaction."""

from zoneinfo import ZoneInfo

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, NotFound, gettext_noop, invalid, must_exist
from sealdesk.identity import store as identity
from sealdesk.identity.types import ADMINISTRATORS, User
from sealdesk.mail.sending import store as sending
from sealdesk.mail.weekly_reports import rules, store
from sealdesk.mail.weekly_reports.types import SavedReport
from sealdesk.reports.making import zone_of
from sealdesk.tickets.hours import store as hours_store

WEEKLY = "report"  # the kind of its outgoing message
NO_MAILBOX = "no_mailbox"
_TOO_MANY = gettext_noop("There are already %(count)s weekly reports. Delete one first.")
_NO_MAILBOX = gettext_noop("No mailbox of this desk sends e-mail. Set one up first.")


async def read_zone(tx: Tx, tenant_id: str) -> ZoneInfo:
    """The time zone of a desk."""
    return zone_of(await hours_store.find(tx, tenant_id))


async def save(tx: Tx, wanted: SavedReport, *, now_us: int) -> None:
    """Send a report each Monday; one that is sent already stays. Raises ValidationFailed."""
    tenant_id = wanted.tenant_id
    await tx.lock("weekly reports", tenant_id)
    own = await store.list_of_user(tx, tenant_id, wanted.user_id, rules.MAX_OF_USER)
    if any(each.query == wanted.query for each in own):
        return
    count = await store.count_of_desk(tx, tenant_id, rules.MAX_OF_DESK)
    if len(own) >= rules.MAX_OF_USER or count >= rules.MAX_OF_DESK:
        reached = len(own) if len(own) >= rules.MAX_OF_USER else count
        raise invalid([Fault("/report", "too_many", _TOO_MANY, {"count": reached})])
    if not await sending.list_sending_of(tx, tenant_id):
        raise invalid([Fault("/report", NO_MAILBOX, _NO_MAILBOX)])
    due_at = rules.next_due_at(now_us, await read_zone(tx, tenant_id))
    report = msgspec.structs.replace(wanted, id=ids.mint(now_us), created_at=now_us, due_at=due_at)
    await store.add(tx, report)


async def delete(tx: Tx, tenant_id: str, user_id: str, report_id: str) -> None:
    """End a report of this user. Raises NotFound."""
    report = must_exist(await store.find(tx, tenant_id, report_id))
    if report.user_id != user_id:
        raise NotFound
    await store.delete(tx, tenant_id, report_id)


async def find_recipient(tx: Tx, report: SavedReport) -> User | None:
    """Who gets a report; None while they may not see it."""
    user = await identity.find(tx, report.tenant_id, report.user_id)
    is_allowed = user is not None and user.is_active and user.role in ADMINISTRATORS
    return user if is_allowed else None
