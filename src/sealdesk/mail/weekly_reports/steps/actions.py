"""Queues weekly reports that are due; each step is one transaction."""

import secrets

from sealdesk.db.engine import Tx
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.weekly_reports import actions, rules
from sealdesk.mail.weekly_reports.steps import store
from sealdesk.resources.representation import with_ascii_domain


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Queue the next report of a desk that is due; how many, 0 when there is none."""
    await tx.set_tenant(tenant_id)
    report = await store.take_due(tx, tenant_id, now_us)
    if report is None:
        return 0
    zone = await actions.read_zone(tx, tenant_id)
    due_at = rules.next_due_at(now_us, zone)
    user = await actions.find_recipient(tx, report)
    mailboxes = await sending.list_sending_of(tx, tenant_id)
    if not mailboxes:
        due_at = min(due_at, now_us + rules.HOUR_US)
    elif user is not None:
        domain = with_ascii_domain(mailboxes[0].address).rpartition("@")[2]
        message = OutgoingMessage.queued(
            mailboxes[0],
            ticket_id="",
            about_id=rules.about_id(report.id, rules.week_before(now_us, zone)),
            kind=actions.WEEKLY,
            address=user.email,
            message_id=f"<{report.id}.{secrets.token_hex(8)}@{domain}>",
            now_us=now_us,
        )
        await sending.add(tx, [message])
    await store.set_due(tx, report, due_at)
    return 1
