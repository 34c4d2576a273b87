"""The connection test, limited for each tenant; no transaction is open while it runs."""

import math

from sealdesk.db.engine import Tx
from sealdesk.errors import TooManyRequests
from sealdesk.mail.connections import MailFailed
from sealdesk.mail.mailboxes import actions, passwords, problems, rules
from sealdesk.mail.mailboxes.connection_test import Passwords, run_test
from sealdesk.mail.mailboxes.errors import TOO_MANY_MAILBOX_TESTS
from sealdesk.mail.mailboxes.types import (
    Mailbox,
    MailboxTestResponse,
    MailboxTestStepResponse,
    StepResult,
)
from sealdesk.rate_limits.limiter import Budget
from sealdesk.web.request import Request

_PER_MINUTE = 10  # of a tenant


async def test_connection(request: Request, mailbox_id: str) -> MailboxTestResponse:
    """Test a mailbox; a side that works has no problem afterwards.

    Raises NotFound, TooManyRequests.
    """
    mailbox = await request.read(
        lambda tx: actions.get_mailbox(tx, request.caller.tenant_id, mailbox_id)
    )
    await _charge(request)
    await request.write(
        lambda tx: actions.record_test(tx, request.caller, mailbox, now_us=request.now_us)
    )
    steps = await _run(request, mailbox)
    await request.write_more(lambda tx: _heal(tx, mailbox, steps, request.state.clock.now_us()))
    return to_response(steps)


def to_response(steps: list[StepResult]) -> MailboxTestResponse:
    """The steps with their texts in English."""
    return MailboxTestResponse(
        is_working=all(step.outcome != "failed" for step in steps),
        steps=tuple(
            MailboxTestStepResponse(
                step.protocol,
                step.step,
                step.outcome,
                step.code,
                problems.MESSAGES[step.code] if step.code else None,
                step.detail,
                problems.REMEDIES[step.code] if step.code else None,
            )
            for step in steps
        ),
    )


async def _charge(request: Request) -> None:
    budget = Budget(f"mailbox tests {request.caller.tenant_id}", _PER_MINUTE)
    state = await request.state.limiter.take(budget)
    if not state.accepted:
        raise TooManyRequests(TOO_MANY_MAILBOX_TESTS, wait_s=math.ceil(state.retry_after_s))


async def _run(request: Request, mailbox: Mailbox) -> list[StepResult]:
    key_ring = request.state.key_ring
    try:
        opened = Passwords(
            passwords.open_password(key_ring, mailbox, "imap"),
            passwords.open_password(key_ring, mailbox, "smtp"),
        )
    except MailFailed as error:
        return [StepResult("smtp", "log_in", "failed", error.code, error.detail)]
    return await run_test(mailbox, opened, request.state.mail_resolver)


async def _heal(tx: Tx, mailbox: Mailbox, steps: list[StepResult], now_us: int) -> None:
    for protocol, side in rules.SIDES.items():
        outcomes = {step.outcome for step in steps if step.protocol == protocol}
        if "done" in outcomes and "failed" not in outcomes:
            await actions.set_problem(
                tx, mailbox.tenant_id, mailbox.id, side, None, now_us=now_us
            )  # fmt: skip
