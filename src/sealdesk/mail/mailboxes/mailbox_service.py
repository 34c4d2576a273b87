"""The connection test, limited for each tenant; no transaction is open while it runs."""

import asyncio
import math
from contextlib import suppress
from functools import partial

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, TooManyRequests
from sealdesk.mail.mailboxes import actions, domain_check, log_ins, problems, rules
from sealdesk.mail.mailboxes.connection_test import LogIns, run_test
from sealdesk.mail.mailboxes.domain_check import Fault
from sealdesk.mail.mailboxes.errors import TOO_MANY_MAILBOX_TESTS
from sealdesk.mail.mailboxes.store.directory import Domain
from sealdesk.mail.mailboxes.types import (
    Mailbox,
    MailboxTestResponse,
    MailboxTestStepResponse,
    StepResult,
)
from sealdesk.mail.servers import MailFailed
from sealdesk.rate_limits.limiter import Budget
from sealdesk.web.request import Request

_PER_MINUTE = 10  # of a tenant


async def test_connection(request: Request, mailbox_id: str) -> MailboxTestResponse:
    """Test a mailbox; a side that works has no problem afterwards, and a proven domain is assigned.

    Raises NotFound, TooManyRequests.
    """
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    await _charge(request)
    await request.act(actions.record_test, mailbox, now_us=request.now_us)
    steps = await _run(request, mailbox)
    await request.write_more(lambda tx: _heal(tx, mailbox, steps, request.state.clock.now_us()))
    faults = await domain_check.check_domain(mailbox.address, domain_check.look_up)
    await _assign_proven_domains(request, mailbox)
    return to_response(mailbox, steps, faults)


async def _assign_proven_domains(request: Request, mailbox: Mailbox) -> None:
    """Assign the domains of a mailbox whose DNS records name the desk, and that no other has."""
    now_us, tenant_id = request.state.clock.now_us(), mailbox.tenant_id
    identities = (mailbox.address_identity, *mailbox.unverified)
    names = sorted({each.rpartition("@")[2] for each in identities})
    found = [domain_check.names_tenant(each, tenant_id, domain_check.look_up) for each in names]
    for name, is_ours in zip(names, await asyncio.gather(*found), strict=True):
        if is_ours:
            with suppress(Conflict):
                await request.write_more(
                    partial(
                        actions.assign_domain,
                        caller=request.caller,
                        domain=Domain(f"@{name}", tenant_id),
                        now_us=now_us,
                    )
                )


def to_response(
    mailbox: Mailbox, steps: list[StepResult], faults: tuple[Fault, ...]
) -> MailboxTestResponse:
    """The steps, and the faults of the domain, with their texts in English."""
    return MailboxTestResponse(
        is_working=all(step.outcome != "failed" for step in steps),
        steps=tuple(
            MailboxTestStepResponse(
                **msgspec.structs.asdict(step),
                message=problems.MESSAGES[step.code] if step.code else None,
                remedy=problems.remedy(step.code, rules.host_of(mailbox, step.protocol))
                if step.code
                else None,
            )
            for step in steps
        ),
        domain=tuple(domain_check.MESSAGES[each] for each in faults),
    )


async def _charge(request: Request) -> None:
    budget = Budget(f"mailbox tests {request.caller.tenant_id}", _PER_MINUTE)
    state = await request.state.limits.limiter.take(budget)
    if not state.accepted:
        raise TooManyRequests(TOO_MANY_MAILBOX_TESTS, wait_s=math.ceil(state.retry_after_s))


async def _run(request: Request, mailbox: Mailbox) -> list[StepResult]:
    state = request.state
    try:
        opened = LogIns(
            await log_ins.open_log_in(state, mailbox, "imap"),
            await log_ins.open_log_in(state, mailbox, "smtp"),
        )
    except MailFailed as error:
        return [StepResult("smtp", "log_in", "failed", error.code, error.detail)]
    steps = await run_test(mailbox, opened, state.mail_resolver)
    for step in steps:
        if step.code is not None:
            log_ins.note_refusal(state.access_tokens, mailbox, MailFailed(step.code, step.detail))
    return steps


async def _heal(tx: Tx, mailbox: Mailbox, steps: list[StepResult], now_us: int) -> None:
    for protocol, side in rules.SIDES.items():
        outcomes = {step.outcome for step in steps if step.protocol == protocol}
        if "done" in outcomes and "failed" not in outcomes:
            await actions.set_problem(tx, mailbox.tenant_id, mailbox.id, side, None, now_us=now_us)
