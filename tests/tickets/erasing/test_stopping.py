"""An erasure goes on wherever its worker was stopped."""

from collections import Counter

import pytest

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.tickets.erasing.steps import actions, conversations, indexes
from sealdesk.tickets.erasing.steps.logs import actions as logs
from sealdesk.tickets.erasing.steps.mail import actions as mail
from sealdesk.worker import stepper
from tests.support.service import wait_until
from tests.tickets.erasing.filled import Desk

# So that every stage takes several steps.
_SIZES = {
    "STEP_TICKETS": conversations, "STEP_ROWS": conversations, "_MERGED_AT_ONCE": conversations,
    "_STEP_TICKETS": indexes, "_STEP_SHORT_ROWS": logs, "_STEP_ROWS": mail,
}  # fmt: skip
_SMALL = 4


class _Stopped(Exception):
    """The worker is killed before its transaction is durable."""


async def _nothing(state: AppState) -> int:
    return 0


async def _run(state: AppState, *, is_stopped: bool) -> str:
    """One step; the stage that it was of."""
    now_us, stage = state.clock.now_us(), ""

    async def work(tx: Tx) -> None:
        nonlocal stage
        rows = await tx.fetch_all(
            "SELECT tenant_id, stage FROM erasures WHERE finished_at IS NULL LIMIT 1", {}
        )
        for row in rows:
            stage = row["stage"]
            await actions.run_step(tx, row["tenant_id"], now_us)
        if is_stopped:
            raise _Stopped

    try:
        await state.database.write_in_background(work)
    except _Stopped:
        assert is_stopped
    return stage


def test_an_erasure_that_is_stopped_in_each_step_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stepper.ERASURES, "step", _nothing)  # the worker that runs beside
    for name, module in _SIZES.items():
        monkeypatch.setattr(module, name, _SMALL)
    monkeypatch.setattr(logs, "STEP_ROWS", _SMALL)
    desk.erase()
    steps: Counter[str] = Counter()

    def is_over() -> bool:
        before = _progress(desk)
        stopped = desk.service.in_background(lambda state: _run(state, is_stopped=True))
        assert _progress(desk) == before
        if stopped:
            steps[desk.service.in_background(lambda state: _run(state, is_stopped=False))] += 1
        return not stopped

    wait_until(is_over)
    assert steps.keys() == actions.STAGES.keys()
    assert min(steps["events"], steps["replies"], steps["audit"]) > 2
    desk.finish()
    assert desk.found() == {}


def _progress(desk: Desk) -> tuple[str, str, int]:
    sql = "SELECT stage, cursor, erased_ticket_count FROM erasures WHERE tenant_id = :t LIMIT 1"
    (row,) = desk.service.rows(sql, t=desk.tenant.id)
    return row["stage"], row["cursor"], row["erased_ticket_count"]
